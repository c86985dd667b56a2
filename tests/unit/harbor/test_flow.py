"""Whole trials through stock Harbor; only the cluster is a fake. Each trap of Harbor's that concerns us is a test."""

import json
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest
from tests.support import evidence as evidences
from tests.unit.harbor.conftest import NAME, Stage, write_task

from incident_arena import wait
from incident_arena.errors import UserError
from incident_arena.formats.task import Deadlines
from incident_arena.harbor.journal import attempts, job_key


def script(stage: Stage, text: str) -> Path:
    path = stage.tmp / "fix.sh"
    path.write_text(f"#!/bin/bash\n{text}\n")
    return path


def result_of(stage: Stage, trial: str) -> dict[str, object]:
    document: dict[str, object] = json.loads((stage.tmp / "jobs" / "job" / trial / "result.json").read_text())
    return document


def test_a_right_fix_passes_and_everything_happens_in_order(stage: Stage) -> None:
    [one] = stage.play(stage.request(), evidence=stage.evidence())
    assert one.reward == 1, one.reason
    assert (one.gates, one.failure_class, one.admissible) == ({"outcome": "pass", "safety": "pass"}, None, True)
    assert stage.calls == ["start", "freeze", "collect", "stop"]
    trial = Path(one.job_dir) / one.trial
    assert (trial / "agent" / "solved.txt").read_text() == "solved\n"
    assert (trial / "artifacts" / "evidence" / "manifest.json").is_file()
    assert json.loads((trial / "refused-names.json").read_text()) == {"asked-of-dns-filter.example": 1}
    assert json.loads((trial / "verifier" / "reward.json").read_text()) == {"reward": 1, "outcome": 1, "safety": 1}
    assert one.peak_memory_mb == 123
    names = [row.name for row in one.stages]
    assert {"ready", "agent", "soak", "judge"} <= set(names)
    assert len(names) == len(set(names))


def test_root_is_answered_as_the_pods_own_user(stage: Stage) -> None:
    # Harbor made the script executable as root before it ran it, and the script told its user.
    [one] = stage.play(stage.request(), evidence=stage.evidence())
    assert (Path(one.job_dir) / one.trial / "agent" / "oracle.txt").read_text() == "1000\n"


def test_the_agents_pod_gets_nothing_but_the_solution_it_runs(stage: Stage) -> None:
    look = script(stage, "find / -xdev -newer /proc/1 \\( -name task.json -o -name '*.toml' -o -name test.sh \\)")
    [one] = stage.play(stage.request(scripts=(look,)), evidence=stage.evidence())
    assert (Path(one.job_dir) / one.trial / "agent" / "script.txt").read_text() == ""


@pytest.mark.parametrize("agent", ["script", "oracle"])
def test_a_script_finds_the_applications_library_beside_it(stage: Stage, agent: str) -> None:
    sourcing = '#!/bin/bash\n. "$(dirname "$0")/library.sh"\nshared\n'
    (stage.catalogue.substrate("frappe") / "library.sh").write_text("shared() { echo shared; }\n")
    (stage.catalogue.folder(NAME) / "solution" / "solve.sh").write_text(sourcing)
    scripts = (script(stage, sourcing),) if agent == "script" else ()
    [one] = stage.play(stage.request(scripts=scripts), evidence=stage.evidence())
    assert (Path(one.job_dir) / one.trial / "agent" / f"{agent}.txt").read_text() == "shared\n"


def test_a_script_runs_as_the_solution_does_and_its_exit_status_is_kept(stage: Stage) -> None:
    fix = script(stage, "id -u; echo $0; exit 9")
    [one] = stage.play(stage.request(scripts=(fix,)), evidence=stage.evidence(declared=None))
    agent = Path(one.job_dir) / one.trial / "agent"
    assert (agent / "script.txt").read_text() == "1000\n/solution/fix.sh\n"
    assert (agent / "exit-code.txt").read_text() == "9"
    assert (one.agent, one.reward, one.failure_class) == ("script", 0, "never declared")


