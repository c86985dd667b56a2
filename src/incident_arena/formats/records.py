"""The records of an episode: what the stages, the load, the servers and the snapshots write down.

All times are seconds since the epoch (UTC, float); all durations are seconds. Each record has a version of its own;
`extra="forbid"` makes a reader of another version fail instead of guessing. Nothing here knows how a record came about.

Layout of an evidence folder (written by the referee, downloaded by Harbor to `<trial>/artifacts/evidence/`):

    manifest.json         Manifest: digests of the other files, and whether gathering ended
    task.json             TaskSpec as it was played (tasks.py)
    stages.jsonl          Stage, in order
    snapshots/A.json …    Snapshot A healthy, B broken, C when the agent is done, D after the challenges
    ledger.jsonl          LedgerLine: of each operation of the load its intent, its outcome, and what was witnessed
    reconciled.json       Reconciled: what became of the records and jobs that the ledger names
    observations.jsonl    Observation: each fault's live effective state, every few seconds
    actions.jsonl         Action: what was done through the servers, by their own audit
    health.jsonl          Health: the harness's own pods and programs, every few seconds
    usage.jsonl           Usage: what the application takes of the machine, every few seconds; missing before there was
                          the check `stable`
    declaration.json      Declaration; missing when the agent never declared
"""

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

type Scalar = str | int | float | bool | None
type Facts = dict[str, Scalar]
"""A flat picture of a state: path (`store/accounts/app@%/grants/site.*/DELETE`) to value; `/` separates."""


class Record(BaseModel):
    """A frozen record."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class Stage(Record):
    """One stage of an episode, once it has ended."""

    version: Literal[1] = 1
    name: str
    started: float
    seconds: Annotated[float, Field(ge=0)]
    ok: bool
    detail: str = ""


class Closing(Record):
    """The last line that a verb of the referee prints when it has done all that it was asked for: JSON, `ok` true."""

    version: Literal[1] = 1
    verb: str
    ok: Literal[True] = True
    seconds: Annotated[float, Field(ge=0)]
    detail: str = ""


class Snapshot(Record):
    """The meaning of everything that counts, at one moment.

    `facts` holds one flat picture for each store by its name, and one for "kubernetes",
    live and persistent state apart (`acl/live/app/…`, `acl/file/app/…`). Values that change by themselves
    (restart counts, leases) are not in it.
    """

    version: Literal[1] = 1
    label: Literal["A", "B", "C", "D"]
    taken: float
    seconds: float
    facts: dict[str, Facts]


class Intent(Record):
    """Written before the request goes out. `due` is when the schedule wanted it, `at` when it went."""

    version: Literal[1] = 1
    type: Literal["intent"] = "intent"
    id: int
    kind: str
    due: float
    at: float
    records: tuple[str, ...] = ()
    """Names of the records that it creates, changes or deletes, as `Doctype/name`; `job/…` is what a job leaves."""
    effect: str = ""
    """What each record becomes if it takes effect: "created", "deleted", or the value written."""


class Outcome(Record):
    """Written when the request ended.

    `result`: ok (status, body and, where the kind has one, the effect were right), failed (the server refused and
    nothing may have changed), indeterminate (time-out, 5xx, connection lost: it may have taken effect or not),
    wrong (the status said success, but body or effect was not right), shed (never sent: too many were under way).
    `latency` counts from `due` to the last byte; for a kind that is judged by its effect, to the effect.
    """

    version: Literal[1] = 1
    type: Literal["outcome"] = "outcome"
    id: int
    kind: str
    due: float
    at: float
    result: Literal["ok", "failed", "indeterminate", "wrong", "shed"]
    latency: float
    status: int | None = None
    error: str = ""
    records: tuple[str, ...] = ()
    """Names that only the answer told."""
    owed: bool = False
    """Wrong only because the effect did not come in time: the server accepted it, so it must take effect some day."""


class Witness(Record):
    """What a client saw with its own eyes: of a subject (`order/CHECKOUT`), a value (`ORDER`), at a moment."""

    version: Literal[1] = 1
    type: Literal["witness"] = "witness"
    id: int
    """The operation's."""
    kind: str
    due: float
    at: float
    subject: str
    value: str


