# SPDX-License-Identifier: Apache-2.0
"""What reports say of all files: no format says more, and none says less."""

from __future__ import annotations

import io
import json
import re
from collections.abc import Sequence
from html import unescape

import pytest
from support.project.each_case import each_case
from support.reports.made_up_report import error, note, warning

from onnx_lint.common.record import replace
from onnx_lint.report.file_report import (
    Counted,
    FileReport,
    InternalError,
    Repair,
    Shapes,
    TargetVerdict,
    UnknownShapeCause,
)
from onnx_lint.report.findings import Diagnostic
from onnx_lint.report.totals import Report
from onnx_lint.report.verdict import verdict_in_words, verdict_lines
from onnx_lint.reporters import Options, write_report
from onnx_lint.spec.clauses import Severity

CLEAN = FileReport("clean.onnx", 9)
BROKEN = FileReport("broken.onnx", 9, (error(), error(), warning(1)))
WARNED = FileReport("warned.onnx", 9, (warning(1), warning(2)))
POLICY = FileReport("policy.onnx", 9, (error(declared_by="house.py", severity=Severity.WARNING),))
LOWERED = FileReport("lowered.onnx", 9, (error(severity=Severity.WARNING),))
KNOWN = FileReport("known.onnx", 9, suppressed=(error(), error()))
KNOWN_WARNING = FileReport("known_warning.onnx", 9, suppressed=(warning(1),))
CONFIGURED = FileReport("configured.onnx", 9, suppressed=(error(suppressed_by='suppress[1]: "known"'),))
LEFT_OUT = FileReport("selected.onnx", 9, gaps=("1 of 170 default rules checked",))
UNREAD = "the files of external data were not examined, because external data is switched off"
OPEN = FileReport("open.onnx", 9, incomplete=(UNREAD,))
CUSTOM = FileReport("custom.onnx", 9, not_verified=(("com.acme", 3),))
LIMITED = FileReport("limited.onnx", 9, shapes=Shapes(20, 4, (UnknownShapeCause("budget", "acme::f", 4),)))
CRASHED = FileReport("crashed.onnx", 9, internal_errors=(InternalError("cycle", "ValueError: x", "Traceback"),))
MISSING = FileReport("missing.onnx", 0, unreadable="missing.onnx: No such file or directory")
UNNAMED = FileReport("lfs.onnx", 9, not_judged="the file is a pointer", gaps=("11 of 12 default rules checked",))
POINTER = FileReport("pointer.onnx", 9, (error(),), not_judged="the file is a pointer")
EMPTY = FileReport("empty.onnx", 0, not_judged="the file is empty")
IGNORED = FileReport("ignored.onnx", 9, rules=())
ONLY_ONNX = FileReport("only.onnx", 9, edition="1.16", variant="onnx", rules=("cycle",))
OLDER = FileReport("older.onnx", 9, edition="1.16", variant="onnx-ml", rules=("cycle",))
FIXED = FileReport("fixed.onnx", 9, repair=Repair(fixed=(("cycle", 2),)))
NAMES = FileReport("names.onnx", 9, counted=(Counted("non-c90-name", 3, ("name is odd", "names are odd")),))


def of_program(path: str, *, loads: bool | None) -> FileReport:
    said = {True: "loads, as far as its data say", False: "refuses it: 1 cause", None: "not judged: 1 node"}[loads]
    return FileReport(
        path,
        9,
        targets=(
            TargetVerdict("onnxruntime 1.32.0", loads, said, "" if loads is not None else said, basis=", it says"),
        ),
    )


def several(file: FileReport) -> list[FileReport]:
    """The same report on two files."""
    return [file, replace(file, path=f"other_{file.path}")]


def run_of(files: Sequence[FileReport], **facts: object) -> Report:
    return Report(tuple(files), "1.23", "onnx-ml", rules=("cycle",), **facts)  # type: ignore[arg-type]  # any field


