import os

import pytest

from incident_arena.formats.records import Intent, Outcome
from incident_arena.ledger import reading
from incident_arena.ledger.reading import LedgerError
from incident_arena.ledger.writing import Ledger

ONE = Intent(id=1, kind="read", due=1.0, at=1.0)
END = Outcome(id=1, kind="read", due=1.0, at=2.0, result="ok", latency=1.0)


def test_a_line_is_there_as_soon_as_it_is_written(tmp_path):
    ledger = Ledger(tmp_path / "l")
    ledger.write(ONE)
    assert reading.read(tmp_path / "l") == [ONE]
    ledger.close()


def test_it_goes_on_after_what_is_there_and_cuts_a_line_without_an_end(tmp_path):
    path = tmp_path / "l"
    whole = ONE.model_dump_json().encode() + b"\n"
    path.write_bytes(whole + END.model_dump_json().encode()[:20])
    ledger = Ledger(path)
    assert ledger.before == [ONE]
    ledger.write(END)
    ledger.close()
    assert reading.read(path) == [ONE, END]


def test_it_refuses_another_file(tmp_path):
    (tmp_path / "l").write_text("not a ledger\n")
    with pytest.raises(LedgerError, match="line 1"):
        Ledger(tmp_path / "l")
    with pytest.raises(LedgerError, match="can't be opened"):
        Ledger(tmp_path)


def test_a_full_disk_is_an_error(tmp_path):
    ledger = Ledger(tmp_path / "l")
    full = os.open("/dev/full", os.O_WRONLY)
    os.dup2(full, ledger._file)
    with pytest.raises(LedgerError, match="can't be written: No space left"):
        ledger.write(ONE)
