"""The kinds of operation of the frappe substrate; substrates/frappe/load.md describes them."""

import json
from collections.abc import Awaitable, Callable, Collection, Sequence
from datetime import date, timedelta
from functools import partial
from http import HTTPStatus

import aiohttp

from incident_arena.formats.records import LedgerLine
from incident_arena.formats.task import LoadSpec
from incident_arena.ledger.reading import CREATED, DELETED, JOB
from incident_arena.substrates.frappe.api import EVERYTHING, PAGE, Accounts, Api, Names, rows_of, seen
from incident_arena.substrates.frappe.pool import Pool
from incident_arena.workload.client import Client, Reply
from incident_arena.workload.effects import EffectWatch
from incident_arena.workload.operations import Answer, NotReadyError, Plan

POOL = 40
"""ToDos that the load makes before it begins, to change and delete."""
MENTIONED_NOTES = 20
"""Notes under which it writes comments; they stay."""
VALUE = {"ToDo": "description", "Note": "title"}
"""The field of each doctype that the load writes."""
FIRST_DAY = date(2000, 1, 1)
"""Dates that updates write count from here, by operation id."""
NOTIFICATIONS_SEEN = "100"
"""Newest notifications looked at: more than arrive while one is awaited."""


KINDS = ("bulk-update", "create", "delete", "list", "mention", "read", "sign-in", "update")


