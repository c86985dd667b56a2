"""A local endpoint that speaks OpenAI's chat completions and Anthropic's messages, answering as a test wants."""

import asyncio
import contextlib
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

from aiohttp import web
from aiohttp.test_utils import TestServer


@dataclass
class Local:
    """`answer(question)` gives text, or (HTTP status, body) for anything else. `asked` keeps the requests."""

    answer: Callable[[str], str | tuple[int, Any]]
    key: str = "secret"
    asked: list[dict[str, Any]] = field(default_factory=list)

    def app(self) -> web.Application:
        """Both APIs."""
        application = web.Application(client_max_size=10_000_000)
        application.router.add_post("/v1/chat/completions", self._openai)
        application.router.add_post("/v1/messages", self._anthropic)
        return application

    def server(self) -> TestServer:
        """On a free port of loopback; to be used with `async with`."""
        return TestServer(self.app())

    @contextlib.contextmanager
    def serving(self) -> Iterator[str]:
        """The same in a thread, for programs that are started: its base URL, with /v1."""
        ready, stop, url = threading.Event(), threading.Event(), []

        async def serve() -> None:
            async with self.server() as server:
                url.append(str(server.make_url("/v1")))
                ready.set()
                await asyncio.to_thread(stop.wait)

        thread = threading.Thread(target=lambda: asyncio.run(serve()))
        thread.start()
        try:
            assert ready.wait(10)
            yield url[0]
        finally:
            stop.set()
            thread.join()

    async def _openai(self, request: web.Request) -> web.Response:
        if self.key and request.headers.get("Authorization") != f"Bearer {self.key}":
            return web.json_response({"error": "wrong key"}, status=401)
        body = await request.json()
        self.asked.append(body)
        answer = self.answer(body["messages"][1]["content"])
        if not isinstance(answer, str):
            return web.json_response(answer[1], status=answer[0])
        choice = {"message": {"content": answer, "refusal": None}, "finish_reason": "stop"}
        return web.json_response({"choices": [choice], "usage": {"prompt_tokens": 11, "completion_tokens": 7}})

    async def _anthropic(self, request: web.Request) -> web.Response:
        if self.key and request.headers.get("x-api-key") != self.key:
            return web.json_response({"error": "wrong key"}, status=401)
        assert request.headers["anthropic-version"]
        body = await request.json()
        assert body["max_tokens"] > 0
        self.asked.append(body)
        answer = self.answer(body["messages"][0]["content"])
        if not isinstance(answer, str):
            return web.json_response(answer[1], status=answer[0])
        content = [{"type": "thinking", "thinking": "hm"}, {"type": "text", "text": answer}]
        usage = {"input_tokens": 11, "output_tokens": 7}
        return web.json_response({"content": content, "stop_reason": "end_turn", "usage": usage})
