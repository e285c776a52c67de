# SPDX-License-Identifier: Apache-2.0
"""Examples on the page of a rule: its fixtures, each with what onnx-lint says when it is run on it."""

from __future__ import annotations

import io
import re
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import Final

from support.project.fixture_files import COUNTED, Fixture, diagnostics_of, fixtures_of

from generate.markdown import block, plain
from onnx_lint.common.record import replace
from onnx_lint.engine.lint import LintOptions, lint_source
from onnx_lint.engine.selection import report_of, selected_rules
from onnx_lint.input.source import BytesSource
from onnx_lint.report import Context
from onnx_lint.report.totals import Report, Weakening
from onnx_lint.reporters import write_report
from onnx_lint.rule import Rule
from onnx_lint.spec.standard import DEFAULT_STANDARD

MAX_INVALID: Final = 4
MAX_VALID: Final = 2
CONFIGURATION: Final = "onnx-lint.toml"

_SPELLINGS: Final = {
    "ir version": "IR version",
    "ir versions": "IR versions",
    "onnx ml": "ONNX-ML",
    "onnx": "ONNX",
    "utf 8": "UTF-8",
    "utf8": "UTF-8",
    "c90": "C90",
    "git lfs": "Git LFS",
    "gib": "GiB",
    "html": "HTML",
    "json": "JSON",
    "nan": "NaN",
    "nul": "NUL",
}
"""Words that the names of files spell in lower case."""


def examples(rule: Rule) -> Iterator[str]:
    """The sections of the page that show models which break the rule, and models which do not."""
    own = fixtures_of(rule.id)
    invalid = _telling(rule, [fixture for fixture in own if not fixture.is_valid])
    # A model of an edition that does not know the rule shows nothing.
    kept = (fixture for fixture in own if fixture.is_valid and rule.id in selected_rules(fixture.settings))
    valid = sorted(kept, key=_length)[:MAX_VALID]
    yield "## Models that break it"
    yield (
        f"From `fixtures/{rule.id}`, which holds {len(own)} models in all; linted with `--ignore missing-producer`, so "
        "that none of them has to name a producer."
        if rule.id != "missing-producer"
        else f"From `fixtures/{rule.id}`, which holds {len(own)} models in all."
    )
    for fixture in invalid:
        yield from _example(fixture)
    yield "## Models that keep it"
    for fixture in valid:
        yield from _example(fixture)


def _telling(rule: Rule, candidates: Sequence[Fixture]) -> list[Fixture]:
    """A short fixture for each clause of the rule, those of the newest edition first, but not too many."""
    ordered = sorted(candidates, key=lambda fixture: (fixture.standard != DEFAULT_STANDARD, _length(fixture)))
    chosen: list[Fixture] = []
    for clause in rule.clauses:
        breaking = (fixture for fixture in ordered if clause in _clauses(fixture))
        first = next(breaking, None)
        if first is not None and first not in chosen:
            chosen.append(first)
    chosen += [fixture for fixture in ordered if fixture not in chosen][: max(0, 2 - len(chosen))]
    return chosen[:MAX_INVALID]


def _clauses(fixture: Fixture) -> set[str]:
    return {item.clause for item in diagnostics_of(fixture) if item.rule == fixture.rule}


def _length(fixture: Fixture) -> tuple[bool, int, str]:
    """Shorter ones first, and models before lone messages, which are shorter than any."""
    return fixture.proto is not None, len(fixture.text), fixture.id


def _example(fixture: Fixture) -> Iterator[str]:
    yield f"### {title(fixture)}"
    yield " ".join(plain(line) for line in fixture.prose)
    if not fixture.is_text:
        yield "The bytes of the file, in hexadecimal:"
    yield block(_content(fixture))
    if options := configuration(fixture):
        yield f"With this `{CONFIGURATION}`:"
        yield block(options)
    yield block(f"$ {command(fixture)}\n{_text(fixture)}")


def title(fixture: Fixture) -> str:
    """Return the name of the file as a sentence."""
    words = fixture.path.stem.replace("_", " ")
    for written, spoken in _SPELLINGS.items():
        words = re.sub(rf"\b{written}\b", spoken, words)
    return f"{words[0].upper()}{words[1:]}"


def _content(fixture: Fixture) -> str:
    return "\n".join(fixture.text.splitlines()[fixture.block_lines :]).strip("\n")


def _name(fixture: Fixture) -> str:
    """The name of the file in the example: the sentence, with the suffix under which the fixture is linted."""
    suffix = fixture.path.suffix if fixture.is_text else ".onnx"
    return f"{fixture.path.stem}{Path(dict(fixture.headers).get('name', suffix)).suffix or suffix}"


def configuration(fixture: Fixture) -> str:
    """The configuration with the options of rules that the headers of the fixture name; empty if there are none."""
    return "\n".join(f"rules.{value}" for key, value in fixture.headers if key == "option")


def command(fixture: Fixture) -> str:
    """The command that lints the fixture as its headers say."""
    return " ".join(["onnx-lint", *_arguments(fixture), _name(fixture)])


def _arguments(fixture: Fixture) -> Iterator[str]:
    """The options of the command line that say the same as the fixture's headers."""
    for key, value in fixture.headers:
        if key in {"edition", "proto", "select", "target"}:
            yield f"--{key} {value.replace(', ', ',')}"
        elif key == "limit":
            yield f"--limit {value.replace(' = ', '=')}"
    if fixture.rule in COUNTED and "select" not in dict(fixture.headers):
        yield f"--extend-select {fixture.rule}"
    if not _data(fixture).is_dir() and "external" in fixture.text.lower():
        yield "--no-external-data"


def _data(fixture: Fixture) -> Path:
    """The folder with the files beside the model, where the fixture has one."""
    return fixture.path.parent / "data"


@cache
def _report(fixture: Fixture) -> Report:
    data = _data(fixture)
    more = (*fixture.settings.extend_select, *(("target",) if fixture.settings.target.releases else ()))
    settings = replace(fixture.settings, external_data=data.is_dir(), proto=fixture.proto, extend_select=more)
    # In the report the model lies in the working directory.
    file = lint_source(
        BytesSource(fixture.data),
        str(data / _name(fixture)),
        settings,
        LintOptions(is_file=True, context=Context.LINES),
    )
    options = tuple(
        (f"rules.{rule}.{name}", value) for rule, given in settings.options.items() for name, value in given.items()
    )
    weakened = (Weakening(CONFIGURATION, options),) if options else ()
    return replace(report_of([replace(file, path=_name(fixture))], settings), weakened=weakened)


def _text(fixture: Fixture) -> str:
    stream = io.StringIO()
    write_report("text", _report(fixture), stream)
    return stream.getvalue()
