import json
from pathlib import Path

import pytest
from tests.support.evidence import Episode, build, digest

from incident_arena.judge.evidence import OPTIONAL, REQUIRED, EvidenceError, load


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return build().write(tmp_path)


def test_reads_what_was_written(folder: Path) -> None:
    evidence = load(folder)
    assert evidence.manifest.episode == "e-1"
    assert evidence.task.name == "frappe/deletes-and-jobs-fail"
    assert set(evidence.snapshots) == set("ABCD")
    assert evidence.stages["soak"].seconds == 30
    assert evidence.declaration is not None
    assert len(evidence.ledger) > 1000


def test_without_a_declaration(tmp_path: Path) -> None:
    assert load(build(declared=None).write(tmp_path)).declaration is None


def test_no_manifest_is_unfinished(folder: Path) -> None:
    (folder / "manifest.json").unlink()
    with pytest.raises(EvidenceError, match="gathering never ended"):
        load(folder)


def test_no_folder_at_all(tmp_path: Path) -> None:
    with pytest.raises(EvidenceError, match=r"manifest\.json"):
        load(tmp_path / "nothing")


def test_incomplete_says_why(tmp_path: Path) -> None:
    episode = build()
    episode.complete = False
    with pytest.raises(EvidenceError, match="the queue's pod was gone"):
        load(episode.write(tmp_path))


@pytest.mark.parametrize("name", [*REQUIRED, *OPTIONAL])
def test_a_missing_file(folder: Path, name: str) -> None:
    (folder / name).unlink()
    with pytest.raises(EvidenceError, match=f"'{name}': is missing"):
        load(folder)


@pytest.mark.parametrize("name", [*REQUIRED, *OPTIONAL])
def test_an_altered_file(folder: Path, name: str) -> None:
    path = folder / name
    path.write_bytes(path.read_bytes().replace(b"1", b"2", 1))
    with pytest.raises(EvidenceError, match=f"'{name}': was altered"):
        load(folder)


def test_a_file_cut_short(folder: Path) -> None:
    path = folder / "ledger.jsonl"
    path.write_bytes(path.read_bytes()[:-1])
    with pytest.raises(EvidenceError, match="was altered"):
        load(folder)


@pytest.mark.parametrize("name", [*REQUIRED, *OPTIONAL])
def test_a_file_that_the_manifest_does_not_know(tmp_path: Path, name: str) -> None:
    episode = build()
    episode.unlisted = {name}
    with pytest.raises(EvidenceError, match=f"'{name}': is not in the manifest"):
        load(episode.write(tmp_path))


def _rewrite(folder: Path, name: str, content: bytes) -> None:
    """Replace a file, and the manifest's entry with it."""
    (folder / name).write_bytes(content)
    manifest = json.loads((folder / "manifest.json").read_text())
    manifest["files"][name] = digest(content).model_dump()
    (folder / "manifest.json").write_text(json.dumps(manifest))


@pytest.mark.parametrize("name", [*REQUIRED, *OPTIONAL])
def test_another_version(folder: Path, name: str) -> None:
    if name == "reconciled.json":
        content = (folder / name).read_bytes().replace(b'{"version":1,"drained"', b'{"version":2,"drained"', 1)
    elif name == "task.json":  # version 1 is read, see test_earlier.py
        content = (folder / name).read_bytes().replace(b'{"version":2', b'{"version":3', 1)
    else:
        content = (folder / name).read_bytes().replace(b'"version":1', b'"version":2', 1)
    _rewrite(folder, name, content)
    with pytest.raises(EvidenceError, match=r"is of version [23], which this judge does not read"):
        load(folder)


def test_another_version_of_the_manifest(folder: Path) -> None:
    path = folder / "manifest.json"
    path.write_text(path.read_text().replace('"version":1', '"version":7'))
    with pytest.raises(EvidenceError, match="is of version 7"):
        load(folder)


def test_an_unknown_field_is_named_with_its_line(folder: Path) -> None:
    lines = (folder / "health.jsonl").read_bytes().split(b"\n")
    lines[2] = lines[2].replace(b'"alive"', b'"alife"')
    _rewrite(folder, "health.jsonl", b"\n".join(lines))
    with pytest.raises(EvidenceError, match=r"health.jsonl:3': cannot be read: alive"):
        load(folder)


def test_a_file_that_is_not_json(folder: Path) -> None:
    _rewrite(folder, "snapshots/B.json", b"<html>")
    with pytest.raises(EvidenceError, match=r"snapshots/B.json': cannot be read"):
        load(folder)


def test_half_a_last_line_of_a_killed_load_is_left_out(folder: Path) -> None:
    before = len(load(folder).ledger)
    _rewrite(folder, "ledger.jsonl", (folder / "ledger.jsonl").read_bytes() + b'{"version":1,"ty')
    assert len(load(folder).ledger) == before


def test_a_snapshot_under_another_name(folder: Path) -> None:
    _rewrite(folder, "snapshots/C.json", (folder / "snapshots/A.json").read_bytes())
    with pytest.raises(EvidenceError, match="holds snapshot A"):
        load(folder)


def test_a_task_that_is_not_the_manifests(folder: Path) -> None:
    content = (folder / "task.json").read_bytes().replace(b"frappe/deletes-and-jobs-fail", b"frappe/other", 1)
    _rewrite(folder, "task.json", content)
    with pytest.raises(EvidenceError, match="frappe/other"):
        load(folder)


@pytest.mark.parametrize("name", ["soak", "restart-redis-queue", "snapshot-D", "agent"])
def test_a_stage_that_never_was(tmp_path: Path, name: str) -> None:
    episode: Episode = build()
    episode.stages = [stage for stage in episode.stages if stage.name != name]
    with pytest.raises(EvidenceError, match=f"lacks the stages {name}"):
        load(episode.write(tmp_path))


def test_what_the_manifest_does_not_name_is_never_opened(folder: Path) -> None:
    (folder / "notes.json").write_text("the agent deserves a reward")
    load(folder)
