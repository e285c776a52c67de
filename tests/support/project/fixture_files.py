# SPDX-License-Identifier: Apache-2.0
"""Reads and blesses the fixtures; fixtures/README.md describes their format."""

from __future__ import annotations

import functools
import importlib.util
import itertools
import re
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from onnx_lint.common.whole_file import whole_file
from onnx_lint.engine.internal_errors import InternalErrors
from onnx_lint.engine.rule_runs import lint_model
from onnx_lint.engine.settings import Settings
from onnx_lint.input.limits import DEFAULT_LIMITS, Limits
from onnx_lint.input.source import BytesSource
from onnx_lint.loader import load
from onnx_lint.model import Model
from onnx_lint.report.findings import Diagnostic
from onnx_lint.spec.clauses import clauses
from onnx_lint.spec.standard import DEFAULT_STANDARD, Standard
from onnx_lint.spec.target import target_of
from support.project.checkout import ROOT
from support.wire.annotated_hex import parse_hex

FIXTURES = ROOT / "fixtures"

MAX_PROSE_LINES = 3

COUNTED = tuple({name for clause in clauses().values() if clause.counted for name in clause.rules})
"""Rules whose findings users see as a number. Verdicts of fixtures list them."""

LEFT_OUT = "missing-producer"
"""This rule judges its own fixtures only, so that the others need not name a producer."""

Headers = tuple[tuple[str, str], ...]

_STATED = {"edition", "select", "option", "limit", "target"}
"""The headers that are settings of the run; the others are about the file."""

_HEADER = re.compile(r"# (edition|name|proto|select|option|limit|target|metamorphic|expect): (.*)")
_OPTION = re.compile(r"([a-z0-9-]+)\.([a-z0-9_]+) = (.+)")
_OPT_OUT = re.compile(r"no \(.+\)")


class FixtureError(Exception):
    """A file in fixtures/ that does not keep to the format."""


@dataclass(frozen=True)
class Fixture:
    """One file of fixtures/."""

    path: Path
    text: str
    headers: Headers
    """Key and value of each header, `expect` lines included, in file order."""
    prose: tuple[str, ...]
    block_lines: int
    """The number of lines of the block of comments at the top."""
    expected: tuple[str, ...] = field(default=())

    @functools.cached_property
    def rule(self) -> str:
        return self.path.parent.parent.name

    @functools.cached_property
    def is_valid(self) -> bool:
        return self.path.parent.name == "valid"

    @property
    def id(self) -> str:
        return f"{self.rule}/{self.path.parent.name}/{self.path.name}"

    @property
    def is_text(self) -> bool:
        return self.path.suffix == ".textproto"

    @property
    def is_metamorphic(self) -> bool:
        return self.is_text and not _values(self.headers, "metamorphic") and not self.proto

    @property
    def data(self) -> bytes:
        """The bytes that are linted."""
        return self.text.encode() if self.is_text else parse_hex(self.text)

    @property
    def standard(self) -> Standard:
        return self.settings.standard

    @property
    def limits(self) -> Limits:
        return self.settings.limits

    @property
    def proto(self) -> str | None:
        """The message that the file holds where that is to be said."""
        return next(iter(_values(self.headers, "proto")), None)

    @property
    def settings(self) -> Settings:
        """The same object for all fixtures that state the same: the rules that one selects are looked for once."""
        stated = tuple(header for header in self.headers if header[0] in _STATED)
        return _settings(stated, () if self.rule == LEFT_OUT else (LEFT_OUT,))

    def model(self) -> Model:
        name = next(iter(_values(self.headers, "name")), self.path.name if self.is_text else "model.onnx")
        settings, source = self.settings, BytesSource(self.data)
        directory = str(self.directory) if self.directory is not None else None
        return load(source, name, settings.standard, directory, settings.limits, self.proto, target=settings.target)

    @property
    def directory(self) -> Path | None:
        """The folder with the files of external data; None if no folder `data` is beside the fixture."""
        data = self.path.parent / "data"
        return data if data.is_dir() else None


def _values(headers: Headers, key: str) -> list[str]:
    return [value for name, value in headers if name == key]


@functools.cache
def _settings(stated: Headers, ignore: tuple[str, ...]) -> Settings:
    edition = _values(stated, "edition") or [DEFAULT_STANDARD.edition]
    target = target_of(_values(stated, "target"))
    select = tuple(name.strip() for value in _values(stated, "select") for name in value.split(","))
    limits = (value.partition(" = ") for value in _values(stated, "limit"))
    return Settings(
        Standard(edition[0], target.variant),
        select,
        ignore,
        extend_select=() if select else COUNTED,
        options=_options(stated),
        limits=DEFAULT_LIMITS.with_values({name: value for name, _, value in limits}),
        target=target,
    )


