"""Lists that come in pages."""

from __future__ import annotations

from typing import Any, AsyncIterator, Awaitable, Callable, Dict, Generic, Iterator, List, Optional, TypeVar

T = TypeVar("T")


class Pages(Generic[T]):
    """A list: `for` goes through all of it, `page()` reads one page. Nothing is read before that."""

    def __init__(self, read: Callable[[Dict[str, Any]], Any]) -> None:
        self._read = read

    def page(self, cursor: Optional[Any] = None) -> Any:
        """One page as the API answers it: the first, or the one after `cursor`."""
        return self._read({} if cursor is None else {"cursor": cursor})

    def __iter__(self) -> Iterator[T]:
        cursor = None
        while True:
            page = self.page(cursor)
            yield from page["items"]
            cursor = page.get("next_cursor")
            if cursor is None:
                return

    def all(self) -> List[T]:
        return list(self)


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
