# Written by `npm run surface` from the asynchronous client: edit _async_group.py. Do not edit this.
"""What the generated methods run on."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Iterator, Callable, Dict, Generic, List, Mapping, Optional, TypeVar

from .._operation import CallOptions

if TYPE_CHECKING:
    from .client import Svc

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
            for item in page["items"]:
                yield item
            cursor = page.get("next_cursor")
            if cursor is None:
                return

    def all(self) -> List[T]:
        return [item for item in self]


class Group:
    """Methods of one subject, such as `svc.inbox`."""

    def __init__(self, svc: "Svc") -> None:
        self._svc = svc

    def _call(self, name: str, fields: Mapping[str, Any], options: CallOptions) -> Any:
        return self._svc._run(self._svc._core.operation(name, fields, options))

    def _pages(
        self, name: str, fields: Mapping[str, Any], options: CallOptions
    ) -> "Pages[Any]":
        return Pages(lambda cursor: self._call(name, {**fields, **cursor}, options))
