from incident_arena.analysis.read import Reading
from incident_arena.viewer.detail import detail, trial_timeline


def test_a_failed_trial_names_its_check(reading: Reading):
    trial = next(one for one in reading.trials if one.failure_class == "not durable")

    shown, task = detail(trial)

    assert shown.deciding == "durable"
    assert trial_timeline(trial)
    assert shown.during
    assert task
    assert task.name == trial.task
    assert task.bounds


def test_every_trial_can_be_shown(reading: Reading):
    statuses = {trial.status for trial in reading.trials}
    assert len(statuses) > 3

    for trial in reading.trials:
        shown, _ = detail(trial)
        if trial.status != "judged":
            assert shown.notes
        assert ("Trial", trial.name) in shown.facts
