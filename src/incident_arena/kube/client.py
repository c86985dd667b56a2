"""A cluster, as the rest of the product uses it: run in pods, copy, render, apply, wait.

It is reached by its kubeconfig alone. kubectl does what streams (exec, apply), Helm renders, and a small HTTP reader
does what is polled.
"""

import asyncio
import json
import tempfile
import time
import uuid
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from incident_arena.errors import InfrastructureError
from incident_arena.kube import ready, remote, transfer
from incident_arena.kube.api import Api, ApiError, Json, connect
from incident_arena.kube.transfer import WHOLE
from incident_arena.proc import DIRECT, CommandError, Completed, Kept, OverrunError, Sink, Stream, run_async
from incident_arena.wait import until_async

NAMESPACE = "arena"
KILL_DEADLINE_S = 20.0
COPY_DEADLINE_S = 300.0
LINGER_S = 1.0
"""How long kubectl is waited for once a command's end is proven: a child in the background may hold the streams."""
SIGNALLED = 128
GONE = 404
NAME_LABEL = "app.kubernetes.io/name"


class Kube:
    """One namespace of one cluster.

    Args:
        kubeconfig: of an account that may do all of this.
        bin: folder with `kubectl` and `helm`.
        namespace: where everything is.
    """

    def __init__(self, kubeconfig: Path, bin: Path, namespace: str = NAMESPACE) -> None:  # noqa: A002 - the contract's name
        """See the class."""
        self.kubeconfig = kubeconfig
        self.namespace = namespace
        self._kubectl = (
            str(bin / "kubectl"),
            f"--kubeconfig={kubeconfig}",
            f"--cache-dir={kubeconfig.parent / 'kubectl-cache'}",
            f"--namespace={namespace}",
        )
        self._helm = str(bin / "helm")

    async def exec(
        self,
        pod: str,
        argv: Sequence[str],
        *,
        container: str | None = None,
        stdin: bytes | None = None,
        deadline_s: float | None,
        env: Mapping[str, str] | None = None,
        cwd: str | None = None,
        sink: Sink | None = None,
    ) -> Completed:
        """Run a command in a pod, as the container's own user.

        When the call is cancelled or the deadline passes, everything that the command started in the pod is killed.
        What a command that has ended left in the background stays, and is not waited for.

        Args:
            pod: name.
            argv: the command; no shell is put around it.
            container: the pod's default one when None.
            stdin: what it reads; nothing when None.
            deadline_s: seconds; None where an outer deadline holds.
            env: variables added to the container's.
            cwd: working directory; the container's when None.
            sink: gets the output. At most 16 MiB of each stream are kept; with a sink, of standard error alone.

        Returns:
            What ended, whatever its exit status: as a shell has it, 128 and the number when a signal ended it.

        Raises:
            OverrunError: the deadline passed; with what had been printed.
            CommandError: the pod or the cluster could not be reached, or the connection was lost before the end.
        """
        kept = Kept()

        def both(stream: Stream, data: bytes) -> None:
            if sink:
                sink(stream, data)
            if stream == "stderr" or not sink:
                kept(stream, data)

        mark, seal = uuid.uuid4().hex, remote.Seal(both)
        head = remote.prelude(argv, mark=mark, word=seal.word, env=env, cwd=cwd, has_stdin=stdin is not None)
        command = self._exec(pod, remote.command(len(head)), container)
        started, overran, failed = time.monotonic(), False, ""
        try:
            status = await _talk(command, head + (stdin or b""), seal, deadline_s)
        except OverrunError as error:
            status, overran = error.completed.exit, seal.status is None
            failed = await self._end(pod, mark, container) if overran else ""
        except BaseException as error:
            if failed := await self._end(pod, mark, container):
                error.add_note(failed)
            raise
        seal.flush()
        status, stderr, proven = _status(seal.status, status, kept.text("stderr"))
        completed = Completed(tuple(argv), status, kept.text("stdout"), stderr, time.monotonic() - started)
        if overran:
            raise OverrunError(completed, deadline_s, failed)
        if not proven:
            raise CommandError(completed, f"could not be run to its end in pod {pod!r}: kubectl ended with {status}")
        return completed

    def _exec(self, pod: str, argv: Sequence[str], container: str | None, *, stdin: bool = True) -> tuple[str, ...]:
        where = (f"--container={container}",) if container else ()
        return (*self._kubectl, "exec", *(("--stdin",) if stdin else ()), "--quiet", *where, pod, "--", *argv)

    async def _end(self, pod: str, mark: str, container: str | None) -> str:
        """Kill what a command left; shielded, so that a second cancellation can't leave it running.

        Returns:
            What went wrong, if something did. It must not hide why the command is ended: Harbor looks at that.
        """
        argv = self._exec(pod, remote.killer(mark), container, stdin=False)
        kill = asyncio.ensure_future(run_async(argv, deadline_s=KILL_DEADLINE_S, env=DIRECT, check=False))
        try:
            ended = await asyncio.shield(kill)
        except asyncio.CancelledError:
            await asyncio.wait({kill})
            raise
        except CommandError as error:
            return f"what it left in pod {pod!r} could not be ended: {error.reason}"
        return f"what it left in pod {pod!r} could not be ended: {ended.stderr.strip()}" if ended.exit else ""

    async def upload(self, pod: str, source: Path, target: str, *, container: str | None = None) -> None:
        """Copy a file to the path `target`, or a folder's content into the folder `target`.

        Raises:
            TransferError: the source is missing or tar failed there.
        """
        if await asyncio.to_thread(source.is_dir):
            folder, data = target, await asyncio.to_thread(transfer.pack, source)
        else:
            folder, name = transfer.parent(target)
            data = await asyncio.to_thread(transfer.pack, source, name)
        script = 'mkdir -p "$1" && exec tar -x --no-same-owner -f - -C "$1"'
        ended = await self.exec(
            pod, ("sh", "-c", script, "arena-upload", folder), container=container, stdin=data,
            deadline_s=COPY_DEADLINE_S,
        )  # fmt: skip
        if ended.exit != 0:
            raise transfer.TransferError(f"upload to {target!r} in pod {pod!r}", ended.stderr.strip())

    async def download(
        self, pod: str, source: str, target: Path, *, container: str | None = None, bounds: transfer.Bounds = WHOLE
    ) -> list[str]:
        """Copy the file `source` to the path `target`, or a folder's content into the folder `target`.

        Returns:
            What was left out, a line each; also why there is no more, unless it has to be whole.

        Raises:
            CommandError: the pod could not be reached, or took too long; and nothing came.
            TransferError: nothing there, or nothing came; or it has to be whole, and tar failed or it is too large.
        """
        with tempfile.TemporaryDirectory(prefix="arena-download-") as scratch:
            archive = Path(scratch) / "archive.tar"
            with archive.open("wb") as file:
                sink = transfer.spool(file, bounds)
                try:
                    said = await self._archive(pod, source, container, bounds, sink)
                except (CommandError, transfer.TransferError) as error:
                    file.flush()
                    if bounds.whole or not transfer.has_members(archive):
                        raise
                    said = error.reason
            return transfer.lines(said) + await asyncio.to_thread(transfer.place, archive, target, bounds)

    async def _archive(self, pod: str, source: str, container: str | None, bounds: transfer.Bounds, sink: Sink) -> str:
        """Have an archive made in a pod; returns what was said on standard error."""
        ended = await self.exec(
            pod, transfer.command(source, bounds), container=container, deadline_s=bounds.seconds, sink=sink
        )
        if ended.exit not in {0, transfer.TAR_CHANGED}:
            raise transfer.TransferError(f"download of {source!r} from pod {pod!r}", ended.stderr.strip())
        return ended.stderr

    async def render(self, chart: Path, values: Json, release: str = "arena", namespace: str | None = None) -> str:
        """Render a chart with values laid over its own; nothing is sent to the cluster.

        Raises:
            CommandError: the chart is wrong.
        """
        argv = (
            self._helm,
            "template",
            release,
            str(chart),
            "--namespace",
            namespace or self.namespace,
            "--values",
            "-",
        )
        ended = await run_async(argv, deadline_s=60, stdin=json.dumps(values).encode(), env=DIRECT)
        return ended.stdout

    async def apply(self, manifests: str, *, deadline_s: float = 60) -> None:
        """Apply manifests, server-side, as the owner of their fields.

        Raises:
            CommandError: the API server refused one.
        """
        argv = (*self._kubectl, "apply", "--server-side", "--force-conflicts", "--field-manager=arena", "-f", "-")
        await run_async(argv, deadline_s=deadline_s, stdin=manifests.encode(), env=DIRECT)

    async def get(self, path: str, **query: str) -> Json:
        """One GET of the API.

        Raises:
            ApiError: refused or not reached.
        """
        async with connect(self.kubeconfig) as api:
            return await api.request("GET", path, query=query)

    async def log(self, pod: str, *, most: int) -> str:
        """The last `most` bytes of what a pod's only container printed.

        Raises:
            ApiError: refused or not reached.
        """
        async with connect(self.kubeconfig) as api:
            return (await api.text(f"{self._pods}/{pod}/log"))[-most:]

    async def wait_ready(
        self,
        namespace: str | None = None,
        *,
        deadline_s: float,
        progress: Callable[[ready.Readiness], None] | None = None,
        every_s: float = 0.5,
    ) -> float:
        """Wait until every Deployment, StatefulSet and bare pod is ready and every Job complete.

        Returns:
            Seconds waited.

        Raises:
            DeadlineError: naming each pod that is not ready and what it waits for.
            HopelessError: a job failed, or a pod can never start.
        """
        async with connect(self.kubeconfig) as api:

            async def probe() -> tuple[bool, str]:
                try:
                    state = await self._readiness(api, namespace or self.namespace)
                except ApiError as error:
                    if error.status is not None:
                        raise
                    return False, str(error)  # the API server may be busy for a moment
                if progress:
                    progress(state)
                if state.hopeless:
                    raise ready.HopelessError("readiness", "; ".join(state.hopeless))
                return state.done, str(state)

            return await until_async("all pods ready", probe, deadline_s=deadline_s, every_s=every_s)

    async def _readiness(self, api: Api, namespace: str) -> ready.Readiness:
        paths = (
            f"/apis/apps/v1/namespaces/{namespace}/deployments",
            f"/apis/apps/v1/namespaces/{namespace}/statefulsets",
            f"/apis/batch/v1/namespaces/{namespace}/jobs",
            f"/api/v1/namespaces/{namespace}/pods",
        )
        deployments, sets, jobs, pods = await asyncio.gather(*(api.items(path) for path in paths))
        return ready.judge([*deployments, *sets], jobs, pods)

    async def pod_of(self, component: str) -> str:
        """The name of a component's pod: a ready one before others, the newest first.

        Raises:
            InfrastructureError: it has none.
        """
        async with connect(self.kubeconfig) as api:
            pods = await api.items(self._pods, labelSelector=f"{NAME_LABEL}={component}")
        live = [pod for pod in pods if "deletionTimestamp" not in pod["metadata"]]
        live = [pod for pod in live if pod["status"].get("phase") not in {"Succeeded", "Failed"}]
        if not live:
            raise InfrastructureError(f"component {component!r}", f"has no pod in namespace {self.namespace!r}")
        return ready.name(max(live, key=lambda pod: (ready.pod_ready(pod), pod["metadata"]["creationTimestamp"])))

    @property
    def _pods(self) -> str:
        return f"/api/v1/namespaces/{self.namespace}/pods"

    async def delete_pod(self, pod: str, *, grace_s: int = 1, deadline_s: float = 60) -> None:
        """Delete a pod and wait until it is gone; one that is gone already is fine.

        Without a grace period the API forgets a pod at once, while its processes still run; so it is a second.

        Raises:
            DeadlineError: it is still there.
        """
        async with connect(self.kubeconfig) as api:

            async def probe() -> tuple[bool, str]:
                try:
                    seen = await api.request("GET", f"{self._pods}/{pod}")
                except ApiError as error:
                    if error.status == GONE:
                        return True, "gone"
                    raise
                return False, str(seen["status"].get("phase"))

            try:
                await api.request("DELETE", f"{self._pods}/{pod}", body={"gracePeriodSeconds": grace_s})
            except ApiError as error:
                if error.status != GONE:
                    raise
            await until_async(f"pod {pod!r} gone", probe, deadline_s=deadline_s)