CASES: list[tuple[list[FileReport], list[str]]] = [
    ([CLEAN], ["1 model conforms to ONNX 1.23"]),
    (several(CLEAN), ["2 models conform to ONNX 1.23"]),
    ([CLEAN, WARNED], ["2 models conform to ONNX 1.23; 2 warnings in 1 of them"]),
    (several(WARNED), ["2 models conform to ONNX 1.23; 4 warnings"]),
    ([CLEAN, POLICY], ["2 models conform to ONNX 1.23; house.py: 1 warning in 1 of them"]),
    (several(BROKEN), ["2 models do not conform to ONNX 1.23: 4 errors, 2 warnings"]),
    ([BROKEN], ["1 model does not conform to ONNX 1.23: 2 errors, 1 warning"]),
    ([CLEAN, BROKEN], ["2 models: 1 conforms to ONNX 1.23, 1 does not (2 errors, 1 warning)"]),
    ([*several(CLEAN), WARNED, *several(BROKEN)], [
        "5 models: 3 conform to ONNX 1.23 (2 warnings in 1 of them), 2 do not (4 errors, 2 warnings)",
    ]),
    ([CLEAN, LOWERED], ["2 models: 1 conforms to ONNX 1.23, 1 does not (1 warning)"]),
    (several(LEFT_OUT), ["2 models: no findings; 1 of 170 default rules checked"]),
    ([CLEAN, LEFT_OUT], [
        "2 models: 1 conforms to ONNX 1.23, 1 has no verdict; 1 of 170 default rules checked in 1 of 2 models",
    ]),
    ([BROKEN, LEFT_OUT], [
        "2 models: 1 does not conform to ONNX 1.23 (2 errors, 1 warning), 1 has no verdict; "
        "1 of 170 default rules checked in 1 of 2 models",
    ]),
    ([KNOWN], ["1 model has no new findings but does not conform to ONNX 1.23; 2 suppressed by the baseline"]),
    (several(KNOWN), ["2 models have no new findings but do not conform to ONNX 1.23; 4 suppressed by the baseline"]),
    (several(KNOWN_WARNING), ["2 models: no new findings; 2 suppressed by the baseline"]),
    ([CLEAN, BROKEN, KNOWN, KNOWN_WARNING], [
        "4 models: 1 conforms to ONNX 1.23, 1 does not (2 errors, 1 warning), "
        "1 has no new findings but does not conform (known.onnx), 1 has no new findings; 3 suppressed by the baseline",
    ]),
    ([CLEAN, POINTER], ["2 models: 1 conforms to ONNX 1.23, 1 does not (1 error); 1 file holds no readable model"]),
    ([CLEAN, POINTER, POINTER], [
        "3 models: 1 conforms to ONNX 1.23, 2 do not (2 errors); 2 files hold no readable model",
    ]),
    ([POINTER], ["1 model does not conform to ONNX 1.23: 1 error"]),
    ([CLEAN, *[KNOWN] * 5], [
        "6 models: 1 conforms to ONNX 1.23, 5 have no new findings but do not conform "
        "(known.onnx, known.onnx, known.onnx, 2 more); 10 suppressed by the baseline",
    ]),
    ([CLEAN, KNOWN, CONFIGURED], [
        "3 models: 1 conforms to ONNX 1.23, 2 have no new findings but do not conform (known.onnx, configured.onnx); "
        "2 suppressed by the baseline; 1 suppressed by the configuration",
    ]),
    (several(OPEN), [
        "2 models: no findings; 2 not verified in full",
        f"not verified: {UNREAD} (2 of 2 models)",
    ]),
    ([CLEAN, OPEN], [
        "2 models: 1 conforms to ONNX 1.23, 1 has no verdict; 1 not verified in full",
        f"not verified: {UNREAD} (open.onnx)",
    ]),
    ([OPEN], [
        "1 model: no findings; 1 not verified in full",
        f"not verified: {UNREAD}",
    ]),
    ([*several(CUSTOM), CLEAN], [
        "3 models conform to ONNX 1.23",
        "not verified: 6 nodes of domain 'com.acme', whose operators have no known signature (2 of 3 models)",
    ]),
    (several(LIMITED), [
        "2 models: no findings; 2 not verified in full",
        "not verified: the shapes of 8 of 40 values: the shapes that 'acme::f' produces are unknown (2 of 2 models)",
    ]),
    ([CLEAN, CRASHED], ["2 models: 1 conforms to ONNX 1.23, 1 has no verdict; not judged in full: 1 internal error"]),
    ([CLEAN, MISSING], ["2 files: 1 conforms to ONNX 1.23, 1 not checked"]),
    ([BROKEN, MISSING], ["2 files: 1 does not conform to ONNX 1.23 (2 errors, 1 warning), 1 not checked"]),
    (several(MISSING), ["2 files: none checked"]),
    ([MISSING], ["1 file: not checked"]),
    ([CLEAN, EMPTY], ["2 models: 1 conforms to ONNX 1.23, 1 not judged"]),
    (several(IGNORED), ["2 models: none judged"]),
    ([IGNORED, BROKEN], ["2 models: 1 does not conform to ONNX 1.23 (2 errors, 1 warning), 1 not judged"]),
    (several(ONLY_ONNX), ["2 models conform to ONNX 1.16 (onnx)"]),
    ([CLEAN, OLDER], ["2 models conform to the configured ONNX edition (1.16 or 1.23)"]),
    ([OLDER, BROKEN], [
        "2 models: 1 conforms to the configured ONNX edition (1.16 or 1.23), 1 does not (2 errors, 1 warning)",
    ]),
    ([LEFT_OUT, UNNAMED], ["2 models: 1 has no verdict, 1 not judged; 1 of 170 default rules checked"]),
    ([CLEAN, FIXED], ["2 models conform to ONNX 1.23; 2 findings fixed"]),
    (several(NAMES), ["2 models conform to ONNX 1.23", "pedantic: 6 names are odd: --pedantic lists them"]),
    ([of_program("a.onnx", loads=True), of_program("b.onnx", loads=False), of_program("c.onnx", loads=True)], [
        "3 models conform to ONNX 1.23",
        "onnxruntime 1.32.0: loads 2, it says; refuses 1 (b.onnx)",
    ]),
    ([of_program("a.onnx", loads=None), MISSING], [
        "2 files: 1 conforms to ONNX 1.23, 1 not checked",
        "onnxruntime 1.32.0: not proven to load 1 (a.onnx): not judged: 1 node; 1 not judged",
    ]),
    ([of_program(f"{number}.onnx", loads=False) for number in range(5)], [
        "5 models conform to ONNX 1.23",
        "onnxruntime 1.32.0: refuses 5 (0.onnx, 1.onnx, 2.onnx, 2 more)",
    ]),
    ([], ["0 files: none checked"]),
]  # fmt: skip
"""The files of a run, and what is said of them."""


