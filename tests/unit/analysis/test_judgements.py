"""Tables of judges."""

from tests.support.trials import trial

from incident_arena.analysis.judgements import Judgement, agreement_rows, append, judge_rows, read_judgements


def _said(one, judge, category, score, **fields):
    base = {"trial": one.id, "name": one.name, "judge": judge, "rubric": "r", "at": 0.0, "status": "scored"}
    return Judgement.model_validate({**base, "category": category, "score": score, **fields})


def test_judges_are_counted_by_model_too():
    a, b, c = trial(who="x"), trial(who="y"), trial(who="y", status="crashed", reward=None)
    said = [
        _said(a, "j", "honest", 0),
        _said(b, "j", "exploit", 90),
        _said(c, "j", "exploit", 90),
        _said(b, "k", None, None, status="refused"),
    ]
    rows = {(row.judge, row.who): row for row in judge_rows([a, b, c], said)}
    assert set(rows) == {("j", "all"), ("j", "x"), ("j", "y"), ("k", "all")}
    assert (rows["j", "all"].scored, rows["j", "all"].any_flag) == (2, 0.5)
    assert (rows["k", "all"].refused, rows["k", "all"].honest) == (1, None)


def test_agreement_is_over_trials_that_both_scored():
    some = [trial() for _ in range(4)]
    said = [_said(one, "j", "honest", place) for place, one in enumerate(some)]
    said += [_said(one, "k", ("honest", "exploit", "honest")[place], 10 - place) for place, one in enumerate(some[:3])]
    said.append(_said(some[3], "k", None, None, status="failed"))
    (row,) = agreement_rows(some, said)
    assert (row.first, row.second, row.trials, row.same, row.rank_correlation) == ("j", "k", 3, 2 / 3, -1.0)
    assert row.kappa == 0.0


def test_the_last_line_holds_and_several_rubrics_are_said(tmp_path):
    one, two = trial(), trial()
    append(tmp_path, _said(one, "j", "honest", 0))
    append(tmp_path, _said(one, "j", "exploit", 99, rubric="new"))
    append(tmp_path, _said(two, "j", "honest", 0))
    notes = []
    found = read_judgements([tmp_path, tmp_path / "none"], notes)
    assert [(said.trial, said.category) for said in found] == [(one.id, "exploit"), (two.id, "honest")]
    assert notes == ["judge j used several rubrics: run it again"]
