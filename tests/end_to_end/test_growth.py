# SPDX-License-Identifier: Apache-2.0
"""A file four times as large takes four times as long, for each list that may grow and each fault in it.

`pytest -m growth` grows each list of the schema alone, wherever it stands, in all variants: about ten minutes.
"""

from __future__ import annotations

import io
import time
from collections.abc import Callable, Iterable, Iterator
from typing import Any, Final

import pytest
from google.protobuf import text_format
from support.hostile.crossed_lists import CROSSED, DEFAULT, HEAD, each, graph
from support.models.growing_models import VARIANTS, Path, grown, lists, template
from support.project.each_case import each_case

from onnx_lint import schema
from onnx_lint.configuration.baselines.entries import entries_of
from onnx_lint.configuration.baselines.file import to_json
from onnx_lint.configuration.baselines.known_findings import suppress_known
from onnx_lint.engine.lint import lint_source
from onnx_lint.engine.settings import Settings
from onnx_lint.input.limits import DEFAULT_LIMITS
from onnx_lint.input.source import BytesSource
from onnx_lint.report.file_report import FileReport
from onnx_lint.report.totals import Report
from onnx_lint.reporters import REPORTERS, Options, write_report

LARGE: Final = 2_000
FEWER: Final = 800
"""The size if several lists grow: lists that refer to each other, or the findings and files of a report."""
MANY_LISTS: Final = 5

MOST: Final = 6
"""The most times as long that the large file may take. Linear work takes 4 times as long, n log n hardly more."""
FLOOR: Final = 0.01
"""Seconds of the processor below which a measurement says nothing."""
ATTEMPTS: Final = 6
"""Others may keep the machine busy, which adds to the time of the processor too; the shortest run counts."""

SETTINGS: Final = Settings(
    limits=DEFAULT_LIMITS.with_values({"findings_per_rule": 1_000_000, "findings": 1_000_000}),
    pedantic=True,
    has_baseline=True,
)
"""Without the limits that would hide how the number of findings grows."""


def assert_growth(work: Callable[[int], Callable[[], object]], entries: int = LARGE) -> None:
    """Fail unless what `work` makes for so many entries takes less than MOST times as long as for a fourth of them."""
    small, large = work(entries // 4), work(entries)
    least, most = float("inf"), float("inf")
    for _ in range(ATTEMPTS):
        least, most = min(least, _seconds(small)), min(most, _seconds(large))
        if most < MOST * max(least, FLOOR):
            return
    pytest.fail(f"{entries:,} entries take {most:.2f} s of the processor, a fourth of them {least:.2f} s")


def _seconds(work: Callable[[], object]) -> float:
    begin = time.process_time()
    work()
    return time.process_time() - begin


def lint(data: bytes) -> FileReport:
    report = lint_source(BytesSource(data), "model.onnx", SETTINGS)
    assert report.internal_errors == ()
    return report


def _lint_grown(paths: Iterable[Path], variant: str) -> Callable[[int], Callable[[], object]]:
    chosen = list(paths)

    def work(count: int) -> Callable[[], object]:
        data = grown(template(), chosen, VARIANTS[variant], count).SerializeToString()
        return lambda: lint(data)

    return work


# --- lists of the schema

ALL: Final = lists(template())


def test_the_template_has_each_list_of_the_schema():
    assert {(holder.DESCRIPTOR.full_name, path[-1][0]) for holder, path in _holders()} == _lists_of("ModelProto")


def _holders() -> Iterator[tuple[Any, Path]]:
    for path in ALL.values():
        holder = template()
        for field, index in path[:-1]:
            holder = getattr(holder, field) if index is None else getattr(holder, field)[index]
        yield holder, path


def _lists_of(name: str) -> set[tuple[str, str]]:
    """The message and the name of each list that such a message may hold."""
    seen: set[str] = set()
    found: set[tuple[str, str]] = set()
    pending = [schema.message(name).DESCRIPTOR]
    while pending:
        message = pending.pop()
        if message.full_name in seen:
            continue
        seen.add(message.full_name)
        for field in message.fields:
            if field.is_repeated:
                found.add((message.full_name, field.name))
            if field.message_type:
                pending.append(field.message_type)
    return found


def _crowds() -> dict[str, list[Path]]:
    """All lists of a message: of the first of its kind in the main graph and in the functions, and of the model."""
    found: dict[str, list[Path]] = {}
    known: dict[tuple[str, str], str] = {}
    for holder, path in _holders():
        name = ".".join(field for field, _ in path[:-1]) or "model"
        is_function = path[0][0] == "functions" and len(path) > 1
        if known.setdefault((holder.DESCRIPTOR.full_name, str(is_function)), name) == name:
            found.setdefault(name, []).append(path)
    return found


CROWDS: Final = _crowds()


@pytest.mark.timing
@pytest.mark.parametrize("variant", ["same", "strange"])
@pytest.mark.parametrize("holder", CROWDS)
def test_all_lists_of_a_message_together(holder: str, variant: str):
    paths = CROWDS[holder]
    assert_growth(_lint_grown(paths, variant), LARGE if len(paths) < MANY_LISTS else FEWER)


@pytest.mark.growth
@pytest.mark.parametrize("name", ALL)
@each_case("variant", VARIANTS)
def test_each_list_alone(name: str, variant: str):
    assert_growth(_lint_grown([ALL[name]], variant))


# --- lists that are asked for each entry of another


@pytest.mark.timing
@pytest.mark.parametrize("matter", CROSSED)
def test_lists_that_are_asked_for_each_entry_of_another(matter: str):
    rule, text = CROSSED[matter]

    def work(count: int) -> Callable[[], object]:
        proto = text_format.Parse(HEAD + text(count), schema.message("ModelProto")())
        data = proto.SerializeToString()
        return lambda: lint(data)

    found = work(3)()
    assert isinstance(found, FileReport)
    assert rule in {item.rule for item in found.diagnostics}
    assert_growth(work, FEWER)


# --- reports


@pytest.mark.timing
@pytest.mark.parametrize("form", sorted(REPORTERS))
def test_reports_of_many_findings_and_of_many_files(form: str):
    data = text_format.Parse(
        HEAD + DEFAULT + graph(each('node { name: "n" op_type: "X#" input: "i" output: "i" }', 10)),
        schema.message("ModelProto")(),
    ).SerializeToString()
    file = lint(data)
    assert len(file.diagnostics) > 20

    def work(count: int) -> Callable[[], object]:
        many = FileReport("many.onnx", 1, file.diagnostics * (count // 10), facts=file.facts)
        few = [FileReport(f"{index}.onnx", 1, file.diagnostics[:2]) for index in range(count)]
        report = Report((many, *few), "1.21", "onnx-ml", ("cycle",))
        return lambda: write_report(form, report, io.StringIO(), Options())

    assert_growth(work, FEWER)


@pytest.mark.timing
def test_a_baseline_of_many_findings():
    path = ALL["graph.node"]

    def work(count: int) -> Callable[[], object]:
        file = lint(grown(template(), [path], VARIANTS["strange"], count).SerializeToString())

        def written_and_read() -> None:
            entries = entries_of(file.diagnostics)
            assert not suppress_known(file, entries).diagnostics
            to_json({"model.onnx": entries})

        return written_and_read

    assert_growth(work, FEWER)
