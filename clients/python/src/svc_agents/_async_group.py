"""What the generated methods run on, as coroutines."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, AsyncIterator, Awaitable, Callable, Dict, Generic, List, Mapping, Optional, TypeVar

from ._operation import CallOptions

if TYPE_CHECKING:
    from ._async import AsyncSvc

T = TypeVar("T")


class AsyncPages(Generic[T]):
    """A list: `async for` goes through all of it, `await page()` reads one page. Nothing is read before that."""

    def __init__(self, read: Callable[[Dict[str, Any]], Awaitable[Any]]) -> None:
        self._read = read

    async def page(self, cursor: Optional[Any] = None) -> Any:
        """One page as the API answers it: the first, or the one after `cursor`."""
        return await self._read({} if cursor is None else {"cursor": cursor})

    async def __aiter__(self) -> AsyncIterator[T]:
        cursor = None
        while True:
            page = await self.page(cursor)
            for item in page["items"]:
                yield item
            cursor = page.get("next_cursor")
            if cursor is None:
                return

    async def all(self) -> List[T]:
        return [item async for item in self]


class AsyncGroup:
    """Methods of one subject, such as `svc.inbox`."""

    def __init__(self, svc: "AsyncSvc") -> None:
        self._svc = svc

    async def _call(self, name: str, fields: Mapping[str, Any], options: CallOptions) -> Any:
        return await self._svc._run(self._svc._core.operation(name, fields, options))

    def _pages(
        self, name: str, fields: Mapping[str, Any], options: CallOptions
    ) -> "AsyncPages[Any]":
        return AsyncPages(lambda cursor: self._call(name, {**fields, **cursor}, options))
