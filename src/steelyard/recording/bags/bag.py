"""What every kind of ROS 2 bag holds: topics, and messages with the time at which they were received."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from steelyard.errors import RecordingError, UnknownNameError

JOINT_STATE = ("sensor_msgs/msg/JointState", "sensor_msgs/JointState")
ENCODING = "cdr"


class Topic(NamedTuple):
    """A topic of a bag.

    Attributes:
        name: such as `/joint_states`.
        type: the kind of its messages, such as `sensor_msgs/msg/JointState`.
        encoding: how they are written, such as `cdr`.
    """

    name: str
    type: str
    encoding: str


class Message(NamedTuple):
    """A message as it was received.

    Attributes:
        topic: the topic it came on.
        received: when, in nanoseconds of the recorder's clock.
        data: its bytes, encoded as the topic says.
    """

    topic: str
    received: int
    data: bytes


@dataclass(frozen=True)
class Bag:
    """The content of one bag, whatever container it came in.

    Attributes:
        topics: all topics, also those without messages.
        messages: the messages of joint states, in the order in which they were received.
        damage: what kept the rest of the container from being read, one sentence each.
    """

    topics: tuple[Topic, ...]
    messages: tuple[Message, ...]
    damage: tuple[str, ...] = ()

    @classmethod
    def of(cls, topics: Iterable[Topic], messages: Iterable[Message], damage: Iterable[str] = ()) -> Bag:
        """Return a bag with its messages in the order of their reception.

        Args:
            topics: its topics; one that is declared twice counts once.
            messages: its messages in any order; those of other types than joint states are left out.
            damage: what kept the rest from being read.
        """
        known = tuple(dict.fromkeys(topics))
        wanted = {topic.name for topic in known if topic.type in JOINT_STATE}
        kept = sorted((m for m in messages if m.topic in wanted), key=lambda message: message.received)
        return cls(known, tuple(kept), tuple(damage))

    @classmethod
    def joined(cls, parts: Sequence[Bag]) -> Bag:
        """Return the files of a split bag as one.

        Args:
            parts: the files' contents.
        """
        return cls.of(
            (topic for part in parts for topic in part.topics),
            (message for part in parts for message in part.messages),
            (sentence for part in parts for sentence in part.damage),
        )

    def on(self, topic: str | None) -> tuple[str, list[Message]]:
        """Return the messages of one topic of joint states.

        Args:
            topic: its name; None when the bag is expected to hold messages of only one such topic.

        Returns:
            The topic's name and its messages.

        Raises:
            RecordingError: there is no such topic, or the choice is not clear.
        """
        counts = Counter(message.topic for message in self.messages)
        name = self._only(counts) if topic is None else self._checked(topic)
        encoding = next(t.encoding for t in self.topics if t.name == name and t.type in JOINT_STATE)
        if encoding != ENCODING:
            raise RecordingError(
                f"topic '{name}' is encoded as '{encoding[:40]}'; only '{ENCODING}' is read.",
                remedy="Convert the bag with ros2 bag convert.",
            )
        if not counts[name]:
            why = f" {self.damage[0]}." if self.damage else ""
            raise RecordingError(f"topic '{name}' has no messages.{why}")
        return name, [message for message in self.messages if message.topic == name]

    def _only(self, counts: Counter[str]) -> str:
        names = list(dict.fromkeys(topic.name for topic in self.topics if topic.type in JOINT_STATE))
        spoken = [name for name in names if counts[name]]
        if len(spoken) > 1:
            listed = ", ".join(f"'{name[:60]}' ({counts[name]} messages)" for name in spoken[:12])
            raise RecordingError(
                f"holds {len(spoken)} topics of joint states: {listed}.",
                remedy=f"Choose one, as in --topic {spoken[0][:60]}.",
                evidence={"topics": tuple(spoken)},
            )
        if not names:
            listed = ", ".join(f"'{t.name[:60]}' ({t.type[:60]})" for t in self.topics[:12]) or "none"
            why = f" {self.damage[0]}." if self.damage else ""
            raise RecordingError(
                f"holds no topic of type {JOINT_STATE[0]}; its topics are {listed}.{why}",
                evidence={"topics": self.topics},
            )
        return (spoken or names)[0]

    def _checked(self, name: str) -> str:
        types = {topic.name: topic.type for topic in self.topics}
        if name not in types:
            raise UnknownNameError("topic", name, types)
        if not any(topic.name == name and topic.type in JOINT_STATE for topic in self.topics):
            raise RecordingError(f"topic '{name}' is of type {types[name][:60]}, not {JOINT_STATE[0]}.")
        return name