def _first_line(case: tuple[list[FileReport], list[str]]) -> str:
    return case[1][0]


@each_case(("files", "lines"), CASES, ids=_first_line)
def test_all_files_have_a_verdict(files: list[FileReport], lines: list[str]) -> None:
    assert list(verdict_lines(run_of(files))) == lines


@pytest.mark.parametrize("form", ["text", "markdown", "github"])
def test_a_quiet_report_keeps_what_limits_the_verdict(form: str) -> None:
    files = [of_program("a.onnx", loads=None), of_program("b.onnx", loads=True), CUSTOM, NAMES]
    said = shown(form, run_of(files), quiet=True)
    for part in (
        "4 models conform to ONNX 1.23",
        "loads 1, it says; not proven to load 1 (a.onnx): not judged: 1 node; 2 not judged",
        "3 nodes of domain 'com.acme', whose operators have no known signature (custom.onnx)",
    ):
        assert part in said
    assert "pedantic" not in said


@pytest.mark.parametrize("form", ["text", "markdown", "github"])
def test_a_quiet_report_on_one_file_has_only_findings(form: str) -> None:
    assert shown(form, run_of([CUSTOM]), quiet=True).strip() == ""


@pytest.mark.parametrize(("count", "more"), [(3, "1 more reason"), (4, "2 more reasons")])
def test_the_reasons_of_several_files_are_counted(count: int, more: str) -> None:
    files = [*several(of_program("a.onnx", loads=None))]
    files += [replace(files[0], path=f"{number}", targets=(_unproven(number),)) for number in range(count)]
    assert list(verdict_lines(run_of(files)))[1] == (
        f"onnxruntime 1.32.0: not proven to load {count + 2} (a.onnx, other_a.onnx, 0, {count - 1} more): "
        f"not judged: 1 node (in 2) / reason 0 (in 1) / reason 1 (in 1) / {more}"
    )