async def _talk(command: Sequence[str], stdin: bytes, seal: remote.Seal, deadline_s: float | None) -> int:
    """Run kubectl until it ends, or a moment longer than until both seals have come; its own exit status.

    Raises:
        OverrunError: the deadline passed before the command's end was proven.
    """
    sealed = asyncio.Event()

    def sink(stream: Stream, data: bytes) -> None:
        seal(stream, data)
        if seal.status is not None:
            sealed.set()

    talk = asyncio.create_task(
        run_async(command, deadline_s=deadline_s, stdin=stdin, env=DIRECT, sink=sink, check=False)
    )
    waiting = asyncio.create_task(sealed.wait())
    try:
        await asyncio.wait({talk, waiting}, return_when=asyncio.FIRST_COMPLETED)
        if waiting.done():
            await asyncio.wait({talk}, timeout=LINGER_S)
        return (await talk).exit if talk.done() or not waiting.done() else 0
    finally:
        waiting.cancel()
        talk.cancel()
        await asyncio.wait({talk})


def _status(sealed: int | None, kubectl: int, stderr: str) -> tuple[int, str, bool]:
    """A command's exit status, its standard error, and whether that was the command's end.

    Without seals there was no command, or its stream was cut: success then least of all. Only when the shell that
    waits was killed with the command (out of memory, `kill -9 -1`), kubectl's last word is all there is.
    """
    if sealed is not None:
        return sealed, stderr, True
    said = f"command terminated with exit code {kubectl}\n"
    killed = kubectl > SIGNALLED and stderr.endswith(said)
    return kubectl, stderr.removesuffix(said) if killed else stderr, killed
