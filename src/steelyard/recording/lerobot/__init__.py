"""LeRobot datasets as logs: a folder or a name on the Hub, each episode a recording of its own.

`dataset` reads what `meta/info.json` and the lists of episodes say, and which log names which episodes;
`parquet` reads their files, `episode` makes columns of one of them; `hub` fetches a dataset where the library
for it is installed.
"""

from typing import TYPE_CHECKING

from steelyard.door import open_door

if TYPE_CHECKING:
    from steelyard.recording.lerobot.dataset import (
        VERSIONS,
        ChosenEpisodes,
        Dataset,
        chosen,
        episode_logs,
        episode_numbers,
    )
    from steelyard.recording.lerobot.episode import Episode, read_episode
    from steelyard.recording.lerobot.hub import PREFIX

__all__ = [
    "PREFIX",
    "VERSIONS",
    "ChosenEpisodes",
    "Dataset",
    "Episode",
    "chosen",
    "episode_logs",
    "episode_numbers",
    "read_episode",
]

open_door(__name__)
