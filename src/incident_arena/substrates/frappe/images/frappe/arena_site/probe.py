"""`/healthz` for processes that serve nothing else: an HTTP probe costs far less than one that starts a program."""

import os
from http.server import BaseHTTPRequestHandler, HTTPServer

from arena_site.health import Health

PORT = 8001


def serve(health: Health, port: int = PORT) -> None:
    """Answer in a process of its own, which ends with the container: 200 when ready, else 503.

    Not in a thread: it would wait for the interpreter while a job computes, and a child that is forked while another
    thread holds a lock waits for it for ever.
    """

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            report = health.check()
            self.send_response(200 if report.ready else 503)
            self.end_headers()
            self.wfile.write("".join(f"{name}: {seen}\n" for name, seen in report.seen.items()).encode())

        def log_message(self, *_: object) -> None:
            """Nothing: kubelet's questions are no news."""

    server = HTTPServer(("0.0.0.0", port), Handler)  # noqa: S104
    if os.fork() == 0:
        server.serve_forever()
        os._exit(0)
    server.server_close()