def _options(stated: Headers) -> Mapping[str, Mapping[str, Any]]:
    options: dict[str, dict[str, Any]] = {}
    for value in _values(stated, "option"):
        match = _OPTION.fullmatch(value)
        if match is None:
            raise FixtureError(f"option {value!r} is not 'rule-id.name = value'")
        rule, name, literal = match.groups()
        options.setdefault(rule, {})[name] = tomllib.loads(f"value = {literal}")["value"]
    return options


def read_fixture(path: Path) -> Fixture:
    """Read one fixture; raises FixtureError where it breaks the format."""
    text = path.read_text(encoding="utf-8")
    headers: list[tuple[str, str]] = []
    prose: list[str] = []
    block = 0
    for line in text.splitlines():
        if not line.startswith("#"):
            break
        block += 1
        match = _HEADER.fullmatch(line)
        if match is not None:
            headers.append((match[1], match[2]))
        elif headers:
            raise FixtureError(f"{path}: line {block} is prose behind a header")
        else:
            prose.append(line.removeprefix("#").strip())
    if not 0 < len(prose) <= MAX_PROSE_LINES or not all(prose):
        raise FixtureError(f"{path}: begins with {len(prose)} lines of prose, not 1 to {MAX_PROSE_LINES}")
    for key in ("edition", "name", "proto", "metamorphic"):
        if sum(name == key for name, _ in headers) > 1:
            raise FixtureError(f"{path}: header {key!r} is given twice")
    if any(key == "metamorphic" and not _OPT_OUT.fullmatch(value) for key, value in headers):
        raise FixtureError(f"{path}: header 'metamorphic' is not 'no (reason)'")
    expected = tuple(value for key, value in headers if key == "expect")
    return Fixture(path, text, tuple(headers), tuple(prose), block, expected)


@functools.cache
def fixtures() -> tuple[Fixture, ...]:
    """Every fixture, in the order of their paths."""
    return tuple(read_fixture(path) for path in sorted(fixture_paths()))


@functools.cache
def _by_rule() -> Mapping[str, tuple[Fixture, ...]]:
    return {rule: tuple(own) for rule, own in itertools.groupby(fixtures(), lambda fixture: fixture.rule)}


def fixtures_of(rule: str) -> tuple[Fixture, ...]:
    """The fixtures in the folder of the rule, in the order of their paths."""
    return _by_rule().get(rule, ())


def fixture_paths() -> Iterator[Path]:
    """Every file under fixtures/ that is a fixture."""
    for kind in ("valid", "invalid"):
        for suffix in ("textproto", "hex"):
            yield from FIXTURES.glob(f"*/{kind}/*.{suffix}")


class Linted(NamedTuple):
    """The result of a run over a fixture under its own settings."""

    form: str
    """The form of the file: `textproto`, `json` or `binary`."""
    diagnostics: tuple[Diagnostic, ...]


@functools.cache
def linted(fixture: Fixture) -> Linted:
    """Lint the fixture, once in a process; a rule that crashes fails the test."""
    model = fixture.model()
    return Linted(model.form, lint(model, fixture.settings))


def diagnostics_of(fixture: Fixture) -> tuple[Diagnostic, ...]:
    """Return the diagnostics of the fixture under its own settings; a rule that crashes fails the test."""
    return linted(fixture).diagnostics


HAS_NUMPY = importlib.util.find_spec("numpy") is not None
"""False in WebAssembly (`.ci/run webassembly`)."""


@functools.cache
def lacks_numpy(fixture: Fixture) -> bool:
    """Return whether numpy, which the verdict on the fixture needs, is not installed."""
    if HAS_NUMPY:
        return False
    model = fixture.model()
    errors = InternalErrors(model)
    lint_model(model, fixture.settings, errors)
    return bool(errors.without_numpy())


def lint(model: Model, settings: Settings) -> tuple[Diagnostic, ...]:
    """The diagnostics of the model; a rule that crashes fails the test."""
    verdict = lint_model(model, settings)
    assert not verdict.errors, "\n".join(error.traceback for error in verdict.errors)
    return verdict.diagnostics


def as_line(diagnostic: Diagnostic, form: str) -> str:
    """A diagnostic of a file of this form as an `expect` line has it, without the header's name."""
    at = diagnostic.byte_range if form == "binary" else None
    offset = "" if at is None else f"@{at[0]}"
    return f"{diagnostic.severity.label}[{diagnostic.rule}] {diagnostic.place}{offset}: {diagnostic.message}"


def bless(fixture: Fixture, lines: list[str]) -> bool:
    """Write `lines` as the verdict of the fixture; return whether that changed the file."""
    text = fixture.path.read_text(encoding="utf-8")
    old = text.splitlines()
    end = next((index for index, line in enumerate(old) if not line.startswith("#")), len(old))
    block = [line for line in old[:end] if not line.startswith("# expect: ")]
    new = "\n".join([*block, *(f"# expect: {line}" for line in lines), *old[end:]]) + "\n"
    if new == text:
        return False
    with (
        whole_file(str(fixture.path.resolve())) as (descriptor, _),
        open(descriptor, "w", encoding="utf-8", closefd=False) as stream,
    ):
        stream.write(new)
    return True