type LedgerLine = Annotated[Intent | Outcome | Witness, Field(discriminator="type")]


class RecordState(Record):
    """What became of one record of the ledger: does it exist, and the value of the field that the load writes."""

    exists: bool
    value: str | None = None


class Reconciled(Record):
    """What the stores say about the ledger's records and jobs.

    Taken twice: `drained` once the backlog has drained and before the challenges, `end` after them.
    `queue` counts jobs by state (queued, started, failed, …) in each queue.
    """

    version: Literal[1] = 1
    taken: float
    records: dict[str, RecordState]
    queue: dict[str, dict[str, int]]
    seeds_missing: tuple[str, ...] = ()
    """Records from before the episode's load that are gone."""


class Reconciliations(Record):
    """Both of them; also when the backlog did not drain before the deadline.

    The stages `drain` and `drain-end` say whether it did; while it did not, owed work is no loss. None: the stores
    could not be looked at.
    """

    version: Literal[1] = 1
    drained: Reconciled | None
    end: Reconciled | None


class Observation(Record):
    """A fault observer's look at the live effective state alone. `state` unknown: the observer could not look."""

    version: Literal[1] = 1
    at: float
    fault: str
    state: Literal["planted", "clear", "unknown"]
    seen: dict[str, Scalar]


UNREADABLE = "unreadable"
"""An action's name when what the server recorded cannot be read."""
FLOODED = "flooded"
"""An action's name when there were more than a log has room for."""


class Action(Record):
    """One act recorded by a server. `actor` is the account or `agent`; harness accounts are not listed."""

    version: Literal[1] = 1
    at: float
    source: str
    """`admin`, or a store's name."""
    actor: str
    kind: Literal["read", "change", "declare"]
    what: str
    """A short name: the admin verb, or the statement's first words (`GRANT`)."""
    detail: str = ""
    ok: bool = True


class Health(Record):
    """The harness at one moment: `alive` by component; `changed` names what is not as it was set."""

    version: Literal[1] = 1
    at: float
    alive: dict[str, bool]
    changed: tuple[str, ...] = ()


class Container(Record):
    """One container of the application's at one moment, as the kubelet has it."""

    component: str
    name: str
    pod: str
    """The pod's uid: another one is another pod's container of that name."""
    restarts: int
    """How often the kubelet has started it again in this pod."""
    ended: str = ""
    """Why it ended the last time (`OOMKilled`, `Error`, …); empty: it never did."""
    ended_at: float | None = None
    measured: float | None = None
    """When the two figures below were taken; None: there are none yet."""
    cpu: float = 0
    """Seconds of a core since it was started."""
    memory: int = 0
    """Working set in bytes: what the kernel would not get back."""


class Usage(Record):
    """What the application takes of the machine at one moment. What could not be asked is missing."""

    version: Literal[1] = 1
    at: float
    containers: tuple[Container, ...] = ()
    connections: dict[str, int] = Field(default_factory=dict)
    """Open connections of each store, by its name."""
    waiting: int | None = None
    """Work that was accepted and waits; None: no answer."""


class NamedCause(Record):
    """A cause that a declaration names, from the closed vocabulary."""

    component: str
    aspect: str


class Declaration(Record):
    """The agent said that the repair is complete. `causes` None: it named none; empty: it says there is no fault."""

    version: Literal[1] = 1
    at: float
    causes: tuple[NamedCause, ...] | None = None


class FileDigest(Record):
    """One evidence file."""

    sha256: str
    bytes: int


class Manifest(Record):
    """Closes an evidence folder. Without it, or with `complete` false, there is no reward."""

    version: Literal[1] = 1
    task: str
    episode: str
    product: str
    """Version of the product that gathered it."""
    agent_started: float
    agent_ended: float
    complete: bool
    unfinished: str = ""
    """Why it is not complete."""
    sealed: str = ""
    """Why gathering ended after the first reconciliation: nothing later could make it pass. Empty: it went on."""
    files: dict[str, FileDigest]
