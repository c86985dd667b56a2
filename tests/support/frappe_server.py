"""A small application that talks as the framework does, in memory, for tests and measurements of the load.

    python tests/support/frappe_server.py --port 8100

`Faults` says what is broken in it. Its jobs are done by a worker of its own, in order, as the framework's are.
"""

import argparse
import asyncio
import itertools
import json
from dataclasses import dataclass, field
from typing import Any

from aiohttp import web

TOKEN = "token load:secret"
PASSWORD = "users"
MENTIONED = "user01@arena.test"


@dataclass
class Faults:
    """What is broken. `hang`: seconds before each answer. `echo`: what writes answer instead of what was written."""

    deny_delete: bool = False
    jobs_stuck: bool = False
    keep_deleted: bool = False
    drop_jobs: bool = False
    hang: float = 0.0
    echo: str | None = None
    status: int | None = None


@dataclass
class Application:
    """The data, and what was asked of it."""

    faults: Faults = field(default_factory=Faults)
    records: dict[str, dict[str, dict[str, Any]]] = field(default_factory=dict)
    jobs: list[tuple[str, Any]] = field(default_factory=list)
    requests: list[tuple[str, str]] = field(default_factory=list)
    sessions: set[str] = field(default_factory=set)
    ids: Any = field(default_factory=lambda: itertools.count(1))

    def __post_init__(self) -> None:
        self.records = {doctype: {} for doctype in ("ToDo", "Note", "Comment", "Notification Log")}
        self.records["Notification Settings"] = {MENTIONED: {"name": MENTIONED, "enable_email_notifications": 1}}
        for number in range(1, 61):
            name = f"seed-todo-{number:04d}"
            self.records["ToDo"][name] = {"name": name, "description": f"Seeded task {number}"}
        for number in range(1, 11):
            name = f"seed-note-{number:04d}"
            self.records["Note"][name] = {"name": name, "title": name, "content": f"Seeded note {number}"}
        for batch, number in itertools.product(range(1, 4), range(1, 21)):
            name = f"batch-{batch:02d}-{number:02d}"
            self.records["ToDo"][name] = {"name": name, "description": "untouched"}

    def routes(self) -> web.Application:
        application = web.Application(middlewares=[self._broken])
        application.add_routes(
            [
                web.post("/api/method/login", self._login),
                web.post("/api/method/monoframe.desk.form.utils.add_comment", self._add_comment),
                web.post(
                    "/api/method/monoframe.desk.doctype.bulk_update.bulk_update.submit_cancel_or_update_docs",
                    self._bulk_update,
                ),
                web.get("/api/resource/{doctype}", self._list),
                web.post("/api/resource/{doctype}", self._create),
                web.get("/api/resource/{doctype}/{name}", self._read),
                web.put("/api/resource/{doctype}/{name}", self._update),
                web.delete("/api/resource/{doctype}/{name}", self._delete),
            ]
        )
        application.cleanup_ctx.append(self._worker)
        return application

    @web.middleware
    async def _broken(self, request: web.Request, handler: Any) -> web.StreamResponse:
        self.requests.append((request.method, request.path))
        if self.faults.hang:
            await asyncio.sleep(self.faults.hang)
        if self.faults.status:
            return web.json_response({"exc_type": "PlannedError", "exception": "planned"}, status=self.faults.status)
        return await handler(request)

    async def _worker(self, _: web.Application) -> Any:
        async def work() -> None:
            while True:
                await asyncio.sleep(0.02)
                while self.jobs and not self.faults.jobs_stuck:
                    kind, argument = self.jobs.pop(0)
                    if self.faults.drop_jobs:
                        continue
                    mail = self.records["Notification Settings"][MENTIONED]["enable_email_notifications"]
                    if kind == "notify" and not mail:  # with mail, the job fails: there is no mail account
                        self._insert("Notification Log", argument)
                    elif kind == "bulk":
                        for name in argument["names"]:
                            self.records["ToDo"][name].update(argument["data"])

        task = asyncio.create_task(work())
        yield
        task.cancel()

    def _insert(self, doctype: str, values: dict[str, Any]) -> dict[str, Any]:
        name = f"r{next(self.ids)}"
        self.records[doctype][name] = {"name": name, **values}
        return self.records[doctype][name]

    def _echoed(self, record: dict[str, Any]) -> dict[str, Any]:
        if self.faults.echo is None:
            return record
        return {key: value if key == "name" else self.faults.echo for key, value in record.items()}

    def _session(self, request: web.Request) -> bool:
        return request.cookies.get("sid") in self.sessions

    async def _login(self, request: web.Request) -> web.Response:
        form = await request.post()
        if form["pwd"] != PASSWORD:
            return web.json_response({"message": "Invalid login credentials"}, status=401)
        sid = f"s{next(self.ids)}"
        self.sessions.add(sid)
        response = web.json_response({"message": self.faults.echo or "Logged In"})
        response.set_cookie("sid", sid)
        return response

    async def _add_comment(self, request: web.Request) -> web.Response:
        self._authorize(request)
        form = await request.post()
        comment = self._insert("Comment", {"content": form["content"]})
        self.jobs.append(("notify", {"email_content": form["content"]}))
        return web.json_response({"message": self._echoed(comment)})

    async def _bulk_update(self, request: web.Request) -> web.Response:
        self._authorize(request)
        form = await request.post()
        names = json.loads(str(form["docnames"]))
        self.jobs.append(("bulk", {"names": names, "data": json.loads(str(form["data"]))}))
        said = "Bulk operation is enqueued in background." if self.faults.echo is None else self.faults.echo
        return web.json_response({"_server_messages": json.dumps([said])})

    async def _list(self, request: web.Request) -> web.Response:
        self._authorize(request)
        rows = list(self.records[request.match_info["doctype"]].values())
        for name, operator, value in json.loads(request.query["filters"]):
            if operator == "like":
                rows = [row for row in rows if str(row.get(name)).startswith(value.rstrip("%"))]
            else:
                rows = [row for row in rows if row.get(name) in value]
        key, _, order = request.query["order_by"].partition(" ")
        if key == "name":
            rows.sort(key=lambda row: row["name"])
        elif order == "desc":
            rows.reverse()
        start = int(request.query.get("limit_start", 0))
        rows = rows[start : start + int(request.query["limit_page_length"])]
        fields = json.loads(request.query["fields"])
        return web.json_response({"data": [{name: row.get(name) for name in fields} for row in rows]})

    async def _create(self, request: web.Request) -> web.Response:
        self._authorize(request)
        record = self._insert(request.match_info["doctype"], await request.json())
        return web.json_response({"data": self._echoed(record)})

    async def _read(self, request: web.Request) -> web.Response:
        return web.json_response({"data": self._echoed(self._found(request))})

    async def _update(self, request: web.Request) -> web.Response:
        record = self._found(request)
        record.update(await request.json())
        return web.json_response({"data": self._echoed(record)})

    async def _delete(self, request: web.Request) -> web.Response:
        record = self._found(request)
        if self.faults.deny_delete:
            error = {"exc_type": "OperationalError", "exception": "(1142, 'DELETE command denied')"}
            return web.json_response(error, status=500)
        if not self.faults.keep_deleted:
            del self.records[request.match_info["doctype"]][record["name"]]
        self.jobs.append(("links", record["name"]))
        return web.json_response({"data": "ok"}, status=202)

    def _found(self, request: web.Request) -> dict[str, Any]:
        self._authorize(request)
        record = self.records[request.match_info["doctype"]].get(request.match_info["name"])
        if record is None:
            raise web.HTTPNotFound(text=json.dumps({"exc_type": "DoesNotExistError"}))
        return record

    def _authorize(self, request: web.Request) -> None:
        if request.headers.get("Authorization") != TOKEN and not self._session(request):
            raise web.HTTPForbidden(text=json.dumps({"exc_type": "PermissionError"}))


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--port", type=int, required=True)
    web.run_app(Application().routes(), host="127.0.0.1", port=parser.parse_args().port, access_log=None, print=None)