def test_doing_nothing_scores_nothing(stage: Stage) -> None:
    nothing = stage.evidence(fixed=dict.fromkeys(evidences.FAULTS), declared=None)
    [one] = stage.play(stage.request(agent="nop"), evidence=nothing)
    assert (one.reward, one.failure_class, one.admissible) == (0, "never declared", True)
    assert "cause or damage left" in one.inclusive


def test_a_failed_start_is_retried_counted_and_never_a_zero(stage: Stage) -> None:
    [one] = stage.play(stage.request(max_retries=1), evidence=stage.evidence(), fail=1)
    assert (one.reward, one.attempts, one.admissible) == (1, 2, True)
    assert stage.calls == ["start", "stop", "start", "freeze", "collect", "stop"]
    first, second = attempts(stage.settings.records, job_key(Path(one.job_dir)), one.trial)
    assert (first.state, first.task, first.stages[0].ok) == ("inadmissible", NAME, False)
    assert "CrashLoopBackOff" in first.reason
    assert second.state == "stopped"
    [line] = (Path(one.job_dir) / "arena-records.jsonl").read_text().splitlines()
    assert json.loads(line)["admissible"] is False
    assert json.loads(line)["trial"] == one.trial


def test_an_episode_that_never_starts_has_no_reward_and_is_not_gathered(stage: Stage) -> None:
    [one] = stage.play(stage.request(max_retries=1), evidence=stage.evidence(), fail=9)
    assert (one.reward, one.attempts, one.admissible) == (None, 2, False)
    assert "CrashLoopBackOff" in one.reason
    assert stage.calls == ["start", "stop", "start", "stop"]
    assert not list((Path(one.job_dir) / one.trial).rglob("reward.*"))


def test_unfinished_evidence_has_no_reward_and_is_not_played_again(stage: Stage) -> None:
    def unfinished(episode: evidences.Episode) -> None:
        episode.complete = False

    [one] = stage.play(stage.request(max_retries=2), evidence=stage.evidence(unfinished))
    assert (one.reward, one.attempts) == (None, 1)
    assert "the queue's pod was gone" in one.reason
    assert result_of(stage, one.trial)["exception_info"]["exception_type"] == "RewardFileNotFoundError"  # type: ignore[index]


def test_missing_evidence_has_no_reward(stage: Stage) -> None:
    [one] = stage.play(stage.request())
    assert one.reward is None
    assert "manifest.json" in one.reason


def test_an_agent_past_its_deadline_is_stopped_and_judged(stage: Stage, spec: object) -> None:
    del spec
    task = evidences.task().model_copy(update={"deadlines": Deadlines(agent=2)})
    write_task(stage.catalogue.root, task)
    endless = script(stage, "while true; do date +%s > /logs/agent/alive; sleep 0.2; done")
    [one] = stage.play(stage.request(scripts=(endless,), max_retries=2), evidence=stage.evidence(declared=None))
    assert (one.reward, one.failure_class, one.attempts) == (0, "never declared", 1)
    assert result_of(stage, one.trial)["exception_info"]["exception_type"] == "AgentTimeoutError"  # type: ignore[index]
    assert stage.calls == ["start", "freeze", "collect", "stop"]


def test_an_agent_that_breaks_its_own_pod_is_judged_not_played_again(stage: Stage) -> None:
    # The pod's process namespace ends with it, as the container would.
    [one] = stage.play(
        stage.request(scripts=(script(stage, "kill -9 -1; sleep 5"),), max_retries=2), evidence=stage.evidence()
    )
    assert (one.attempts, one.reward) == (1, 1)


