# SPDX-License-Identifier: Apache-2.0
"""In a GitHub workflow at most ten annotations follow the text report, unless a format or a file is asked for."""

from __future__ import annotations

import io
from pathlib import Path

import pytest
from support.reports.made_up_report import error, note, warning

from onnx_lint.cli.application import run
from onnx_lint.common.record import replace
from onnx_lint.report.file_report import FileReport, InternalError
from onnx_lint.report.totals import Report
from onnx_lint.reporters import ANNOTATIONS, REPORTERS, Options, writer_for

UNDEFINED = """ir_version: 10 producer_name: "p" opset_import { version: 20 }
graph { name: "g"
  node { op_type: "Abs" input: "gone" output: "y" }
  output { name: "y" type { tensor_type { elem_type: 1 shape { dim { dim_value: 2 } } } } } }
"""


def annotated(*files: FileReport) -> list[str]:
    """The lines for these files, each with its type, file and rule alone if it is an annotation."""
    report, stream = Report(files, "1.23", "onnx-ml"), io.StringIO()
    writer = writer_for(ANNOTATIONS)(report, stream, Options(root="/"), len(files))
    for file in files:
        writer.file(file)
    writer.end(report)
    lines = []
    for line in stream.getvalue().splitlines():
        command, _, rest = line.partition("::")[2].partition(" file=")
        file, title = rest.partition(",")[0], rest.partition("%3A ")[2].partition("::")[0]
        lines.append(f"{command} {file} {title}" if rest else line)
    return lines


def of(*found, name: str = "m.onnx", **facts) -> FileReport:
    return FileReport(str(Path.cwd() / name), 9, found, **facts)


def test_nothing_is_written_without_a_finding() -> None:
    assert annotated(of(), of(name="n.onnx")) == []


def test_the_most_severe_findings_of_all_files_come_first() -> None:
    here = str(Path.cwd()).lstrip("/")
    files = (of(note(), warning(1), name="a.onnx"), of(error(), name="b.onnx"))
    assert annotated(*files) == [
        f"error {here}/b.onnx twice-defined",
        f"warning {here}/a.onnx odd-name",
        f"notice {here}/a.onnx nothing-known",
    ]


def test_what_was_not_checked_is_an_error() -> None:
    crash = InternalError("cycle", "ValueError: x", "Traceback")
    lines = annotated(of(warning(1), internal_errors=(crash,)), of(name="b.onnx", unreadable="no such file"))
    assert [line.split()[0] for line in lines] == ["error", "error", "warning"]
    assert [line.split(maxsplit=2)[2] for line in lines] == ["internal error", "not checked", "odd-name"]


def test_there_are_at_most_ten_and_a_line_counts_the_others() -> None:
    many = [replace(error(), rule="common") for _ in range(30)]
    lines = annotated(of(*many, replace(error(), rule="rare"), warning(1)), of(warning(2), name="b.onnx"))
    assert [line.rpartition(" ")[2] for line in lines[:10]] == ["common", "rare", *["common"] * 8]
    assert lines[10:] == ["23 more findings have no annotation"]
    assert annotated(of(*many[:11]))[10:] == ["1 more finding has no annotation"]


def test_it_is_no_format_that_can_be_asked_for() -> None:
    assert ANNOTATIONS not in REPORTERS


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    Path("m.textproto").write_text(UNDEFINED)
    return tmp_path


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize(
    ("variable", "options", "count"),
    [
        ("true", [], 1),
        ("true", ["-q"], 1),
        ("true", ["-f", "text"], 0),
        ("true", ["-f", "concise"], 0),
        ("true", ["-f", "github"], 1),
        ("true", ["-o", "report.txt"], 0),
        ("true", ["-o", "json=report.json"], 0),
        ("false", [], 0),
        ("", [], 0),
    ],
)
def test_they_follow_the_text_in_a_workflow(
    variable: str, options: list[str], count: int, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("GITHUB_ACTIONS", variable)
    assert run(["m.textproto", *options]) == 1
    lines = capsys.readouterr().out.splitlines()
    assert [line.startswith("::") for line in lines].count(True) == count
    if count and "github" not in options:
        assert lines[0].startswith("error[undefined-name]: ")
        assert lines[-1].startswith("::error file=m.textproto,line=3,col=32,title=onnx-lint%3A undefined-name::")
        monkeypatch.delenv("GITHUB_ACTIONS")
        run(["m.textproto", *options])
        assert capsys.readouterr().out.splitlines() == lines[:-1]
