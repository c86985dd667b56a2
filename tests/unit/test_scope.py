import pytest
from hypothesis import given
from hypothesis import strategies as st

from incident_arena.formats.records import Scalar, Snapshot
from incident_arena.formats.task import Permit
from incident_arena.scope import allows, changed, differences, glob, matches, same


def snapshot(facts: dict[str, Scalar]) -> Snapshot:
    return Snapshot(label="B", taken=1, seconds=1, facts={"mariadb": facts})


@pytest.mark.parametrize(
    ("pattern", "path", "expected"),
    [
        ("a/b", "a/b", True),
        ("a/b", "a/b/c", False),
        ("a/b/c", "a/b", False),
        ("a/*", "a/b", True),
        ("a/*", "a/b/c", False),
        ("a/*", "a", False),
        ("a/b*d/e", "a/bcd/e", True),
        ("a/b*d/e", "a/bc/e", False),
        ("a/**", "a", True),
        ("a/**", "a/b/c", True),
        ("a/**/z", "a/z", True),
        ("a/**/z", "a/b/c/z", True),
        ("a/**/z", "a/b/c/y", False),
        ("**", "", True),
        ("**/z", "a/b/z", True),
        ("a/site.x", "a/siteyx", False),
        ("a/[bc]", "a/b", False),
        (r"a/~\*", "a/~*", True),
        (r"a/~\*", "a/~x", False),
        (r"a/~\**", "a/~*x", True),
    ],
)
def test_matches(*, pattern: str, path: str, expected: bool) -> None:
    assert matches(pattern, path) is expected


def test_glob_crosses_everything() -> None:
    assert glob("admin/scale *0}", 'admin/scale {"component":"a/b","replicas":0}')
    assert not glob("admin/scale *0}", 'admin/scale {"component":"a","replicas":10},')


@given(st.lists(st.text(st.characters(blacklist_characters="/*\\"), min_size=1), min_size=1, max_size=5))
def test_a_path_without_stars_matches_itself_and_no_other(segments: list[str]) -> None:
    path = "/".join(segments)
    assert matches(path, path)
    assert matches("**", path)
    assert not matches(path, path + "/more")
    assert not matches(path, path + "x")


@pytest.mark.parametrize(
    ("left", "right", "expected"),
    [(True, 1, False), (False, 0, False), (1, 1.0, True), ("1", 1, False), (None, None, True), (None, "", False)],
)
def test_same_minds_types(*, left: Scalar, right: Scalar, expected: bool) -> None:
    assert same(left, right) is expected


def test_changed_names_what_came_went_and_differs() -> None:
    before, after = snapshot({"a": 1, "b": 1, "c": 1}), snapshot({"b": 2, "c": 1, "d": 1})
    assert changed(before, after) == (("mariadb/a", 1, None), ("mariadb/b", 1, 2), ("mariadb/d", None, 1))


def test_a_permit_allows_exactly_its_values() -> None:
    permit = Permit(rule="r", path="mariadb/a", before=[1], after=[2, 3])
    assert allows(permit, "mariadb/a", 1, 2)
    assert allows(permit, "mariadb/a", 1, 3)
    assert not allows(permit, "mariadb/a", 1, 4)
    assert not allows(permit, "mariadb/a", 0, 2)
    assert not allows(permit, "mariadb/b", 1, 2)
    assert not allows(permit, "mariadb/a", True, 2)
    assert not allows(permit, "mariadb/a", 1, None)


def test_a_permit_without_values_allows_any() -> None:
    permit = Permit(rule="r", path="mariadb/a")
    assert allows(permit, "mariadb/a", 1, None)
    assert allows(permit, "mariadb/a", None, "x")


def test_differences_carry_the_rule_that_allows_them() -> None:
    permits = [Permit(rule="first", path="mariadb/a", after=[2]), Permit(rule="second", path="mariadb/*", after=[2, 3])]
    found = differences(snapshot({"a": 1, "b": 1, "c": 1}), snapshot({"a": 2, "b": 3, "c": 4}), permits)
    assert [(one.path, one.permitted, one.rule) for one in found] == [
        ("mariadb/a", True, "first"),
        ("mariadb/b", True, "second"),
        ("mariadb/c", False, ""),
    ]


facts = st.dictionaries(st.sampled_from("abcdef"), st.one_of(st.none(), st.booleans(), st.integers(0, 2)))


@given(facts, facts)
def test_no_difference_to_itself_and_the_same_paths_both_ways(one: dict[str, Scalar], other: dict[str, Scalar]) -> None:
    assert changed(snapshot(one), snapshot(one)) == ()
    there = changed(snapshot(one), snapshot(other))
    back = changed(snapshot(other), snapshot(one))
    assert [(path, after, before) for path, before, after in there] == list(back)
