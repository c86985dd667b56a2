"""Notes over HTTP, kept in Redis: PUT and GET /notes/<name>, GET /healthz. One JSON line a request in its log.

GET /pictures/<width>x<height> is a grey picture of that size. Each is made once and kept, and nobody thought of how
many sizes there are: a caller who asks for enough of them leaves the program larger than it was.
"""

import json
import os
import sys
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import redis

STORE = redis.Redis(
    host=os.environ["STORE_HOST"], username="app", password=os.environ["STORE_PASSWORD"], decode_responses=True,
    socket_timeout=5,
)  # fmt: skip

PICTURES: dict[str, str] = {}
LARGEST = 4_000_000


class Handler(BaseHTTPRequestHandler):
    """One request."""

    def do_GET(self) -> None:
        """Read a note."""
        if self.path == "/healthz":
            self.answer(lambda: (200, {"alive": bool(STORE.ping())}))
        elif self.path.startswith("/pictures/"):
            self.answer(self.picture)
        else:
            self.answer(self.read)

    def do_PUT(self) -> None:
        """Write a note."""
        length = int(self.headers.get("Content-Length", 0))
        text = json.loads(self.rfile.read(length))["text"]
        self.answer(lambda: self.write(text))

    def read(self) -> tuple[int, dict]:
        """The note, or 404."""
        text = STORE.hget(self.key(), "text")
        return (404, {}) if text is None else (200, {"text": text})

    def write(self, text: str) -> tuple[int, dict]:
        """Keep it, and say what is kept."""
        STORE.hset(self.key(), "text", text)
        return 200, {"text": STORE.hget(self.key(), "text")}

    def picture(self) -> tuple[int, dict]:
        """How many pixels there are now."""
        size = self.path.rpartition("/")[2]
        width, _, height = size.partition("x")
        PICTURES.setdefault(size, "." * min(int(width) * int(height), LARGEST))
        return 200, {"pixels": len(PICTURES[size])}

    def key(self) -> str:
        """Where the note of this path is."""
        return "note:" + self.path.rpartition("/")[2]

    def answer(self, act) -> None:
        """Do it; what the store refuses is an error of ours."""
        began = time.time()
        try:
            status, body = act()
        except redis.RedisError as error:
            status, body = 500, {"error": str(error)}
        said = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(said)))
        self.end_headers()
        self.wfile.write(said)
        line = {
            "time": began,
            "method": self.command,
            "path": self.path,
            "status": status,
            "seconds": time.time() - began,
        }
        sys.stdout.write(json.dumps(line) + "\n")
        sys.stdout.flush()

    def log_message(self, *_arguments: object) -> None:
        """The line above says it."""


ThreadingHTTPServer(("", 8080), Handler).serve_forever()
