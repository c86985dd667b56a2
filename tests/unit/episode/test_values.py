"""Charts are told fresh passwords each time, and the task's overlay never wins over them."""

from pathlib import Path

from tests.support import evidence as evidences

from incident_arena.episode import values


def test_mappings_are_merged_and_the_rest_replaced() -> None:
    under = {"a": {"b": 1, "c": [1, 2]}, "d": 1}
    over = {"a": {"c": [3], "e": 2}, "d": {"f": 1}}
    assert values.merge(under, over) == {"a": {"b": 1, "c": [3], "e": 2}, "d": {"f": 1}}
    assert under == {"a": {"b": 1, "c": [1, 2]}, "d": 1}


def test_an_overlay_without_content_is_fine(tmp_path: Path) -> None:
    (tmp_path / "values.yaml").write_text("# nothing\n")
    assert values.overlay(tmp_path) == {}


def test_accounts_are_those_that_the_charts_name_each_once(tmp_path: Path) -> None:
    (tmp_path / "charts" / "harness").mkdir(parents=True)
    (tmp_path / "charts" / "bare").mkdir()
    (tmp_path / "values.yaml").write_text("accounts: {site: null, app: null}\n")
    (tmp_path / "charts" / "harness" / "values.yaml").write_text("accounts: {operator: null, app: null}\n")
    (tmp_path / "charts" / "bare" / "values.yaml").write_text("# nothing\n")
    assert values.accounts(tmp_path) == ("site", "app", "operator")
    assert values.accounts(tmp_path / "charts") == ()


def test_each_account_gets_a_fresh_password_that_no_overlay_replaces(tmp_path: Path) -> None:
    (tmp_path / "chart").mkdir()
    (tmp_path / "chart" / "values.yaml").write_text("accounts: {site: null, app: null}\n")
    (tmp_path / "values.yaml").write_text("accounts: {site: known}\nweb: {threads: 1}\n")

    def make() -> values.Values:
        return values.make(evidences.task(), tmp_path, episode="e1", images={"web": "web:1"}, api_address="10.0.0.1")

    one, other = make(), make()
    assert set(one["accounts"]) == {"site", "app"}
    assert one["accounts"] == one["global"]["accounts"]
    passwords = [*one["accounts"].values(), *other["accounts"].values(), "known"]
    assert len(set(passwords)) == len(passwords)
    assert one["web"] == {"threads": 1}
    assert one["harness"] == {"cluster": {"apiServer": {"addresses": ["10.0.0.1"]}}}