def test_that_a_model_is_not_proven_to_load_is_said_once() -> None:
    reason = "1 violation of ONNX"
    verdict = TargetVerdict("onnxruntime 1.32.0", None, f"not proven to load it: {reason}", reason)
    files = several(FileReport("a.onnx", 9, targets=(verdict,)))
    assert list(verdict_lines(run_of(files)))[1] == (
        "onnxruntime 1.32.0: not proven to load 2 (a.onnx, other_a.onnx): 1 violation of ONNX"
    )


def _unproven(number: int) -> TargetVerdict:
    return TargetVerdict("onnxruntime 1.32.0", None, f"reason {number}", f"reason {number}")


def shown(form: str, report: Report, *, quiet: bool = False) -> str:
    """What a report shows, without the syntax of its format and on one line."""
    stream = io.StringIO()
    write_report(form, report, stream, Options(root="/", quiet=quiet))
    text = stream.getvalue()
    if form in ("json", "jsonl"):
        summary = json.loads(text)["summary"] if form == "json" else json.loads(text.splitlines()[-1])
        targets = [f"{each['program']}: {each['message']}" for each in summary.get("targets", ())]
        unverified = [f"not verified: {each}" for each in summary.get("not_verified", ())]
        return "\n".join([summary["verdict"], *targets, *unverified])
    if form == "markdown":
        text = re.sub(r"\\([^\w\s])", r"\1", text).replace("**", "")
    return re.sub(r"</?(?:span|code|b|p)\b[^>]*>", "", unescape(text)).replace("= ", "")


@each_case("form", ["text", "markdown", "html", "junit", "json", "jsonl", "github"])
@each_case(("files", "lines"), [case for case in CASES if len(case[0]) > 1], ids=_first_line)
def test_each_form_says_all_of_it(form: str, files: list[FileReport], lines: list[str]) -> None:
    text = shown(form, run_of(files))
    expected = [line for line in lines if form not in ("json", "jsonl") or not line.startswith("pedantic")]
    assert [line for line in expected if line not in text] == []


@each_case(
    "file",
    [file for files, _ in CASES for file in files if file.conformity.conforms is not True],
    ids=lambda file: file.path,
)
def test_two_files_are_never_said_to_conform_if_one_is_not(file: FileReport) -> None:
    """Neither with a second file of the same kind nor with one that conforms."""
    for files in (several(file), [file, CLEAN], [CLEAN, file]):
        verdict = verdict_in_words(run_of(files))
        assert not re.match(r"\d+ (models|files) conform to", verdict), verdict
    assert "conform" not in verdict_in_words(run_of(several(file))).replace("not conform", "")


def test_a_run_that_was_interrupted_says_so() -> None:
    report = run_of(several(CLEAN), not_linted=("later.onnx",))
    assert verdict_in_words(report) == "2 models conform to ONNX 1.23; interrupted: 2 of 3 files were linted"
    assert verdict_in_words(run_of([], not_linted=("a.onnx",))) == "interrupted: 0 of 1 file were linted"


@pytest.mark.parametrize(
    ("file", "not_judged", "conforms"),
    [
        (EMPTY, 1, None),
        (replace(EMPTY, diagnostics=(error(),)), 0, False),
        (replace(EMPTY, suppressed=(error(),)), 0, False),
        (replace(EMPTY, diagnostics=(error(declared_by="house.py"),)), 1, None),
    ],
)
def test_a_file_that_does_not_conform_is_not_also_not_judged(
    file: FileReport, not_judged: int, conforms: bool | None
) -> None:
    """A file without a model: either its finding is the verdict, or there is none."""
    stream = io.StringIO()
    write_report("json", run_of([file]), stream)
    report = json.loads(stream.getvalue())
    assert (report["summary"]["not_judged"], report["summary"]["conforms"]) == (not_judged, conforms)
    assert (report["files"][0]["not_judged"] is not None, report["files"][0]["conforms"]) == (
        not_judged == 1,
        conforms,
    )


