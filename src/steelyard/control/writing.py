"""Controller files, written: the counterpart of `read_loop`."""

from __future__ import annotations

from collections.abc import Sequence

from steelyard.control.feedforward_pd import FeedforwardPD


def controller_text(controller: FeedforwardPD, remarks: Sequence[str] = ()) -> str:
    """A law as the text of a controller file, exact to the last bit.

    Args:
        controller: the law.
        remarks: lines of comment to begin with.

    Returns:
        TOML.
    """
    lines = [f"# {' '.join(remark.split())}" for remark in remarks]
    for name, value in controller.settings.items():
        if isinstance(value, list):
            text = "[" + ", ".join(repr(float(x)) for x in value) + "]"
        else:
            text = f'"{value}"' if isinstance(value, str) else repr(value)
        lines.append(f"{name} = {text}")
    return "\n".join(lines) + "\n"
