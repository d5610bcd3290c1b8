"""LeRobot datasets and files of `torch.save` as their own writers write them, from the published formats.

LeRobot: huggingface/lerobot, `datasets/utils.py` (paths, patterns, default features) and the blog post on v3.
PyTorch: serialization semantics; a zip with a pickle of protocol 2 and one file per storage.
"""

from __future__ import annotations

import io
import json
import pickle
import struct
import zipfile
from pathlib import Path
from typing import Any

import numpy as np

JOINTS = ("shoulder_pan", "shoulder_lift", "elbow_flex", "wrist_flex", "wrist_roll", "gripper")
V2_PATH = "data/chunk-{episode_chunk:03d}/episode_{episode_index:06d}.parquet"
V3_PATH = "data/chunk-{chunk_index:03d}/file-{file_index:03d}.parquet"


def vector(dtype: str, names: Any, width: int) -> dict[str, Any]:
    """A feature of `meta/info.json`."""
    return {"dtype": dtype, "shape": [width], "names": names}


def info(
    version: str, episodes: int, names: Any, width: int, fps: float = 30, **changes: Any
) -> dict[str, Any]:
    """`meta/info.json`."""
    features = {
        "action": vector("float32", names, width),
        "observation.state": vector("float32", names, width),
        "observation.images.front": {"dtype": "video", "shape": [480, 640, 3], "names": ["h", "w", "c"]},
        **{
            name: vector("int64", None, 1) for name in ("frame_index", "episode_index", "index", "task_index")
        },
        "timestamp": vector("float32", None, 1),
    }
    return {
        "codebase_version": version,
        "robot_type": "so101_follower",
        "total_episodes": episodes,
        "chunks_size": 1000,
        "fps": fps,
        "data_path": V3_PATH if version == "v3.0" else V2_PATH,
        "features": features,
        **changes,
    }


def rows(
    number: int, state: np.ndarray, action: np.ndarray, fps: float = 30, first: int = 0
) -> dict[str, Any]:
    """The columns of an episode; states and actions of shape (N, n)."""
    import pyarrow as pa

    n = len(state)
    return {
        "action": pa.array(action.astype(np.float32).tolist(), pa.list_(pa.float32())),
        "observation.state": pa.array(state.astype(np.float32).tolist(), pa.list_(pa.float32())),
        "timestamp": pa.array((np.arange(n) / fps).astype(np.float32)),
        "frame_index": pa.array(np.arange(n)),
        "episode_index": pa.array(np.full(n, number)),
        "index": pa.array(first + np.arange(n)),
        "task_index": pa.array(np.zeros(n, dtype=np.int64)),
    }


def write_dataset(
    folder: Path,
    version: str,
    episodes: list[tuple[np.ndarray, np.ndarray]],
    names: Any = None,
    fps: float = 30,
    **changes: Any,
) -> Path:
    """A whole dataset of episodes (state, action); `changes` go into `meta/info.json`."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    names = [f"{joint}.pos" for joint in JOINTS] if names is None else names
    (folder / "meta").mkdir(parents=True)
    about = info(version, len(episodes), names or None, episodes[0][0].shape[1], fps, **changes)
    (folder / "meta/info.json").write_text(json.dumps(about, indent=4))
    first, tables, listed = 0, [], []
    for number, (state, action) in enumerate(episodes):
        tables.append(pa.table(rows(number, state, action, fps, first)))
        listed.append(
            {
                "episode_index": number,
                "tasks": ["move"],
                "length": len(state),
                "data/chunk_index": 0,
                "data/file_index": number // 2,
                "dataset_from_index": first,
                "dataset_to_index": first + len(state),
            }
        )
        first += len(state)
    if version == "v3.0":
        for k in range(0, len(tables), 2):
            path = folder / V3_PATH.format(chunk_index=0, file_index=k // 2)
            path.parent.mkdir(parents=True, exist_ok=True)
            pq.write_table(pa.concat_tables(tables[k : k + 2]), path)
        path = folder / "meta/episodes/chunk-000/file-000.parquet"
        path.parent.mkdir(parents=True)
        pq.write_table(pa.Table.from_pylist(listed), path)
    else:
        for number, table in enumerate(tables):
            path = folder / V2_PATH.format(episode_chunk=0, episode_index=number)
            path.parent.mkdir(parents=True, exist_ok=True)
            pq.write_table(table, path)
        keys = ("episode_index", "tasks", "length")
        lines = [json.dumps({key: row[key] for key in keys}) for row in listed]
        (folder / "meta/episodes.jsonl").write_text("\n".join(lines) + "\n")
    return folder


# Files of torch.save

_STORAGES = {
    "f4": "FloatStorage",
    "f8": "DoubleStorage",
    "f2": "HalfStorage",
    "i8": "LongStorage",
    "i4": "IntStorage",
    "b1": "BoolStorage",
}


def _short(text: str) -> bytes:
    return b"X" + struct.pack("<I", len(text.encode())) + text.encode()


def _whole(number: int) -> bytes:
    return b"J" + struct.pack("<i", number)


def _tuple(*items: bytes) -> bytes:
    return b"(" + b"".join(items) + b"t"


def tensor(key: str, kind: str, shape: tuple[int, ...], strides: tuple[int, ...], offset: int = 0) -> bytes:
    """The instructions that rebuild a tensor of a storage."""
    storage = _tuple(
        _short("storage"),
        f"ctorch\n{_STORAGES.get(kind, kind)}\n".encode(),
        _short(key),
        _short("cpu"),
        _whole(1),
    )
    arguments = _tuple(
        storage + b"Q",
        _whole(offset),
        _tuple(*map(_whole, shape)),
        _tuple(*map(_whole, strides)),
        b"\x89",
        b"ccollections\nOrderedDict\n)R",
    )
    return b"ctorch._utils\n_rebuild_tensor_v2\n" + arguments + b"R"


def table(items: dict[str, bytes]) -> bytes:
    """The instructions that make a table."""
    return b"}(" + b"".join(_short(name) + value for name, value in items.items()) + b"u"


def saved(program: bytes, storages: dict[str, bytes] | None = None, order: str = "little") -> bytes:
    """A file of `torch.save` with these instructions and storages."""
    sink = io.BytesIO()
    with zipfile.ZipFile(sink, "w") as archive:
        archive.writestr("log/data.pkl", b"\x80\x02" + program + b".")
        archive.writestr("log/byteorder", order)
        for key, content in (storages or {}).items():
            archive.writestr(f"log/data/{key}", content)
        archive.writestr("log/version", "3\n")
    return sink.getvalue()


def torch_file(arrays: dict[str, Any]) -> bytes:
    """What `torch.save({name: tensor, …})` writes, for arrays; other values are pickled as they are."""
    items: dict[str, bytes] = {}
    storages: dict[str, bytes] = {}
    for number, (name, array) in enumerate(arrays.items()):
        if not isinstance(array, np.ndarray):
            items[name] = pickle.dumps(array, protocol=2)[2:-1]
            continue
        kind = array.dtype.str[1:]
        strides = tuple(step // array.itemsize for step in array.strides)
        items[name] = tensor(str(number), kind, array.shape, strides)
        storages[str(number)] = array.tobytes()
    return saved(table(items), storages)
