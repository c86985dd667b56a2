"""Waits for effects that background jobs bring about, many at a time with one request."""

import asyncio
import contextlib
import time
from collections.abc import Awaitable, Callable, Collection


class EffectWatch:
    """Looks for all awaited effects at once, every `every_s` seconds, and only while one is awaited."""

    def __init__(self, look: Callable[[Collection[str]], Awaitable[Collection[str]]], every_s: float = 0.5) -> None:
        """Watch with `look`, which is given the marks awaited and returns those whose effect is there.

        `look` returns nothing when it can't see; it must end within some seconds by itself.
        """
        self._look = look
        self._every_s = every_s
        self._awaited: dict[str, asyncio.Future[float]] = {}
        self._watcher: asyncio.Task[None] | None = None

    async def seen(self, mark: str, within_s: float) -> float | None:
        """Wait for one effect.

        Returns:
            When it was seen, in seconds since the epoch; None when it was not seen within `within_s`.
        """
        future = asyncio.get_running_loop().create_future()
        self._awaited[mark] = future
        if self._watcher is None or self._watcher.done():
            self._watcher = asyncio.create_task(self._watch())
        try:
            return await asyncio.wait_for(future, within_s)
        except TimeoutError:
            return None
        finally:
            self._awaited.pop(mark, None)

    async def close(self) -> None:
        """Stop looking."""
        if self._watcher is not None:
            self._watcher.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self._watcher

    async def _watch(self) -> None:
        """Look until nothing is awaited any more. A fault of `look` itself goes to those who wait."""
        while waiting := [future for future in self._awaited.values() if not future.done()]:
            await asyncio.wait(waiting, timeout=self._every_s, return_when=asyncio.ALL_COMPLETED)
            marks = [mark for mark, future in self._awaited.items() if not future.done()]
            if not marks:
                continue
            try:
                found = await self._look(marks)
            except Exception as error:
                for mark in marks:
                    self._resolve(mark, error)
                raise
            for mark in found:
                self._resolve(mark, time.time())

    def _resolve(self, mark: str, seen: float | Exception) -> None:
        future = self._awaited.get(mark)
        if future is None or future.done():
            return
        if isinstance(seen, Exception):
            future.set_exception(seen)
        else:
            future.set_result(seen)
