"""Checks that every family of motions makes of its fields."""

from __future__ import annotations

import math
from collections.abc import Sequence

from steelyard.errors import InputError


def check_schema(schema: int, known: int) -> None:
    """Refuse a layout of another version.

    Args:
        schema: the number found.
        known: the number this version writes.

    Raises:
        InputError: they differ.
    """
    if schema != known:
        raise InputError(f"layout {schema!r} is unknown; this version knows {known}.", place="schema")


def checked_joints(joints: Sequence[str]) -> tuple[str, ...]:
    """The names of a motion's joints, at least one and all different.

    Args:
        joints: the names.

    Returns:
        The names.

    Raises:
        InputError: there are none, or one is there twice.
    """
    if not joints or len(set(joints)) != len(joints):
        raise InputError(f"joint names must be there and differ, got {list(joints)}.", place="joints")
    return tuple(joints)


def checked_seconds(name: str, value: float) -> float:
    """A length of time, positive and finite.

    Args:
        name: what to call it in the message.
        value: the length, s.

    Returns:
        The length, s.

    Raises:
        InputError: it is not positive and finite.
    """
    if not (math.isfinite(value) and value > 0.0):
        raise InputError(f"must be positive and finite, got {value} s.", place=name)
    return float(value)


def check_order(order: int) -> None:
    """Refuse an order of differentiation below zero.

    Args:
        order: the order.

    Raises:
        InputError: it is negative.
    """
    if order < 0:
        raise InputError(f"must be zero or more, got {order}.", place="order")
