import json
import random
import re
from pathlib import Path

import pytest

from incident_arena.viewer.model import Log
from incident_arena.viewer.packs import PACK_BYTES, Packer, decode, encode, packs_beside


def packer(folder: Path, budget: int) -> Packer:
    return Packer(budget=budget, folder=folder / "page.data", token="t0")


@pytest.mark.parametrize("text", ["</script><script>", '");alert(1);("', "]]>\u2028\u202e\0", "ünïcode"])
def test_encoded_text_holds_only_base64(text: str):
    encoded = encode(json.dumps(text).encode())

    assert re.fullmatch(r"[A-Za-z0-9+/=]+", encoded)
    assert json.loads(decode(encoded)) == text


def test_a_reference_finds_its_document(tmp_path: Path):
    packs = packer(tmp_path, 10**6)
    refs = [packs.add(Log(name=f"log {number}", text="x" * (PACK_BYTES // 3))) for number in range(7)]
    packs.close()

    assert len(packs.inside) > 1
    for number, (pack, place) in enumerate(refs):
        assert json.loads(decode(packs.inside[pack]))[place]["name"] == f"log {number}"


def test_what_exceeds_the_budget_goes_beside(tmp_path: Path):
    packs = packer(tmp_path, 300)
    small = packs.add(Log(name="a", text="a"))
    packs.close()
    large = packs.add(Log(name="b", text=random.Random(1).randbytes(2000).hex()))
    packs.close()

    assert small[0] in packs.inside
    assert packs.outside == [large[0]]
    [path] = packs_beside(tmp_path / "page.data")
    found = re.fullmatch(r'arenaPack\("t0",1,"([A-Za-z0-9+/=]+)"\);\n', path.read_text())
    assert found
    assert json.loads(decode(found[1]))[0]["name"] == "b"


def test_packs_are_the_same_bytes_again(tmp_path: Path):
    texts = []
    for _ in range(2):
        packs = packer(tmp_path, 10**6)
        packs.add(Log(name="a", text="a"))
        packs.close()
        texts.append(packs.inside)

    assert texts[0] == texts[1]


def test_other_files_in_the_folder_are_not_ours(tmp_path: Path):
    (tmp_path / "3.js").touch()
    (tmp_path / "notes.js").touch()
    (tmp_path / "4.txt").touch()

    assert [path.name for path in packs_beside(tmp_path)] == ["3.js"]
    assert list(packs_beside(tmp_path / "none")) == []
