"""The web server's application: the framework's own, with `/healthz` before it. Served by gunicorn with --preload."""

from collections.abc import Callable, Iterable

from arena_site import framework

framework.prepare()

from monoframe.app import application  # noqa: E402  after prepare

from arena_site.health import Health  # noqa: E402

type Environ = dict[str, object]
type StartResponse = Callable[[str, list[tuple[str, str]]], object]

HEALTH_PATH = "/healthz"


class App:
    """WSGI application."""

    def __init__(self) -> None:
        self.health = Health()

    def __call__(self, environ: Environ, start_response: StartResponse) -> Iterable[bytes]:
        """Answer `/healthz` (200 or 503, one line for each dependency); hand everything else to the framework."""
        if environ["PATH_INFO"] != HEALTH_PATH:
            return application(environ, start_response)
        report = self.health.check()
        body = "".join(f"{name}: {seen}\n" for name, seen in report.seen.items()).encode()
        status = "200 OK" if report.ready else "503 Service Unavailable"
        start_response(status, [("Content-Type", "text/plain"), ("Content-Length", str(len(body)))])
        return [body]


app = App()
