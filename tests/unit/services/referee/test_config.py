from pathlib import Path

import pytest

from incident_arena.errors import UserError
from incident_arena.services.referee.config import Config

REQUIRED = {"EPISODE": "e", "MARIADB_PASSWORD": "m", "REDIS_PASSWORD": "r", "LOAD_TOKEN": "l"}


def test_defaults_are_those_of_the_pod() -> None:
    config = Config.from_environment(REQUIRED)
    assert config.task_file == Path("/task/task.json")
    assert config.ledger == Path("/ledger/ledger.jsonl")
    assert (config.mariadb_host, config.mariadb_port, config.redis_user) == ("mariadb", 3306, "referee")


def test_all_that_is_wrong_comes_at_once() -> None:
    with pytest.raises(UserError) as raised:
        Config.from_environment({"EPISODE": "e", "REDIS_PORT": "tcp://10.0.0.1:6379", "LOAD_TOKEN": ""})
    for told in ("MARIADB_PASSWORD", "REDIS_PASSWORD", "LOAD_TOKEN", "REDIS_PORT=tcp://10.0.0.1:6379"):
        assert told in str(raised.value)
    assert "EPISODE" not in str(raised.value)
