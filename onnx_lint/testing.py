# SPDX-License-Identifier: Apache-2.0
"""Fixtures for the rules of a plugin: models in text form, each with the findings that it must have.

A fixture is a file `fixtures/RULE/valid/NAME.textproto` or `fixtures/RULE/invalid/NAME.textproto`. It begins with
comments: what the model is about, then headers.

    # The metadata has an author but no licence.
    # expect: error[missing-licence] model: the metadata has no entry 'licence'
    ir_version: 10
    ...

The `expect` headers are all findings of the rule RULE, in order; a valid fixture has none. Other headers:
`select: NAMES` (these rules in place of RULE), `option: RULE.NAME = VALUE` (the value is TOML), `edition: EDITION`.
"""

from __future__ import annotations

import os
import re
import tomllib
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, cast

from onnx_lint.common.record import Record
from onnx_lint.common.replacement import replacement
from onnx_lint.library import lint
from onnx_lint.report import Diagnostic
from onnx_lint.spec.standard import DEFAULT_STANDARD

if TYPE_CHECKING:
    import pytest

    from onnx_lint.library import Edition

__all__ = ["Fixture", "FixtureError", "as_line", "bless", "check_fixture", "find_fixtures"]

_HEADER: Final = re.compile(r"# (select|option|edition|expect): (.*)")
_OPTION: Final = re.compile(r"([a-z0-9-]+)\.([a-z0-9_]+) = (.+)")


class FixtureError(Exception):
    """A fixture that does not have the format; the message names the file."""


class Fixture(Record):
    """A model in text form and the findings that it must have."""

    path: Path
    headers: tuple[tuple[str, str], ...]

    @property
    def rule(self) -> str:
        """The id of the rule that the fixture is about: the name of its folder."""
        return self.path.parent.parent.name

    @property
    def is_valid(self) -> bool:
        """True if the model keeps the rule."""
        return self.path.parent.name == "valid"

    def values(self, name: str) -> list[str]:
        """Return the values of the headers with this name, in order."""
        return [value for header, value in self.headers if header == name]

    def __str__(self) -> str:
        """Return the name of the fixture, as pytest shows it."""
        return f"{self.rule}/{self.path.parent.name}/{self.path.stem}"


def find_fixtures(folder: str | os.PathLike[str] = "fixtures") -> list[Fixture]:
    """Return the fixtures in a folder, in the order of their paths.

    Raises FixtureError if there are none, or one does not have the format.
    """
    found = [_read(path) for kind in ("valid", "invalid") for path in Path(folder).glob(f"*/{kind}/*.textproto")]
    if not found:
        raise FixtureError(f"{os.fspath(folder)} has no fixtures RULE/valid/NAME.textproto or RULE/invalid/...")
    return sorted(found, key=str)


def _read(path: Path) -> Fixture:
    lines = path.read_text(encoding="utf-8").splitlines()
    block = lines[: next((index for index, line in enumerate(lines) if not line.startswith("#")), len(lines))]
    fixture = Fixture(path, tuple((match[1], match[2]) for line in block if (match := _HEADER.fullmatch(line))))
    if fixture.is_valid and fixture.values("expect"):
        raise FixtureError(f"{path}: a valid fixture expects no findings")
    return fixture


def check_fixture(
    fixture: Fixture, plugins: Sequence[str | os.PathLike[str]] = (), request: pytest.FixtureRequest | None = None
) -> None:
    """Lint a fixture, and raise AssertionError if its findings are not those that it expects.

    `plugins`: the files with rules; rules of installed packages are there anyway. `request`: of pytest; with
    `pytest --bless` the findings of an invalid fixture are written into it instead. That is a draft: judge each line.
    """
    lines = _findings_of(fixture, plugins)
    if not fixture.is_valid and request is not None and request.config.getoption("--bless", default=False):
        for _ in range(2):  # the added lines shift those that a message may name
            bless(fixture.path, lines)
            lines = _findings_of(fixture, plugins)
        return
    expected = fixture.values("expect")
    assert lines == expected, "\n".join([f"{fixture} must have the findings", *expected, "and has", *lines])
    assert fixture.is_valid or any(f"[{fixture.rule}] " in line for line in lines), (
        f"{fixture} has no finding of {fixture.rule}; write it with pytest --bless, and judge it"
    )


def _findings_of(fixture: Fixture, plugins: Sequence[str | os.PathLike[str]]) -> list[str]:
    selected = [name.strip() for value in fixture.values("select") for name in value.split(",")]
    report = lint(
        fixture.path,
        {
            "edition": cast("Edition", next(iter(fixture.values("edition")), DEFAULT_STANDARD.edition)),
            "options": _options(fixture),
            "plugins": [os.path.abspath(path) for path in plugins],
        },
        select=selected or [fixture.rule],
    )
    crashes = [error.exception for file in report.files for error in file.internal_errors]
    assert not crashes, "\n".join(crashes)
    return [as_line(diagnostic) for diagnostic in report.diagnostics]


def _options(fixture: Fixture) -> dict[str, dict[str, Any]]:
    options: dict[str, dict[str, Any]] = {}
    for value in fixture.values("option"):
        match = _OPTION.fullmatch(value)
        if match is None:
            raise FixtureError(f"{fixture.path}: option {value!r} is not 'rule-id.name = value'")
        rule, name, literal = match.groups()
        options.setdefault(rule, {})[name] = tomllib.loads(f"value = {literal}")["value"]
    return options


def as_line(diagnostic: Diagnostic) -> str:
    """Return a diagnostic as an `expect` header has it: `error[RULE] PLACE: MESSAGE`."""
    at = "" if diagnostic.byte_range is None else f"@{diagnostic.byte_range[0]}"
    return f"{diagnostic.severity.label}[{diagnostic.rule}] {diagnostic.place}{at}: {diagnostic.message}"


def bless(path: Path, lines: Sequence[str]) -> bool:
    """Write the findings into a fixture, behind the other comments at its top; return whether that changed the file."""
    text = path.read_text(encoding="utf-8")
    old = text.splitlines()
    end = next((index for index, line in enumerate(old) if not line.startswith("#")), len(old))
    block = [line for line in old[:end] if not line.startswith("# expect: ")]
    new = "\n".join([*block, *(f"# expect: {line}" for line in lines), *old[end:]]) + "\n"
    if new == text:
        return False
    with (
        replacement(str(path.resolve())) as (descriptor, _),
        open(descriptor, "w", encoding="utf-8", closefd=False) as stream,
    ):
        stream.write(new)
    return True
