"""`/healthz` for processes that serve nothing else: an HTTP probe costs far less than one that starts a program."""

import threading
from http.server import BaseHTTPRequestHandler, HTTPServer

from arena_site.health import Health

PORT = 8001


def serve(health: Health, port: int = PORT) -> None:
    """Answer in a thread of this process, as long as it lives: 200 when ready, else 503."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            report = health.check()
            self.send_response(200 if report.ready else 503)
            self.end_headers()
            self.wfile.write("".join(f"{name}: {seen}\n" for name, seen in report.seen.items()).encode())

        def log_message(self, *_: object) -> None:
            """Nothing: kubelet's questions are no news."""

    threading.Thread(target=HTTPServer(("0.0.0.0", port), Handler).serve_forever, daemon=True).start()  # noqa: S104
