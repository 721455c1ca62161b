"""Blocking methods made from coroutines: each is written once, and comes as a twin of what blocks and what is awaited.

Both run in the library's background event loop, whoever calls them and in whichever loop they are awaited.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Coroutine, Iterator
from typing import Any, Concatenate, Generic, ParamSpec, TypeVar, cast, overload

from recurrentgpt.infrastructure.background_loop import acall, aiterate, call, iterate

Holder = TypeVar("Holder")
Part = TypeVar("Part")
P = ParamSpec("P")
T = TypeVar("T")


class Delegate(Generic[Holder, Part]):
    """Give a class methods of a part that its instances hold: `tree = delegate(Branches.tree)`, in the body of the class."""

    def __init__(self, part: Callable[[Holder], Part]) -> None:
        self._part = part

    def __call__(self, method: Callable[Concatenate[Part, P], T]) -> Callable[Concatenate[Holder, P], T]:
        """Return the part's method as one of the holder."""
        part = self._part

        @functools.wraps(method)
        def delegated(self: Any, *args: Any, **named: Any) -> Any:
            return method(part(self), *args, **named)

        return cast("Callable[Concatenate[Holder, P], T]", delegated)


class BlockingProperty(property, Generic[T]):
    """A property whose value a coroutine returns."""

    def __get__(self, holder: Any, owner: type | None = None) -> T:  # type: ignore[override]
        """Wait for the value."""
        return cast(T, super().__get__(holder, owner))


class Twins(Generic[Holder, Part]):
    """Make methods of a class from coroutines and asynchronous generators of a part that its instances hold.

    Written in the body of the class: `step, astep = twins(AsyncStory.step)` gives a method that blocks and one that is
    awaited; of an asynchronous generator, one that is iterated and one that is iterated with `async for`. Signature and
    docstring are those of the original.
    """

    def __init__(self, part: Callable[[Holder], Part]) -> None:
        self._part = part

    @overload
    def __call__(
        self, method: Callable[Concatenate[Part, P], Coroutine[Any, Any, T]]
    ) -> tuple[Callable[Concatenate[Holder, P], T], Callable[Concatenate[Holder, P], Coroutine[Any, Any, T]]]: ...

    @overload
    def __call__(
        self, method: Callable[Concatenate[Part, P], AsyncGenerator[T]]
    ) -> tuple[Callable[Concatenate[Holder, P], Iterator[T]], Callable[Concatenate[Holder, P], AsyncIterator[T]]]: ...

    def __call__(self, method: Callable[..., Any]) -> tuple[Callable[..., Any], Callable[..., Any]]:
        """Return the method that blocks, and the one that is awaited."""
        part = self._part
        blocking: Callable[..., Any]
        awaited: Callable[..., Any]
        if inspect.iscoroutinefunction(inspect.unwrap(method)):

            def blocking(self: Any, *args: Any, **named: Any) -> Any:
                return call(lambda: method(part(self), *args, **named))

            async def awaited(self: Any, *args: Any, **named: Any) -> Any:
                return await acall(lambda: method(part(self), *args, **named))
        else:

            def blocking(self: Any, *args: Any, **named: Any) -> Any:
                return iterate(lambda: method(part(self), *args, **named))

            def awaited(self: Any, *args: Any, **named: Any) -> Any:
                return aiterate(lambda: method(part(self), *args, **named))

        signature = inspect.signature(method)
        for twin, generator in ((blocking, "Iterator"), (awaited, "AsyncIterator")):
            functools.update_wrapper(twin, method)
            returned = str(signature.return_annotation).replace("AsyncGenerator", generator)
            setattr(twin, "__signature__", signature.replace(return_annotation=returned))  # noqa: B010 - mypy knows no such attribute
        awaited.__doc__ = f"{inspect.getdoc(method)}\n\nAwaited: the event loop is not blocked."
        return blocking, awaited

    def value(self, method: Callable[[Part], Coroutine[Any, Any, T]]) -> BlockingProperty[T]:
        """Return a property that waits for what the coroutine returns."""
        return BlockingProperty(lambda holder: call(lambda: method(self._part(holder))), doc=inspect.getdoc(method))
