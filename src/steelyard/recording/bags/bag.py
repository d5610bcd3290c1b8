"""What every kind of ROS 2 bag holds: topics, and messages with the time at which they were received."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from steelyard.errors import RecordingError, UnknownNameError
from steelyard.recording.bags.definition import short_type
from steelyard.recording.bags.message_types import JOINT_STATE, MESSAGE_TYPES, known_type

ENCODING = "cdr"
_POSITIONS = " or ".join(name for name, kind in MESSAGE_TYPES.items() if "q" in kind.channels)


class Topic(NamedTuple):
    """A topic of a bag.

    Attributes:
        name: such as `/joint_states`.
        type: the kind of its messages, such as `sensor_msgs/msg/JointState`.
        encoding: how they are written, such as `cdr`.
        definition: the text that says which fields they have; empty where the bag does not carry it.
    """

    name: str
    type: str
    encoding: str
    definition: str = ""

    @property
    def readable(self) -> bool:
        """Whether messages of its type are read."""
        return known_type(self.type) is not None

    @property
    def tells_positions(self) -> bool:
        """Whether messages of its type tell where joints are."""
        known = known_type(self.type)
        return known is not None and "q" in known.channels


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
        messages: the messages of types that are read, in the order in which they were received.
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
            messages: its messages in any order; those of types that are not read are left out.
            damage: what kept the rest from being read.
        """
        known = tuple(dict.fromkeys(topics))
        wanted = {topic.name for topic in known if topic.readable}
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

    def on(self, topic: Topic) -> list[Message]:
        """Return the messages of one topic.

        Args:
            topic: one of the bag's that is read.

        Returns:
            Its messages.

        Raises:
            RecordingError: it has none, or they are encoded in a way that is not read.
        """
        if topic.encoding != ENCODING:
            raise RecordingError(
                f"topic '{topic.name}' is encoded as '{topic.encoding[:40]}'; only '{ENCODING}' is read.",
                remedy="Convert the bag with ros2 bag convert.",
            )
        messages = [message for message in self.messages if message.topic == topic.name]
        if not messages:
            why = f" {self.damage[0]}." if self.damage else ""
            raise RecordingError(f"topic '{topic.name}' has no messages.{why}")
        return messages

    def chosen(self, topics: str | None) -> tuple[Topic, ...]:
        """Return the topics to read.

        Args:
            topics: names with commas between; None for the only one that tells joint positions, or the only
                one of `sensor_msgs/JointState` where other types tell them too.

        Returns:
            The topics, in the order in which they were named.

        Raises:
            RecordingError: there is no such topic, or the choice is not clear.
        """
        if topics is None:
            return (self._only(),)
        names = [name.strip() for name in topics.split(",") if name.strip()]
        if not names or len(set(names)) < len(names):
            raise RecordingError(
                f"'{topics[:60]}' does not name topics, each once.",
                place="topic",
                remedy="Write --topic NAME or --topic NAME,NAME.",
            )
        return tuple(self._checked(name) for name in names)

    def others(self, chosen: Sequence[Topic]) -> tuple[Topic, ...]:
        """Return the topics with messages that could be read beside those that were chosen.

        Args:
            chosen: the topics that are read.

        Returns:
            The others.
        """
        spoken = {message.topic for message in self.messages}
        taken = {topic.name for topic in chosen}
        return tuple(t for t in self.topics if t.readable and t.name in spoken and t.name not in taken)

    def _only(self) -> Topic:
        counts = Counter(message.topic for message in self.messages)
        found = {topic.name: topic for topic in reversed(self.topics) if topic.tells_positions}
        spoken = [topic for topic in reversed(found.values()) if counts[topic.name]]
        plain = [topic for topic in spoken if short_type(topic.type) == JOINT_STATE]
        if len(spoken) > 1 and len(plain) != 1:
            listed = ", ".join(f"'{t.name[:60]}' ({counts[t.name]} messages)" for t in spoken[:12])
            raise RecordingError(
                f"holds {len(spoken)} topics of joint states: {listed}.",
                remedy=f"Choose one, as in --topic {spoken[0].name[:60]}, or join several, as in --topic "
                f"{spoken[0].name[:60]},{spoken[1].name[:60]}: the first that tells a channel gives it.",
                evidence={"topics": tuple(topic.name for topic in spoken)},
            )
        if not found:
            listed = ", ".join(f"'{t.name[:60]}' ({t.type[:60]})" for t in self.topics[:12]) or "none"
            why = f" {self.damage[0]}." if self.damage else ""
            raise RecordingError(
                f"holds no topic of type {_POSITIONS}; its topics are {listed}.{why}",
                evidence={"topics": self.topics},
            )
        return (plain or spoken or list(found.values()))[0]

    def _checked(self, name: str) -> Topic:
        types = {topic.name: topic.type for topic in self.topics}
        if name not in types:
            raise UnknownNameError("topic", name, types)
        for topic in self.topics:
            if topic.name == name and topic.readable:
                return topic
        raise RecordingError(
            f"topic '{name}' is of type {types[name][:60]}, not {', '.join(MESSAGE_TYPES)}.",
        )
