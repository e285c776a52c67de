# SPDX-License-Identifier: Apache-2.0
"""Properties of every input: one verdict, in every form, however the file is written and read, at little cost."""

from __future__ import annotations

import functools
import json
import re
import traceback
from collections import Counter
from collections.abc import Callable
from random import Random
from typing import Any

from onnx_lint.common.record import field_names, replace
from onnx_lint.engine.lint import lint_source, load_source
from onnx_lint.engine.settings import Settings
from onnx_lint.input.limits import DEFAULT_LIMITS
from onnx_lint.input.source import BytesSource
from onnx_lint.ir.documents.kinds import OPERATOR_SET_KIND
from onnx_lint.loader.identity.identify import Form, identify
from onnx_lint.loader.limits.not_checked import NotCheckedError
from onnx_lint.report.file_report import FileReport
from onnx_lint.report.findings import Diagnostic
from onnx_lint.report.totals import Report
from onnx_lint.reporters.escape import visible
from onnx_lint.reporters.shape_records import document, graph_parts
from onnx_lint.reporters.shape_wording import graph_title, table
from onnx_lint.spec.standard import EDITIONS, VARIANTS, Standard

from .corpus import BINARY, Seed
from .costs import Cost, excess, measured
from .forms import FORMATS, problem_of_form
from .thresholds import lowered
from .twins import OF_THE_BYTES, OF_THE_NUMBERS, parsed, twin

SETTINGS = tuple(Settings(Standard(edition, variant), select=("ALL",)) for edition in EDITIONS for variant in VARIANTS)

_LIMITS = {"memory": 20_000, "fields": 200}
"""Limits of each seventh block of inputs, so low that most models reach one."""

_BLOCK = 32
"""The number of consecutive inputs with the same settings: it takes a while to find out which rules apply."""

_FORM_EACH = 2
"""The report of one input in this many is written."""


