"""Fields of a frozen object that may be left out, and are asked for only by those who need them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Generic, TypeVar

T = TypeVar("T")


class OnDemand(Generic[T]):
    """A field that may be built as None and is never read as None.

    Reading a field that was left out makes it from the other fields, once, or raises an error that says why
    it cannot be made. It stays a required argument of the dataclass.
    """

    def __init__(self, make: Callable[[Any], T]) -> None:
        """State how the field is made.

        Args:
            make: takes the object, returns the field or raises.
        """
        self._make = make

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name

    def __get__(self, instance: Any, owner: type | None = None) -> T:
        if instance is None:
            raise AttributeError(self._name)  # what tells a dataclass that the field has no default
        value: T | None = instance.__dict__[self._name]
        if value is None:
            value = self._make(instance)
            instance.__dict__[self._name] = value
        return value

    def __set__(self, instance: Any, value: T | None) -> None:
        instance.__dict__[self._name] = value