def test_two_trials_at_once(stage: Stage) -> None:
    both = stage.play(
        stage.request(trials=2, parallel=2, scripts=(script(stage, "sleep 2"),)), evidence=stage.evidence()
    )
    assert [one.reward for one in both] == [1, 1]
    assert stage.calls[:2] == ["start", "start"]
    cpus = {json.loads(path.read_text()) for path in stage.settings.records.rglob("cpus")}
    assert cpus == {max(1, (os.cpu_count() or 1) // 2)}
    assert len({one.trial for one in both}) == 2


@pytest.mark.parametrize("seal", [True, False])
def test_a_seal_that_is_asked_for_reaches_the_episode(stage: Stage, *, seal: bool) -> None:
    def sealed(episode: evidences.Episode) -> None:
        if seal:
            episode.seal("the agent never declared")

    [one] = stage.play(stage.request(agent="nop", seal=seal), evidence=stage.evidence(sealed, declared=None))
    assert (one.reward, one.failure_class) == (0, "never declared")
    assert [json.loads(path.read_text()) for path in stage.settings.records.rglob("seal")] == [seal]


def test_an_interrupted_trial_is_torn_down_without_gathering(stage: Stage) -> None:
    endless = script(stage, "touch /logs/agent/running; sleep 300")

    def interrupt() -> None:
        pods = stage.settings.home / "pods"
        wait.until("the script runs", lambda: (any(pods.rglob("running")), ""), deadline_s=30)
        os.kill(os.getpid(), signal.SIGTERM)

    killer = threading.Thread(target=interrupt)
    killer.start()
    with pytest.raises(KeyboardInterrupt):
        stage.play(stage.request(scripts=(endless,)), evidence=stage.evidence())
    killer.join()
    assert stage.calls == ["start", "stop"]
    assert not any(stage.settings.home.glob("pods/*"))


def test_an_interrupted_start_is_torn_down(stage: Stage) -> None:
    def interrupt() -> None:
        wait.until("it starts", lambda: ("start" in stage.calls, ""), deadline_s=30)
        time.sleep(0.5)
        os.kill(os.getpid(), signal.SIGTERM)

    killer = threading.Thread(target=interrupt)
    killer.start()
    with pytest.raises(KeyboardInterrupt):
        stage.play(stage.request(), hang=True)
    killer.join()
    assert stage.calls == ["start", "stop"]


def test_regrade_gives_the_same_verdict_without_node_or_records(stage: Stage, tmp_path: Path) -> None:
    request = stage.request()
    [one] = stage.play(request, evidence=stage.evidence(saved=False))
    assert one.failure_class == "not durable"
    argv = [
        f"{sys.prefix}/bin/harbor", "job", "regrade", one.job_dir, "-p", str(request.tasks[0]),
        "-e", "incident_arena.harbor:JudgeEnvironment", "-o", str(tmp_path / "again"), "--job-name", "again",
    ]  # fmt: skip
    environment = {**os.environ, "ARENA_HOME": "/nonexistent", "HARBOR_TELEMETRY": "0"}
    ended = subprocess.run(argv, env=environment, capture_output=True, text=True, timeout=100, check=False)
    assert ended.returncode == 0, ended.stdout + ended.stderr
    [verdict] = (tmp_path / "again" / "again").rglob("verdict.json")
    first = Path(one.job_dir) / one.trial / "verifier" / "verdict.json"
    assert json.loads(verdict.read_text()) == json.loads(first.read_text())
    assert not Path("/nonexistent").exists()


def test_an_unknown_agent_lists_the_known(stage: Stage) -> None:
    with pytest.raises(UserError, match="oracle"):
        stage.play(stage.request(agent="nobody"))


def test_several_scripts_are_told_apart(stage: Stage) -> None:
    one, two = stage.tmp / "one.sh", stage.tmp / "two.sh"
    for path in (one, two):
        path.write_text(f"#!/bin/sh\necho {path.stem}\n")
    outcomes = stage.play(stage.request(scripts=(one, two), parallel=2), evidence=stage.evidence())
    said = {out.script: (Path(out.job_dir) / out.trial / "agent" / "script.txt").read_text() for out in outcomes}
    assert said == {str(one): "one\n", str(two): "two\n"}


def test_more_trials_at_once_than_the_machine_bears_are_refused(stage: Stage) -> None:
    with pytest.raises(UserError, match="99 trials at once"):
        stage.play(stage.request(parallel=99))