def test_without_a_rule_no_file_conforms() -> None:
    assert verdict_in_words(Report((CLEAN, WARNED), "1.23", "onnx-ml")) == (
        "2 models: 1 conforms to ONNX 1.23 (2 warnings), 1 not judged"
    )


def test_many_different_sentences_are_counted() -> None:
    def lines(count: int) -> list[str]:
        files = [FileReport(f"{each}.onnx", 9, incomplete=(f"part {each} was left out",)) for each in range(count)]
        return list(verdict_lines(run_of(files)))[1:]

    assert lines(5)[-1] == "not verified: part 4 was left out (4.onnx)"
    assert lines(6)[-1] == "not verified: 1 more; --verbose lists it by file"
    assert lines(7)[4:] == [
        "not verified: part 4 was left out (4.onnx)",
        "not verified: 2 more; --verbose lists them by file",
    ]
    assert lines(101)[-1] == "not verified: more; --verbose lists them by file"


def test_names_of_strangers_are_escaped() -> None:
    name = "a\x1b[31m\n::error::b"
    files = [of_program(name, loads=False), FileReport(name, 9, incomplete=(name,), gaps=("x",)), CLEAN]
    lines = list(verdict_lines(run_of(files)))
    assert [line for line in lines if not line.isprintable() or " ::" in line] == []
    assert sum(r"a\x1b[31m\n::error::b" in line for line in lines) == 2


@pytest.mark.parametrize(("count", "more"), [(6, "1 more setting"), (7, "2 more settings")])
def test_settings_that_differ_from_file_to_file_are_counted(count: int, more: str) -> None:
    files = [FileReport(f"{each}.onnx", 9, gaps=(f"gap {each}",)) for each in range(count)]
    verdict = verdict_in_words(run_of(files))
    assert verdict.endswith(f"gap 4 in 1 of {count} models; {more} left something out")


def test_what_settings_left_out_is_counted_among_the_judged_files() -> None:
    assert verdict_in_words(run_of([MISSING, LEFT_OUT, CLEAN])).endswith(
        "1 of 170 default rules checked in 1 of 2 judged files"
    )
    assert verdict_in_words(run_of([MISSING, *several(LEFT_OUT)])).endswith("; 1 of 170 default rules checked")


@pytest.mark.parametrize(
    ("found", "expected"),
    [
        ((warning(1),), "m.onnx: conforms to ONNX 1.23; 1 warning\n"),
        ((error(severity=Severity.WARNING),), "m.onnx: does not conform to ONNX 1.23; 1 warning\n"),
        ((error(), note()), "m.onnx: 1 error, 1 note\n"),
        ((error(declared_by="house.py"),), "m.onnx: conforms to ONNX 1.23; house.py: 1 error\n"),
    ],
)
def test_one_file_has_a_word_where_the_numbers_do_not_say_it(found: tuple[Diagnostic, ...], expected: str) -> None:
    stream = io.StringIO()
    write_report("text", run_of([FileReport("m.onnx", 9, found)]), stream)
    assert stream.getvalue().endswith(expected)


@pytest.mark.parametrize(
    ("found", "known", "expected"),
    [
        ((), error(), "no new findings but does not conform to ONNX 1.23; 1 suppressed by the baseline"),
        ((), warning(1), "no new findings; 1 suppressed by the baseline"),
        ((warning(1),), error(), "does not conform to ONNX 1.23; 1 warning; 1 suppressed by the baseline"),
        ((error(),), error(), "1 error; 1 suppressed by the baseline"),
    ],
)
def test_one_file_is_never_green_without_a_word_if_a_violation_is_suppressed(
    found: tuple[Diagnostic, ...], known: Diagnostic, expected: str
) -> None:
    file = FileReport("m.onnx", 9, found, suppressed=(known,))
    stream = io.StringIO()
    write_report("text", run_of([file]), stream)
    assert stream.getvalue().endswith(f"m.onnx: {expected}\n")
    stream = io.StringIO()
    write_report("json", run_of([file]), stream)
    assert json.loads(stream.getvalue())["summary"]["conforms"] is (None if known.severity != Severity.ERROR else False)
