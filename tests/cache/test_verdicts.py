# SPDX-License-Identifier: Apache-2.0
"""A report comes from the cache only if everything is as it was; then every form of report has the same bytes."""

from __future__ import annotations

import contextlib
import io
import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from google.protobuf import text_format
from support.models.clean_model import clean_proto
from support.project.fixture_files import FIXTURES

from onnx_lint import schema
from onnx_lint.cache import identity, verdicts
from onnx_lint.cache.store import DATABASE
from onnx_lint.cache.verdicts import FileCheck, Verdicts
from onnx_lint.cli.application import run
from onnx_lint.common.record import replace
from onnx_lint.engine.lint import lint_file
from onnx_lint.engine.selection import report_of
from onnx_lint.engine.settings import Settings
from onnx_lint.ir.tensors.data_folder import DataFolder
from onnx_lint.report import Context
from onnx_lint.report.file_report import FileReport, InternalError
from onnx_lint.reporters import REPORTERS, write_report

SETTINGS = Settings(pedantic=True)


def model_bytes(name: str = "graph", *, location: str | None = None, integer: bool = False) -> bytes:
    model = clean_proto("Reshape" if integer else "Add", size=4, location=location or "none")
    model.graph.name = name
    weight = model.graph.initializer[0]
    if integer:
        weight.data_type, weight.dims[:] = 7, [1]
    if location is None:
        weight.ClearField("data_location")
        weight.ClearField("external_data")
        weight.raw_data = bytes(16)
    return bytes(model.SerializeToString())


@pytest.fixture
def cache(tmp_path: Path) -> Iterator[Verdicts]:
    made = Verdicts(str(tmp_path))
    yield made
    made.close()


