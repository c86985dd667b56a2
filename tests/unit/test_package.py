"""The version stands in two places; they agree."""

import tomllib
from pathlib import Path

import incident_arena


def test_the_version_is_that_of_the_project_file() -> None:
    project = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text())
    assert incident_arena.__version__ == project["project"]["version"]
