"""What `arena judge` refuses, and when a report loads what only a judge needs."""

import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from incident_arena.analysis.endpoints import Endpoint
from incident_arena.analysis.judge import Judge
from incident_arena.analysis.simulate import FRAPPE, Plan, SimModel, simulate
from incident_arena.cli import main
from incident_arena.cli.judge import run_judge
from incident_arena.errors import InfrastructureError, UserError


def test_a_judge_of_which_every_answer_failed_is_exit_status_3(tmp_path: Path):
    simulate(tmp_path / "jobs", Plan(tasks=FRAPPE[:1], models=(SimModel("m", efforts=("low",)),), repeats=2, odd=0.0))
    endpoint = Endpoint(api="openai", url="http://127.0.0.1:9/v1", model="m")

    with pytest.raises(InfrastructureError, match="all 2 trials") as failed:
        run_judge([tmp_path / "jobs"], Judge(endpoint=endpoint, name="j", patience_s=0.02, pause_s=0.01))
    assert failed.value.exit_status == 3


def test_an_endpoint_that_is_no_address_is_refused_before_anything_is_read(tmp_path: Path):
    arguments = ["judge", str(tmp_path / "nowhere"), "--model", "m", "--endpoint", "api.example"]
    result = CliRunner().invoke(main.command_line(arguments), arguments)

    assert isinstance(result.exception, UserError)
    assert "no http:// or https:// address" in str(result.exception)


def test_a_report_does_not_wait_for_a_client_of_endpoints():
    """It would cost a quarter of a second of the five that 3,000 trials may take."""
    code = "import sys, incident_arena.cli.report; print({'aiohttp', 'scipy.stats', 'harbor'} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert done.stdout.strip() == "set()"
