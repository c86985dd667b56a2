"""Job folders for the viewer's tests, from the simulator."""

from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from incident_arena.analysis.cost import load_prices
from incident_arena.analysis.read import Reading, read_jobs
from incident_arena.analysis.report import Report
from incident_arena.analysis.report import build as build_report
from incident_arena.analysis.simulate import FRAPPE, MODELS, Plan, simulate
from incident_arena.formats.records import Record
from incident_arena.viewer.build import Built, build


@pytest.fixture(scope="session")
def jobs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """60 trials of two models with evidence and transcripts, some of them not judged."""
    folder = tmp_path_factory.mktemp("jobs")
    simulate(folder, Plan(tasks=FRAPPE, models=MODELS[:2], repeats=1, odd=0.2, evidence=True, steps=5))
    return folder


@pytest.fixture(scope="session")
def reading(jobs: Path) -> Reading:
    return read_jobs([jobs])


@pytest.fixture(scope="session")
def report(reading: Reading) -> Report:
    return build_report(reading, load_prices())


@pytest.fixture
def make(reading: Reading, report: Report, tmp_path: Path) -> Callable[[], Built]:
    return lambda: build(reading, report, load_prices(), tmp_path / "page.html")


@pytest.fixture
def evidence(tmp_path: Path) -> Callable[..., Path]:
    """Writes an evidence folder of the records given, by file name."""

    def write(**files: Sequence[Record]) -> Path:
        for name, records in files.items():
            lines = "".join(record.model_dump_json() + "\n" for record in records)
            (tmp_path / f"{name}.jsonl").write_text(lines)
        return tmp_path

    return write
