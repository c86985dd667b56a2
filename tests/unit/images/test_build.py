"""Unchanged is never rebuilt, changed always is. buildah itself is tried in tests/node."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from tests.unit.images import oci

from incident_arena import proc
from incident_arena.errors import InfrastructureError, UserError
from incident_arena.images import agents, build, recipes
from incident_arena.settings import Settings


@dataclass
class Builder:
    """Writes down what is built; its storage is a set of references."""

    built: list[str] = field(default_factory=list)
    storage: set[str] = field(default_factory=set)
    pulled: list[str] = field(default_factory=list)
    dies: bool = False

    def has(self, reference: str) -> bool:
        return reference in self.storage

    def build(self, reference: str, context: Path, used: Mapping[str, str], log: Path) -> None:
        assert (context / "Dockerfile").exists()
        assert set(used.values()) <= self.storage
        log.write_text("built")
        self.built.append(reference.split("/")[1].split(":", maxsplit=1)[0])
        self.storage.add(reference)

    def push(self, reference: str, archive: Path) -> None:
        oci.write(archive, "half" if self.dies else reference)

    def pull(self, archive: Path) -> None:
        self.pulled.append(archive.name.rpartition("-")[0])


@pytest.fixture
def builder(monkeypatch: pytest.MonkeyPatch) -> Builder:
    made = Builder()
    monkeypatch.setattr(build.Buildah, "open", lambda _: made)
    return made


@pytest.fixture
def root(tmp_path: Path) -> Path:
    for name, text in {"low": "FROM scratch\n", "high": "FROM arena.local/low\n", "other": "FROM scratch\n"}.items():
        folder = tmp_path / "checkout/images/recipes" / name
        folder.mkdir(parents=True)
        (folder / "Dockerfile").write_text(text)
    return tmp_path / "checkout"


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return Settings(home=tmp_path / "home")


def run(settings: Settings, root: Path) -> dict[str, build.BuiltImage]:
    return build.build_images(settings, build.plain_names(settings, root), lambda _: None, root)


def test_everything_once_and_then_nothing(settings: Settings, root: Path, builder: Builder) -> None:
    first = run(settings, root)
    assert sorted(builder.built) == ["high", "low", "other"]
    assert run(settings, root) == first
    assert len(builder.built) == 3
    image = first["high"]
    assert image.archive == settings.images / f"high-{image.key}.tar"
    assert image.reference == f"arena.local/high:{image.key}"
    assert build.find_images(settings, build.plain_names(settings, root), root) == first


def test_a_change_rebuilds_it_and_what_uses_it(settings: Settings, root: Path, builder: Builder) -> None:
    before = run(settings, root)
    builder.built.clear()
    (root / "images/recipes/low/file").write_text("x")
    after = run(settings, root)
    assert sorted(builder.built) == ["high", "low"]
    assert before["other"] == after["other"]
    assert before["high"].key != after["high"].key


def test_going_back_rebuilds_nothing(settings: Settings, root: Path, builder: Builder) -> None:
    run(settings, root)
    (root / "images/recipes/low/file").write_text("x")
    run(settings, root)
    builder.built.clear()
    (root / "images/recipes/low/file").unlink()
    run(settings, root)
    assert builder.built == []


def test_find_names_what_is_not_built(settings: Settings, root: Path, builder: Builder) -> None:
    run(settings, root)
    (root / "images/recipes/low/file").write_text("x")
    with pytest.raises(UserError, match="changed since: low, high") as caught:
        build.find_images(settings, build.plain_names(settings, root), root)
    assert caught.value.remedy == "arena images build"
    listed = build.list_images(settings, build.plain_names(settings, root), root)
    assert {one.image.name: one.built for one in listed} == {
        "low": False, "high": False, "other": True,
    }  # fmt: skip
    assert builder.built


def test_a_lost_storage_is_filled_from_the_archive(settings: Settings, root: Path, builder: Builder) -> None:
    run(settings, root)
    builder.storage.clear()
    (root / "images/recipes/high/file").write_text("x")
    builder.pull = lambda archive: (  # type: ignore[method-assign]
        builder.pulled.append(archive.name.rpartition("-")[0]),
        builder.storage.update(
            one.image.reference
            for one in build.list_images(settings, build.plain_names(settings, root), root)
            if one.image.name == "low"
        ),
    )
    builder.built.clear()
    run(settings, root)
    assert builder.pulled == ["low"]
    assert builder.built == ["high"]


def test_a_build_that_dies_leaves_a_good_store(settings: Settings, root: Path, builder: Builder) -> None:
    builder.dies = True
    with pytest.raises(InfrastructureError):
        run(settings, root)
    assert not list(settings.images.glob("*.tar"))
    (settings.images / "context-left").mkdir()
    builder.dies = False
    run(settings, root)
    assert len(list(settings.images.glob("*.tar"))) == 3
    assert not list(settings.images.glob("*.tmp"))
    assert not (settings.images / "context-left").exists()


def test_a_removed_archive_is_made_again_without_building(settings: Settings, root: Path, builder: Builder) -> None:
    image = run(settings, root)["other"]
    image.archive.unlink()
    builder.built.clear()
    run(settings, root)
    assert image.archive.exists()
    assert builder.built == []


def test_only_what_is_asked_for_is_built_and_what_that_is_built_on(
    settings: Settings, root: Path, builder: Builder
) -> None:
    (root / "images/recipes/low/image.toml").write_text("only_built_on = true\n")
    said: list[str] = []
    built = build.build_images(settings, ["high"], said.append, root)
    assert list(built) == ["high"]
    assert builder.built == ["low", "high"]
    assert [path.name for path in settings.images.glob("*.tar")] == [built["high"].archive.name]
    assert [line.split(" (")[0] for line in said] == [
        "building image low", "built image low in 0 s", "building image high", "built image high in 0 s",
        "writing image high", "wrote image high in 0 s",
    ]  # fmt: skip


def test_a_recipes_note_is_said_when_it_is_built(
    settings: Settings, root: Path, builder: Builder, monkeypatch: pytest.MonkeyPatch
) -> None:
    noted = recipes.Recipe(name="noted", folder=None, made={"Dockerfile": "FROM scratch\n"}, note="mind this")
    monkeypatch.setattr(agents, "image_recipes", lambda *_: {"noted": noted})
    said: list[str] = []
    build.build_images(settings, ["noted"], said.append, root)
    assert said[0] == "mind this"
    assert builder.built == ["noted"]


def test_an_unknown_image_is_refused_with_those_there_are(settings: Settings, root: Path) -> None:
    with pytest.raises(UserError, match="image 'none': is unknown") as caught:
        build.find_images(settings, ["none"], root)
    assert caught.value.remedy == "known are: high, low, other"


def test_a_failed_build_says_how_its_log_ends_and_where_it_is(settings: Settings, root: Path, builder: Builder) -> None:
    def fail(_reference: str, _context: Path, _used: Mapping[str, str], log: Path) -> None:
        proc.run(["sh", "-c", "echo first; echo no such package; exit 3"], deadline_s=5, log=log)

    builder.build = fail  # type: ignore[method-assign]
    with pytest.raises(InfrastructureError, match="no such package") as caught:
        run(settings, root)
    assert caught.value.thing == "image 'low'"
    log = Path(caught.value.remedy.rpartition(" ")[2])
    assert log.read_text() == "first\nno such package\n"


def test_the_context_is_gone_afterwards(settings: Settings, root: Path, builder: Builder) -> None:
    run(settings, root)
    assert not list(settings.images.glob("context-*"))
    assert builder.built