def problem_of(given: Seed, number: int) -> str | None:
    """Return a description of a failure of onnx-lint with the input; None if there is none.

    `number` picks the edition, the form of the report, and whether the input is read another way, or written.
    """
    rng = Random(f"oracle {number}")
    settings = _settings(number // _BLOCK, given.proto)
    try:
        with measured() as cost:
            file = _linted(given, settings)
        return (
            _problem_of_file(given, file)
            or _problem_of_cost(given, settings, cost, file)
            or _problem_of_report(file, settings, rng)
            or _problem_of_other_readings(given, settings, file, number, rng)
            or (_problem_of_shapes(given, settings) if number % 3 == 2 else None)
        )
    except Exception:
        return traceback.format_exc()


@functools.lru_cache(maxsize=64)
def _settings(block: int, proto: str | None) -> Settings:
    """The settings for a block of inputs; those of each seventh have low limits."""
    limits = DEFAULT_LIMITS.with_values(_LIMITS) if block % 7 == 6 else DEFAULT_LIMITS
    return replace(Random(f"settings {block}").choice(SETTINGS), proto=proto, limits=limits)


def _linted(given: Seed, settings: Settings) -> FileReport:
    return lint_source(BytesSource(given.data), f"model{given.suffix}", settings)


def _problem_of_file(given: Seed, file: FileReport) -> str | None:
    if file.internal_errors:
        return "\n".join(error.traceback for error in file.internal_errors)
    if not file.diagnostics and file.not_judged is not None:
        return "nothing was judged, and no finding says so"
    conforms = Report((file,), "", "").conforms
    if conforms and _is_binary(given) and parsed(_of_kind(given, file.kind)) is None:
        return f"Protocol Buffers refuses the file as {file.kind}, and it is called conforming"
    return None


def _is_binary(given: Seed) -> bool:
    """Return whether the input is read as bytes: text under the name of a binary file is read as text."""
    return given.suffix == BINARY and identify(BytesSource(given.data), f"model{given.suffix}") is Form.BINARY


def _of_kind(given: Seed, kind: str) -> Seed:
    """The input, said to hold a message of this kind."""
    return Seed(given.name, given.data, given.suffix, kind)


def _problem_of_cost(given: Seed, settings: Settings, cost: Cost, file: FileReport) -> str | None:
    def again() -> Cost:
        with measured() as other:
            _linted(given, settings)
        return other

    graphs = file.facts.graphs + file.facts.functions if file.facts is not None else 0
    if file.kind == OPERATOR_SET_KIND:
        graphs = len(load_source(BytesSource(given.data), f"model{given.suffix}", settings, is_file=False).functions)
    return excess(cost, len(given.data), len(file.diagnostics), again, graphs)


def _problem_of_report(file: FileReport, settings: Settings, rng: Random) -> str | None:
    if rng.randrange(_FORM_EACH):
        return None
    report = Report((file,), settings.standard.edition, settings.standard.variant)
    return problem_of_form(rng.choice(FORMATS), report)


def _problem_of_other_readings(
    given: Seed, settings: Settings, file: FileReport, number: int, rng: Random
) -> str | None:
    """Return what is wrong with each third input as a large file, and with each third one in another encoding."""
    if settings.limits is not DEFAULT_LIMITS:
        return None  # the fields that are counted are those that are looked at, which is another matter each time
    if number % 3 == 0:
        return _problem_of_ways(given, settings, file, rng)
    return _problem_of_twins(given, settings, file, rng) if number % 3 == 1 else None


def _problem_of_shapes(given: Seed, settings: Settings) -> str | None:
    """Return what is wrong in the output of `onnx-lint shapes`: of all values."""
    try:
        model = load_source(BytesSource(given.data), f"model{given.suffix}", settings, is_file=False)
    except NotCheckedError:
        return None  # it is beyond a limit, which the report of the input says
    if not model.loaded:
        return None
    walks = model.provenance.walks()
    shown = "".join(document({"version": 1}, "graphs", (graph_parts(model.provenance, walked) for walked in walks)))
    json.loads(shown)
    lines = [line for walked in walks for line in (graph_title(walked), *table(model.provenance, walked))]
    steering = next((line for line in lines if visible(line) != line), None)
    return None if steering is None else f"a line of shapes steers the terminal: {steering!r}"


def _problem_of_ways(given: Seed, settings: Settings, file: FileReport, rng: Random) -> str | None:
    """Return whether the file gets another verdict if it is read like a large one."""
    with lowered(rng):
        other = _linted(given, settings)
    if other == file:
        return None
    names = [name for name in field_names(FileReport) if getattr(file, name) != getattr(other, name)]
    if names != ["diagnostics"]:
        return f"as a large file its report differs in {', '.join(names)}"
    one, another = _counted(file, _whole), _counted(other, _whole)
    if one != another:
        return f"as a large file it has other findings\n{_difference(one, another)}"
    if _counted(file, repr) == _counted(other, repr):
        return "as a large file it has its findings in another order"
    moved = set(other.diagnostics) - set(file.diagnostics)
    if all(_is_where_values_begin(diagnostic) for diagnostic in moved):
        return None
    return f"as a large file it has other bytes\n{_difference(_counted(file, repr), _counted(other, repr))}"


def _is_where_values_begin(diagnostic: Diagnostic) -> bool:
    """Return whether the bytes are only a position, as for an unpacked list that stays in the file."""
    return diagnostic.byte_range is not None and diagnostic.byte_range[0] == diagnostic.byte_range[1]


def _problem_of_twins(given: Seed, settings: Settings, file: FileReport, rng: Random) -> str | None:
    """Return whether the same message gets another verdict in another encoding."""
    if not _is_binary(given) or not file.facts or file.incomplete:
        return None
    proto = parsed(given)
    made = twin(given, proto, rng)
    if made is None:
        return None
    other, is_apart = made
    judged = _linted(other, settings if other.proto == given.proto else replace(settings, proto=other.proto))
    if judged.incomplete or (proto is None and not judged.facts):
        return None  # of a file that no parser takes it is a guess what it holds
    problem = _problem_of_file(other, judged)
    if problem is not None:
        return f"{problem}\nin {other.name}: {other.data!r}"
    if other.suffix == BINARY and not _is_same(parsed(other), proto):
        return None
    left_out = OF_THE_BYTES if is_apart else OF_THE_NUMBERS
    one, another = _counted(file, _said, left_out), _counted(judged, _said, left_out)
    if one == another:
        return None
    return f"a twin has other findings\n{_difference(one, another)}\nin {other.name}: {other.data!r}"


def _is_same(message: Any | None, other: Any | None) -> bool:
    """Return whether two messages are equal except for unknown fields; rejected bytes have no fields."""
    if message is None or other is None:
        return message is other
    message.DiscardUnknownFields()
    other.DiscardUnknownFields()
    return bool(message.SerializePartialToString() == other.SerializePartialToString())


def _whole(diagnostic: Diagnostic) -> str:
    return repr(replace(diagnostic, byte_range=None))


_BYTE = re.compile(r"\bbytes? [\d,]+")


def _said(diagnostic: Diagnostic) -> str:
    """Return the content of a diagnostic without the bytes, which differ in a twin."""
    related = sorted((item.place, item.message) for item in diagnostic.related)
    text = f"{diagnostic.severity.label}[{diagnostic.rule}] {diagnostic.place}: {diagnostic.message} {related}"
    return _BYTE.sub("byte N", text)


def _counted(
    file: FileReport, said: Callable[[Diagnostic], str], left_out: frozenset[str] = frozenset()
) -> Counter[str]:
    return Counter(said(item) for item in file.diagnostics if item.rule not in left_out)


def _difference(one: Counter[str], other: Counter[str]) -> str:
    lines = [f"- {text}" for text in (one - other)] + [f"+ {text}" for text in (other - one)]
    return "\n".join(lines[:20])
