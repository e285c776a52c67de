# SPDX-License-Identifier: Apache-2.0
"""Reads and blesses the fixtures; fixtures/README.md describes their format."""

from __future__ import annotations

import functools
import re
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from checkout import ROOT

from onnx_lint.engine import lint_model
from onnx_lint.limits import DEFAULT_LIMITS, Limits
from onnx_lint.loader import load
from onnx_lint.model import Model
from onnx_lint.report import Diagnostic
from onnx_lint.settings import Settings
from onnx_lint.source import BytesSource
from onnx_lint.spec.clauses import clauses
from onnx_lint.spec.releases import normalized_domain
from onnx_lint.spec.standard import DEFAULT_STANDARD, Standard
from onnx_lint.spec.target import Target

FIXTURES = ROOT / "fixtures"

MAX_PROSE_LINES = 3

COUNTED = tuple({name for clause in clauses().values() if clause.presence == "counted" for name in clause.rules})
"""What users see as a number stands in the verdict of a fixture by itself."""

LEFT_OUT = "missing-producer"
"""This rule judges its own fixtures only, so that the others need not name a producer."""

_HEADER = re.compile(r"# (edition|variant|name|proto|select|option|limit|target|metamorphic|expect): (.*)")
_OPTION = re.compile(r"([a-z0-9-]+)\.([a-z0-9_]+) = (.+)")
_OPT_OUT = re.compile(r"no \(.+\)")
_HEX_TOKEN = re.compile(r'\s+|#[^\n]*|([0-9a-fA-F]{2})|"((?:[^"\\\n]|\\.)*)"')
_ESCAPE = re.compile(rb'\\(?:x([0-9a-fA-F]{2})|([nt"\\]))')
_ESCAPES = {b"n": b"\n", b"t": b"\t", b'"': b'"', b"\\": b"\\"}


class FixtureError(Exception):
    """A file in fixtures/ that does not keep to the format."""


@dataclass(frozen=True)
class Fixture:
    """One file of fixtures/."""

    path: Path
    text: str
    headers: tuple[tuple[str, str], ...]
    """Key and value of each header, `expect` lines included, in file order."""
    prose: tuple[str, ...]
    block_lines: int
    """How many lines the block of comments at the top has."""
    expected: tuple[str, ...] = field(default=())

    @property
    def rule(self) -> str:
        return self.path.parent.parent.name

    @property
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
        return self.is_text and not self._values("metamorphic") and not self.proto

    @property
    def data(self) -> bytes:
        """The bytes that are linted."""
        return self.text.encode() if self.is_text else parse_hex(self.text)

    def _values(self, key: str) -> list[str]:
        return [value for name, value in self.headers if name == key]

    @property
    def standard(self) -> Standard:
        edition = self._values("edition") or [DEFAULT_STANDARD.edition]
        variant = self._values("variant") or [DEFAULT_STANDARD.variant]
        return Standard(edition[0], variant[0])

    @property
    def proto(self) -> str | None:
        """The message that the file holds where that is to be said."""
        return next(iter(self._values("proto")), None)

    @property
    def settings(self) -> Settings:
        select = tuple(name.strip() for value in self._values("select") for name in value.split(","))
        ignore = () if self.rule == LEFT_OUT else (LEFT_OUT,)
        return Settings(
            self.standard,
            select,
            ignore,
            extend_select=() if select else COUNTED,
            options=self._options(),
            limits=self.limits,
            target=self._target(),
        )

    def _target(self) -> Target:
        pairs = (value.partition(" = ") for value in self._values("target"))
        versions = {name: int(value) for name, _, value in pairs}
        ir_version = versions.pop("ir", None)
        return Target(ir_version, {normalized_domain(domain): version for domain, version in versions.items()})

    @property
    def limits(self) -> Limits:
        pairs = (value.partition(" = ") for value in self._values("limit"))
        return DEFAULT_LIMITS.with_values({name: int(value) for name, _, value in pairs})

    def _options(self) -> Mapping[str, Mapping[str, Any]]:
        options: dict[str, dict[str, Any]] = {}
        for value in self._values("option"):
            match = _OPTION.fullmatch(value)
            if match is None:
                raise FixtureError(f"{self.id}: option {value!r} is not 'rule-id.name = value'")
            rule, name, literal = match.groups()
            options.setdefault(rule, {})[name] = tomllib.loads(f"value = {literal}")["value"]
        return options

    def model(self) -> Model:
        name = next(iter(self._values("name")), self.path.name if self.is_text else "model.onnx")
        # External data is looked up only where a folder `data` stands beside the fixture.
        data = self.path.parent / "data"
        directory = data if data.is_dir() else None
        source = BytesSource(self.data)
        return load(source, name, self.standard, directory, self.limits, self.proto, target=self._target())


def parse_hex(text: str) -> bytes:
    """The bytes that annotated hex stands for."""
    data = bytearray()
    position = 0
    while position < len(text):
        match = _HEX_TOKEN.match(text, position)
        if match is None:
            raise FixtureError(
                f"line {text.count(chr(10), 0, position) + 1}: {text[position : position + 10]!r} is no hex"
            )
        digits, quoted = match.groups()
        if digits is not None:
            data += bytes.fromhex(digits)
        elif quoted is not None:
            data += _ESCAPE.sub(_unescape, quoted.encode())
        position = match.end()
    return bytes(data)


def _unescape(match: re.Match[bytes]) -> bytes:
    digits, char = match.groups()
    return bytes.fromhex(digits.decode()) if digits is not None else _ESCAPES[char]


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
    for key in ("edition", "variant", "name", "proto", "metamorphic"):
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


def fixture_paths() -> Iterator[Path]:
    """Every file under fixtures/ that is a fixture."""
    for kind in ("valid", "invalid"):
        for suffix in ("textproto", "hex"):
            yield from FIXTURES.glob(f"*/{kind}/*.{suffix}")


@functools.cache
def diagnostics_of(fixture: Fixture) -> tuple[Diagnostic, ...]:
    """What onnx-lint says of the fixture under its own settings; a rule that crashes fails the test."""
    return lint(fixture.model(), fixture.settings)


def lint(model: Model, settings: Settings) -> tuple[Diagnostic, ...]:
    """The diagnostics of the model; a rule that crashes fails the test."""
    verdict = lint_model(model, settings)
    assert not verdict.errors, "\n".join(error.traceback for error in verdict.errors)
    return verdict.diagnostics


def as_line(diagnostic: Diagnostic, model: Model) -> str:
    """A diagnostic as an `expect` line has it, without the header's name."""
    offset = "" if model.form != "binary" else _offset(diagnostic)
    place = f"{diagnostic.place}{offset}"
    return f"{diagnostic.severity.label}[{diagnostic.rule}] {place}: {diagnostic.message}"


def _offset(diagnostic: Diagnostic) -> str:
    return "" if diagnostic.byte_range is None else f"@{diagnostic.byte_range[0]}"


def bless(fixture: Fixture, lines: list[str]) -> bool:
    """Write `lines` as the verdict of the fixture; return whether that changed the file."""
    old = fixture.text.splitlines()
    block = [line for line in old[: fixture.block_lines] if not line.startswith("# expect: ")]
    new = "\n".join([*block, *(f"# expect: {line}" for line in lines), *old[fixture.block_lines :]]) + "\n"
    if new == fixture.text:
        return False
    fixture.path.write_text(new, encoding="utf-8")
    return True