@pytest.fixture
def settled(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every file was last changed long ago: the tests need not wait for two seconds."""
    monkeypatch.setattr(identity, "SETTLED_NANOSECONDS", -3_600_000_000_000)


@pytest.fixture
def model(tmp_path: Path) -> Path:
    path = tmp_path / "models" / "m.onnx"
    path.parent.mkdir()
    path.write_bytes(model_bytes("not a name"))
    return path


def check_of(path: Path, settings: Settings = SETTINGS) -> FileCheck:
    return FileCheck(str(path), settings, str(path), True)


def checked(cache: Verdicts, check: FileCheck) -> FileReport:
    def lint(beside: DataFolder | None) -> FileReport:
        return lint_file(check.path, check.settings, check.name, context=check.context, beside=beside)

    return cache.checked(check, lint)


def written(file: FileReport) -> dict[str, str]:
    forms = {}
    for name in REPORTERS:
        stream = io.StringIO()
        write_report(name, report_of([file], SETTINGS), stream)
        forms[name] = stream.getvalue()
    return forms


def models_of_fixtures(folder: Path) -> Iterator[Path]:
    """Every hundredth model in text form, and the next one as a binary file: only findings in these have fixes."""
    for index, path in enumerate(sorted(FIXTURES.rglob("*.textproto"))):
        if index % 100 == 0:
            yield path
        elif index % 100 == 1:
            model = schema.message("ModelProto")()
            with contextlib.suppress(text_format.ParseError):
                text_format.Parse(path.read_bytes(), model)
                binary = folder / f"{index}.onnx"
                binary.write_bytes(model.SerializePartialToString())
                yield binary


@pytest.mark.slow
@pytest.mark.usefixtures("settled")
def test_the_reports_on_fixtures_come_back_as_they_were(cache: Verdicts, tmp_path: Path) -> None:
    paths = list(models_of_fixtures(tmp_path))
    assert len(paths) > 50
    for index, path in enumerate(paths):
        check = check_of(path)
        first = checked(cache, check)
        found = cache.find(check, may_read=False)
        assert found is not None, f"{path} is not in the cache"
        assert found == first
        if index % 10 == 0:
            assert written(found) == written(first)


@pytest.mark.usefixtures("settled")
def test_what_has_changed_is_not_found(cache: Verdicts, model: Path) -> None:
    check = check_of(model)
    checked(cache, check)
    assert cache.find(check, may_read=False) is not None
    model.write_bytes(model_bytes("another"))
    assert cache.find(check, may_read=True) is None


def test_a_file_that_had_just_been_written_is_read_once_more_and_not_each_time(
    cache: Verdicts, model: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    check = check_of(model)
    first = checked(cache, check)
    assert cache.find(check, may_read=False) is None
    later = model.stat().st_mtime_ns + 10 * identity.SETTLED_NANOSECONDS
    monkeypatch.setattr(verdicts.time, "time_ns", lambda: later)
    assert cache.find(check, may_read=True) == first
    assert cache.find(check, may_read=False) == first


@pytest.mark.usefixtures("settled")
def test_a_content_that_is_the_same_is_found_after_it_was_compared(cache: Verdicts, model: Path) -> None:
    check = check_of(model)
    first = checked(cache, check)
    content = model.read_bytes()
    model.unlink()
    model.write_bytes(content)
    assert cache.find(check, may_read=False) is None
    assert cache.find(check, may_read=True) == first
    assert cache.find(check, may_read=False) == first  # as the entry has the identity of the new file


def test_a_file_that_has_just_changed_is_compared(cache: Verdicts, model: Path) -> None:
    check = check_of(model)
    first = checked(cache, check)
    assert cache.find(check, may_read=False) is None
    assert cache.find(check, may_read=True) == first


@pytest.mark.usefixtures("settled")
def test_a_time_that_was_put_back_hides_no_change(cache: Verdicts, model: Path) -> None:
    check = check_of(model)
    checked(cache, check)
    status = model.stat()
    model.write_bytes(model_bytes("not a nome"))
    os.utime(model, ns=(status.st_atime_ns, status.st_mtime_ns))
    assert model.stat().st_size == status.st_size
    assert cache.find(check, may_read=True) is None


@pytest.mark.usefixtures("settled")
def test_a_file_that_changes_during_the_check_is_not_kept(cache: Verdicts, model: Path) -> None:
    check = check_of(model)

    def lint(beside: DataFolder | None) -> FileReport:
        report = lint_file(check.path, check.settings, check.name, beside=beside)
        model.write_bytes(model_bytes("another"))
        return report

    cache.checked(check, lint)
    assert cache.find(check, may_read=True) is None


@pytest.mark.usefixtures("settled")
def test_a_large_file_is_known_by_its_identity_alone(
    cache: Verdicts, model: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in (identity, verdicts):
        monkeypatch.setattr(module, "MAX_DIGEST_BYTES", 10)
    check = check_of(model)
    first = checked(cache, check)
    assert cache.find(check, may_read=False) == first
    content = model.read_bytes()
    model.unlink()
    model.write_bytes(content)
    assert cache.find(check, may_read=True) is None


@pytest.mark.usefixtures("settled")
@pytest.mark.parametrize("change", ["delete", "grow", "link"])
def test_external_data_that_has_changed(cache: Verdicts, model: Path, change: str) -> None:
    data = model.parent / "w.bin"
    model.write_bytes(model_bytes(location="w.bin"))
    data.write_bytes(bytes(16))
    check = check_of(model)
    checked(cache, check)
    assert cache.find(check, may_read=True) is not None
    if change == "delete":
        data.unlink()
    elif change == "grow":
        data.write_bytes(bytes(17))
    else:
        data.rename(data.with_name("other.bin"))
        data.symlink_to("other.bin")
    assert cache.find(check, may_read=True) is None


@pytest.mark.usefixtures("settled")
def test_external_data_that_was_missing(cache: Verdicts, model: Path) -> None:
    model.write_bytes(model_bytes(location="w.bin"))
    check = check_of(model)
    assert any("w.bin" in found.message for found in checked(cache, check).diagnostics)
    assert cache.find(check, may_read=True) is not None
    (model.parent / "w.bin").write_bytes(bytes(16))
    assert cache.find(check, may_read=True) is None


@pytest.mark.usefixtures("settled")
def test_a_data_file_that_came_beside_the_model(cache: Verdicts, model: Path) -> None:
    """The report on a missing file names it."""
    model.write_bytes(model_bytes(location="w.bin"))
    check = check_of(model)
    checked(cache, check)
    (model.parent / "notes.txt").touch()
    assert cache.find(check, may_read=True) is not None
    (model.parent / "other.data").touch()
    assert cache.find(check, may_read=True) is None


@pytest.mark.usefixtures("settled")
def test_external_data_whose_content_was_read(cache: Verdicts, model: Path) -> None:
    data = model.parent / "w.bin"
    model.write_bytes(model_bytes(location="w.bin", integer=True))
    data.write_bytes((4).to_bytes(8, "little"))
    check = check_of(model)
    checked(cache, check)
    assert cache.find(check, may_read=True) is not None
    status = data.stat()
    data.write_bytes((5).to_bytes(8, "little"))
    os.utime(data, ns=(status.st_atime_ns, status.st_mtime_ns))
    assert cache.find(check, may_read=True) is None


def test_external_data_that_was_read_and_has_just_changed(cache: Verdicts, model: Path) -> None:
    model.write_bytes(model_bytes(location="w.bin", integer=True))
    (model.parent / "w.bin").write_bytes((4).to_bytes(8, "little"))
    check = check_of(model)
    checked(cache, check)
    assert cache.find(check, may_read=True) is None


@pytest.mark.usefixtures("settled")
def test_reports_without_a_verdict_are_not_kept(cache: Verdicts, model: Path) -> None:
    check = check_of(model)
    crash = InternalError("cycle", "KeyError: 1", "")
    for report in (
        FileReport(check.name, 0, unreadable="it took too long"),
        FileReport(check.name, 0, internal_errors=(crash,)),
    ):
        assert cache.checked(check, lambda _, report=report: report) is report  # type: ignore[misc]  # bound at once
        assert cache.find(check, may_read=True) is None


@pytest.mark.usefixtures("settled")
def test_an_entry_serves_every_report_that_shows_no_more(cache: Verdicts, tmp_path: Path) -> None:
    path = max(models_of_fixtures(tmp_path), key=lambda path: len(checked(cache, check_of(path)).diagnostics))
    rich = replace(check_of(path), settings=replace(SETTINGS, external_data=False))
    checked(cache, replace(rich, context=Context.NONE))
    assert cache.find(rich, may_read=False) is None
    checked(cache, rich)
    for context in (False, True):
        check = replace(rich, context=context)
        assert cache.find(check, may_read=False) == lint_file(
            path=check.path, settings=check.settings, name=check.name, context=context
        )


def test_an_entry_of_another_machine(cache: Verdicts, model: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It saw the same files, on a device with another number and at another time."""
    monkeypatch.setattr(identity, "SETTLED_NANOSECONDS", -3_600_000_000_000)
    (model.parent / "w.bin").write_bytes((4).to_bytes(8, "little"))
    model.write_bytes(model_bytes(location="w.bin", integer=True))
    check = check_of(model)
    linted = verdicts.linted(
        check,
        lambda beside: lint_file(check.path, check.settings, check.name, context=Context.LINES, beside=beside),
    )
    assert linted.entry is not None
    entry = verdicts.from_bytes(verdicts.to_bytes(linted.entry))  # as it is sent
    (location,) = entry["opened"]
    for seen in (entry["identity"], entry["opened"][location]):
        seen[0] += 1
    moment = verdicts.time.time_ns()
    for change in ({"identity": [0] * 5}, {"opened": {location: [0] * 5}}, {"opened": {"gone": [0] * 5}}):
        cache.keep(check, {**entry, **change}, moment)
        assert cache.find(check, may_read=False) is None
    cache.keep(check, {**entry, "moment": 0}, moment)
    assert cache.find(check, may_read=False) == linted.report


def test_what_no_file_system_tells_about_is_not_kept() -> None:
    for path, name in (("-", "-"), ("-", "s3://bucket/m.onnx"), ("m.onnx", "s3://bucket/m.onnx")):
        assert not FileCheck(path, SETTINGS, name, False).may_be_kept


def test_runs_with_an_empty_a_filled_a_stale_and_a_damaged_cache(
    tmp_path: Path, model: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (model.parent / "clean.onnx").write_bytes(model_bytes())
    (model.parent / "cut.onnx").write_bytes(model_bytes()[:-3])
    folder = tmp_path / "cache"
    monkeypatch.setenv("ONNX_LINT_CACHE_DIR", str(folder))

    def reports(*options: str) -> list[tuple[int, str, str]]:
        found = []
        for form in ("text", "json", "sarif"):
            code = run(["check", "--pedantic", "-f", form, *options, str(model.parent)])
            out, errors = capsys.readouterr()
            kept = [line for line in errors.splitlines(keepends=True) if not line.startswith("The cache ")]
            found.append((code, out, "".join(kept)))
            lines.extend(line for line in errors.splitlines() if line.startswith("The cache "))
        return found

    lines: list[str] = []

    expected = reports("--no-cache")
    assert not folder.exists()
    assert reports("--cache") == expected
    assert reports("--cache") == expected
    database = folder / DATABASE
    content = database.read_bytes()
    for damaged in (b"", content[:5000], content[:2000] + b"\0" * 20_000 + content[22_000:], b"no database" * 100):
        lines.clear()
        database.write_bytes(damaged)
        assert reports("--cache") == expected
        assert [line.partition(":")[0] for line in lines] == (["The cache was replaced"] if damaged else [])
        assert reports("--cache") == expected
        assert len(lines) <= 1
    model.write_bytes(model_bytes())
    assert reports("--cache") == reports("--no-cache") != expected


@pytest.mark.usefixtures("settled")
def test_an_entry_that_is_no_report(cache: Verdicts, model: Path) -> None:
    check = check_of(model)
    checked(cache, check)
    key = cache._key(check)
    assert key is not None
    content = cache._store.get(key)
    assert content is not None
    entry = verdicts._unpacked(content)
    assert cache.find(check, may_read=True) is not None
    for forged in (
        {},
        {**entry, "report": None},
        {**entry, "report": {"InternalError": []}},
        {**entry, "report": {"FileReport": [1]}},
        {**entry, "report": {"FileReport": ["another.onnx", 1]}},
        {**entry, "identity": None, "digest": None},
        {**entry, "moment": "now"},
        {**entry, "lookups": {"../../secret": "x"}, "opened": {}},
    ):
        cache._store.put(key, verdicts._packed(forged))
        assert cache.find(check, may_read=True) is None
    cache._store.put(key, b"not compressed")
    assert cache.find(check, may_read=True) is None