class Frappe:
    """Operations over Notes, ToDos, comments and sessions."""

    def __init__(self, spec: LoadSpec, target: str, accounts: Accounts, names: Names | None = None) -> None:
        """Talk to the application at `target`. Needs a running event loop."""
        self._spec = spec
        self._accounts = accounts
        self._client = Client(target, spec.timeout)
        self._api = Api(self._client, accounts, names or Names())
        self._session: str | None = None
        self._pool = Pool()
        self._settle: dict[int, Callable[[Answer], None]] = {}
        self._todos: list[tuple[str, str]] = []
        self._notes: list[tuple[str, str]] = []
        self._mentioned: list[str] = []
        self._batches: list[tuple[str, ...]] = []
        self._turns: dict[str, int] = {}
        self._notified = EffectWatch(self._look_for_notifications)
        self._bulk_updated = EffectWatch(self._look_for_bulk_updates)
        self._plans: dict[str, Callable[[int], Plan]] = {
            "bulk-update": self._bulk_update,
            "create": self._create,
            "delete": self._delete,
            "list": self._list,
            "mention": self._mention,
            "read": self._read,
            "sign-in": self._sign_in,
            "update": self._update,
        }

    @property
    def kinds(self) -> Sequence[str]:
        """Names of all kinds."""
        return KINDS

    async def prepare(self, before: Sequence[LedgerLine]) -> tuple[str, ...]:
        """Learn the seeds, make the pool, or find it again after a restart.

        Raises:
            NotReadyError: the application or its seeds are not there yet.
        """
        try:
            self._todos = await self._api.rows("ToDo", "name", "seed-todo-%", "description")
            self._notes = await self._api.rows("Note", "name", "seed-note-%", "content")
            batched = await self._api.rows("ToDo", "name", "batch-%", "description")
            pool = await self._own("ToDo", "load-pool", POOL, make=not before)
            mentioned = await self._own("Note", "load-mention", MENTIONED_NOTES, make=not before)
            if not before:
                await self._mail_off()
        except (TimeoutError, aiohttp.ClientError, OSError) as error:
            raise NotReadyError(f"{type(error).__name__}: {error}") from error
        batches: dict[str, list[str]] = {}
        for name, _ in batched:
            batches.setdefault(name.rpartition("-")[0], []).append(name)
        self._batches = [tuple(members) for members in batches.values()]
        if len(self._todos) < PAGE or not self._notes or not self._batches:
            seen = f"{len(self._todos)} ToDos, {len(self._notes)} Notes, {len(self._batches)} batches"
            raise NotReadyError(f"seeds are missing: {seen}")
        self._pool = Pool()
        for name, title in pool:
            self._pool.add(name, title)
        self._pool.replay(before, "ToDo", frozenset({"create", "update", "delete"}))
        self._mentioned = [name for name, _ in mentioned]
        todos = (name for name, _ in (*self._todos, *batched, *pool))
        notes = (name for name, _ in (*self._notes, *mentioned))
        return tuple(f"ToDo/{name}" for name in todos) + tuple(f"Note/{name}" for name in notes)

    def plan(self, kind: str, id_: int) -> Plan:
        """Choose what operation `id_` works on."""
        return self._plans[kind](id_)

    def settle(self, id_: int, answer: Answer) -> None:
        """Free what it worked on, and remember what became of it."""
        settle = self._settle.pop(id_, None)
        if settle is not None:
            settle(answer)

    async def close(self) -> None:
        """Stop looking for effects; close connections."""
        await self._notified.close()
        await self._bulk_updated.close()
        await self._client.close()

    # Kinds: each takes the operation's id and says what goes out.

    def _sign_in(self, id_: int) -> Plan:
        user = self._accounts.users[id_ % len(self._accounts.users)]
        return Plan(lambda: self._sign_in_as(user))

    async def _sign_in_as(self, user: str) -> Answer:
        reply = await self._api.log_in(user)
        if refusal := reply.refusal():
            return refusal
        if reply.part("message") != "Logged In" or reply.cookies.get("sid", "Guest") == "Guest":
            return reply.wrong("no session")
        return Answer("ok", reply.status)

    def _list(self, _: int) -> Plan:
        start = PAGE * (self._turn("list") % (len(self._todos) // PAGE))
        return Plan(lambda: self._list_page(start))

    async def _list_page(self, start: int) -> Answer:
        reply = await self._api.query(
            "ToDo", [["name", "like", "seed-todo-%"]], ["name", "description"], limit_start=str(start)
        )
        if refusal := reply.refusal():
            return refusal
        rows = [{"name": name, "description": text} for name, text in self._todos[start : start + PAGE]]
        return Answer("ok", reply.status) if reply.part("data") == rows else reply.wrong("other rows")

    def _read(self, id_: int) -> Plan:
        turn = self._turn("read")
        own = self._pool.to_read(turn) if turn % 2 else None
        if own is None:
            name, content = self._notes[turn % len(self._notes)]
            return Plan(lambda: self._read_record("Note", name, "content", content))
        name, text = own
        self._settle[id_] = lambda _: self._pool.free(name)
        return Plan(lambda: self._read_record("ToDo", name, "description", text))

    async def _read_record(self, doctype: str, name: str, field: str, value: str) -> Answer:
        reply = await self._api.resource("GET", doctype, name)
        if refusal := reply.refusal():
            return refusal
        same = (reply.part("data", "name"), reply.part("data", field)) == (name, value)
        return Answer("ok", reply.status) if same else reply.wrong(f"not {field} {value!r}")

    def _create(self, id_: int) -> Plan:
        text = f"load-{id_}"

        def settle(answer: Answer) -> None:
            if answer.result == "ok":
                self._pool.add(answer.records[0].removeprefix("ToDo/"), text)

        self._settle[id_] = settle
        return Plan(lambda: self._create_record("ToDo", text), effect=text)

    async def _create_record(self, doctype: str, text: str) -> Answer:
        content = {VALUE[doctype]: text}
        reply = await self._api.resource("POST", doctype, content=content)
        if refusal := reply.refusal():
            return refusal
        name = reply.part("data", "name")
        if not isinstance(name, str) or reply.part("data", VALUE[doctype]) != text:
            return reply.wrong(f"not the record {text!r}")
        return Answer("ok", reply.status, records=(f"{doctype}/{name}",))

    def _update(self, id_: int) -> Plan:
        name = self._pool.to_update()
        text = f"load-{id_}"
        if name is None:
            return Plan(lambda: self._on_a_new_todo(id_, lambda new: self._update_todo(new, id_)), effect=text)

        def settle(answer: Answer) -> None:
            self._pool.free(name)
            if answer.result != "failed":
                self._pool.updated(name, text if answer.result == "ok" else None)

        self._settle[id_] = settle
        return Plan(lambda: self._update_todo(name, id_), (f"ToDo/{name}",), text)

    async def _update_todo(self, name: str, id_: int) -> Answer:
        """Change the text and the date: versions are kept of dates, and none of texts."""
        text, day = f"load-{id_}", (FIRST_DAY + timedelta(days=id_)).isoformat()
        reply = await self._api.resource("PUT", "ToDo", name, {"description": text, "date": day})
        if refusal := reply.refusal():
            return refusal
        now = tuple(reply.part("data", field) for field in ("name", "description", "date"))
        return Answer("ok", reply.status) if now == (name, text, day) else reply.wrong(f"not {text!r} of {day}")

    def _delete(self, id_: int) -> Plan:
        name = self._pool.to_delete()
        if name is None:
            delete = partial(self._delete_todo, suspect=False)
            return Plan(lambda: self._on_a_new_todo(id_, delete), effect=DELETED)

        def settle(answer: Answer) -> None:
            self._pool.free(name)
            self._pool.deleted(name) if answer.result == "ok" else self._pool.suspected(name)

        self._settle[id_] = settle
        suspect = self._pool.is_suspect(name)
        # Which of a suspect's deletions owes the job is not known: then none is held to it.
        job = () if suspect else (f"{JOB}Version/{name}",)
        return Plan(lambda: self._delete_todo(name, suspect=suspect), (f"ToDo/{name}", *job), DELETED)

    async def _delete_todo(self, name: str, *, suspect: bool) -> Answer:
        reply = await self._api.resource("DELETE", "ToDo", name)
        if reply.status == HTTPStatus.NOT_FOUND and suspect:  # an earlier deletion took effect after all
            return Answer("ok", reply.status)
        if refusal := reply.refusal():
            return refusal
        if reply.part("data") != "ok":
            return reply.wrong("not deleted")
        after = await self._api.resource("GET", "ToDo", name)
        if after.status == HTTPStatus.NOT_FOUND:
            return Answer("ok", reply.status)
        return Answer("wrong", reply.status, f"a look after the deletion gave {after.status}", owed=True)

    def _mention(self, id_: int) -> Plan:
        mark, note = f"load-{id_}", self._mentioned[self._turn("mention") % len(self._mentioned)]
        return Plan(lambda: self._mention_in(note, mark), (f"{JOB}Notification Log/{mark}",), CREATED)

    async def _mention_in(self, note: str, mark: str) -> Answer:
        user = self._accounts.users[0]
        content = f'<div><span class="mention" data-id="{user}" data-value="u">@u</span> {mark}</div>'
        reply = await self._api.method(
            "desk.form.utils.add_comment",
            reference_doctype="Note",
            reference_name=note,
            content=content,
            comment_email=self._accounts.email,
            comment_by="load",
        )
        if refusal := reply.refusal():
            return refusal
        name = reply.part("message", "name")
        if not isinstance(name, str) or reply.part("message", "content") != content:
            return reply.wrong(f"not the comment {mark!r}")
        return await self._await_effect(self._notified, mark, reply, (f"Comment/{name}",))

    async def _look_for_notifications(self, marks: Collection[str]) -> Collection[str]:
        """See what the mentioned user sees, by a session of theirs that is renewed when it ends."""
        if self._session is None:
            reply = await seen(self._api.log_in(self._accounts.users[0]))
            self._session = reply.cookies.get("sid") if reply is not None and reply.status == HTTPStatus.OK else None
        if self._session is None:
            return ()
        reply = await seen(
            self._api.query(
                "Notification Log",
                [],
                ["email_content"],
                session=self._session,
                order_by="creation desc",
                limit_page_length=NOTIFICATIONS_SEEN,
            )
        )
        if reply is not None and reply.status in (401, 403):
            self._session = None
        texts = [row.get("email_content") or "" for row in rows_of(reply)]
        found = {text.removesuffix("</div>").rpartition(" ")[2] for text in texts}
        return found.intersection(marks)

    def _bulk_update(self, id_: int) -> Plan:
        mark, batch = f"load-{id_}", self._batches[self._turn("bulk-update") % len(self._batches)]
        return Plan(lambda: self._bulk_update_batch(batch, mark), tuple(f"ToDo/{name}" for name in batch), mark)

    async def _bulk_update_batch(self, batch: tuple[str, ...], mark: str) -> Answer:
        reply = await self._api.method(
            "desk.doctype.bulk_update.bulk_update.submit_cancel_or_update_docs",
            doctype="ToDo",
            docnames=json.dumps(batch),
            action="update",
            data=json.dumps({"description": mark}),
        )
        if refusal := reply.refusal():
            return refusal
        if "enqueued" not in str(reply.part("_server_messages")):
            return reply.wrong("not enqueued")
        return await self._await_effect(self._bulk_updated, mark, reply, ())

    async def _look_for_bulk_updates(self, marks: Collection[str]) -> Collection[str]:
        filters = [["description", "in", list(marks)]]
        reply = await seen(self._api.query("ToDo", filters, ["description"], limit_page_length=EVERYTHING))
        written = [row.get("description") for row in rows_of(reply)]
        smallest = min(len(batch) for batch in self._batches)
        return {mark for mark in marks if written.count(mark) >= smallest}

    # What the kinds have in common.

    async def _await_effect(self, watch: EffectWatch, mark: str, reply: Reply, records: tuple[str, ...]) -> Answer:
        """The answer of a kind that is judged by its effect, once that is seen or its time is over."""
        within = self._spec.effect_timeout
        moment = await watch.seen(mark, within)
        if moment is None:
            error = f"accepted, but no effect within {within:g} s"
            return Answer("wrong", reply.status, error, records, owed=True)
        return Answer("ok", reply.status, records=records, at=moment)

    async def _on_a_new_todo(self, id_: int, act: Callable[[str], Awaitable[Answer]]) -> Answer:
        """Make a record to act on, where the pool has none: no kind has to wait for another."""
        made = await self._create_record("ToDo", f"load-{id_}")
        if made.result != "ok":
            return made
        answer = await act(made.records[0].removeprefix("ToDo/"))
        return Answer(answer.result, answer.status, answer.error, made.records, answer.owed, answer.at)

    async def _own(self, doctype: str, prefix: str, count: int, *, make: bool) -> list[tuple[str, str]]:
        """Names and texts of records that are the load's own; `make` those that are missing."""
        rows = await self._api.rows(doctype, VALUE[doctype], f"{prefix}-%", VALUE[doctype])
        there = {text for _, text in rows}
        for number in range(1, count + 1):
            text = f"{prefix}-{number:02d}"
            if make and text not in there:
                answer = await self._create_record(doctype, text)
                if answer.result != "ok":
                    raise NotReadyError(f"creating {doctype} {text}: {answer.error}")
                rows.append((answer.records[0].removeprefix(f"{doctype}/"), text))
        return rows

    async def _mail_off(self) -> None:
        """Let mentions notify without a mail: there is no mail account, and their job would fail for it."""
        reply = await self._api.resource(
            "PUT", "Notification Settings", self._accounts.users[0], {"enable_email_notifications": 0}
        )
        if reply.refusal() or reply.part("data", "enable_email_notifications") != 0:
            raise NotReadyError(f"the mentioned user's notification settings: {reply.status} {reply.text[:120]}")

    def _turn(self, kind: str) -> int:
        """How often a kind has been planned."""
        turn = self._turns.get(kind, 0)
        self._turns[kind] = turn + 1
        return turn
