# SPDX-License-Identifier: Apache-2.0
"""What onnx-lint says of other programs, compared with what they do.

Under `--target NAME` a finding says what NAME does with it, and the last lines say whether NAME takes the model.
Without it, only `explain CLAUSE` and the pages of rules speak of programs. The rows that `explain` prints are proven
here too.
"""

from __future__ import annotations

import os
import re
import sys
from collections import defaultdict
from collections.abc import Iterator, Mapping
from pathlib import Path

import onnx
import onnx.parser
import pytest
from google.protobuf.json_format import MessageToJson
from google.protobuf.text_format import MessageToString
from support.models.asked_programs import CHECKER, FULL_CHECK, ONNXRUNTIME, outcomes, runtimes
from support.models.everyday_mistakes import MISTAKES, everyday_mistakes
from support.models.placed_faults import Faulty, placed_faults
from support.wire.wire_bytes import tag, varint

from onnx_lint import lint
from onnx_lint.engine.targets.releases import TargetRelease
from onnx_lint.spec.clauses import ACCEPTED, REFUSED, Clause, clauses
from onnx_lint.spec.products import ProductRelease, product_releases, version_number
from onnx_lint.spec.releases import NEWEST_OPSET

OF_ONNX = {"onnx.checker": CHECKER, "onnx.full_check": FULL_CHECK}
BLIND = (
    "NOT_IMPLEMENTED",
    "is not a registered function/op",
    "guarantees support for models stamped",
    "Current official support",
    "MLDataType for: opaque",  # the types of a build, which the data do not have
    "One and only one of the attributes 'value'",  # the body of MeanVarianceNormalization, docs/faults_of_onnx.md
)
"""What ONNX Runtime says of a model that it refuses for another reason than the fault: a kernel that it lacks."""
OF_MACHINE = (
    r"string_normalizer|Failed to construct locale|the process ended with -11|nchwc_ops.h|rotary_embedding.cc"
    r"|float8e4m3fn"
)
"""Why ONNX Runtime refuses real models that are said to load: docs/targets.md, "Compared with ONNX Runtime"."""
UNFIXTURED = ("FIL-1a", "FIL-9")
"""The clauses about files that are no binary model, which the suite has in text form, or that are too large for it.

Tests below ask about them.
"""
GRAPH = "g (float[2] x) => (float[2] y) { y = Abs (x) }"
PARTS = 8
"""The fixtures are asked about in parts, so that no test reaches the limit of `faulthandler_timeout`."""


@pytest.fixture(scope="module")
def placed(tmp_path_factory: pytest.TempPathFactory) -> list[Faulty]:
    return list(placed_faults(tmp_path_factory.mktemp("placed") / "suite"))


def test_without_a_target_no_report_speaks_of_a_program() -> None:
    """The everyday mistakes, in the fields that all report forms print."""
    found = [item for _, model in everyday_mistakes(90, seed=64) for item in lint(model).diagnostics]
    assert len(found) >= 90
    said = [item.message for item in found] + [item.allowed or "" for item in found]
    assert [text for text in said if re.search(r"onnx\.checker|onnx\.full_check|onnxruntime", text)] == []
    assert [item for item in found if item.by_target.accepted_by or item.by_target.refused_by] == []


def test_each_mistake_but_none_is_reported() -> None:
    reports = {name: lint(model) for name, model in everyday_mistakes(len(MISTAKES), seed=1)}
    assert [name for name, report in reports.items() if not report.diagnostics] == ["nothing_wrong_41"]


@pytest.mark.slow
@pytest.mark.parametrize("target", OF_ONNX)
def test_everyday_mistakes_are_judged_as_the_checker_judges_them(tmp_path: Path, target: str) -> None:
    _skip_other_onnx()
    assert _untrue(_written(tmp_path), target, OF_ONNX[target]) == []


@pytest.mark.consumers
def test_everyday_mistakes_are_judged_as_onnx_runtime_judges_them(tmp_path: Path) -> None:
    files = _written(tmp_path)
    for version, python in _runtimes().items():
        assert _untrue(files, f"onnxruntime={version}", ONNXRUNTIME, python) == [], version


@pytest.mark.differential
@pytest.mark.parametrize("target", OF_ONNX)
def test_fixtures_are_judged_as_the_checker_judges_them(placed: list[Faulty], target: str) -> None:
    _skip_other_onnx()
    assert _untrue([each.path for each in placed], target, OF_ONNX[target]) == []


@pytest.mark.consumers
@pytest.mark.parametrize("part", range(PARTS))
def test_fixtures_are_judged_as_onnx_runtime_judges_them(placed: list[Faulty], part: int) -> None:
    files = [each.path for each in placed[part::PARTS]]
    assert len(files) > 500
    for version, python in _runtimes().items():
        assert _untrue(files, f"onnxruntime={version}", ONNXRUNTIME, python) == [], version


@pytest.fixture
def text_forms(tmp_path: Path) -> list[Path]:
    """Write files of FIL-1a: a model in text form, with the names of binary ones."""
    model = onnx.parser.parse_model(
        '<ir_version: 8, opset_import: ["": 17]> g (float[2] x) => (float[2] y) { y = Abs (x) }'
    )
    texts = {"json": MessageToJson(model), "textproto": MessageToString(model)}
    files = [tmp_path / f"{form}{suffix}" for form in texts for suffix in (".onnx", ".pb")]
    for file in files:
        file.write_text(texts[file.stem])
    return files


@pytest.fixture
def large_file(tmp_path: Path) -> Path:
    """Write a file of FIL-9: a model of 2 GiB, most of which is a hole in the file."""
    size, file = 2**31, tmp_path / "large.onnx"
    tensor = onnx.TensorProto(name="w", dims=[size // 4], data_type=1).SerializeToString() + tag(9, 2) + varint(size)
    graph = onnx.parser.parse_graph(GRAPH).SerializeToString()
    graph += tag(5, 2) + varint(len(tensor) + size) + tensor
    model = onnx.ModelProto(ir_version=8, opset_import=[onnx.helper.make_opsetid("", 17)]).SerializeToString()
    start = model + tag(7, 2) + varint(len(graph) + size) + graph
    with file.open("wb") as opened:
        opened.write(start)
        opened.truncate(len(start) + size)
    return file


def _assert_refused(files: list[Path], clause: str, target: str, program: str, python: str = sys.executable) -> None:
    """Assert that a program refuses each file, and that onnx-lint says so of the file and of the clause."""
    reasons = outcomes(files, program, python)
    for file in files:
        report = lint(file, target=target)
        (found,) = [item for item in report.diagnostics if item.clause == clause]
        assert reasons[file] is not None, file
        assert [text.startswith("refuse") for _, text in found.by_target.answers] == [True], file
        assert report.files[0].targets[0].loads is False, file


@pytest.mark.differential
@pytest.mark.parametrize("target", OF_ONNX)
def test_the_checker_refuses_text_forms_with_the_name_of_a_binary_one(text_forms: list[Path], target: str) -> None:
    _assert_refused(text_forms, "FIL-1a", target, OF_ONNX[target])


@pytest.mark.consumers
def test_onnx_runtime_refuses_text_forms_with_the_name_of_a_binary_one(text_forms: list[Path]) -> None:
    for version, python in _later_runtimes("FIL-1a").items():
        _assert_refused(text_forms, "FIL-1a", f"onnxruntime={version}", ONNXRUNTIME, python)


@pytest.mark.heavy
@pytest.mark.parametrize("target", OF_ONNX)
def test_the_checker_refuses_a_message_of_2_gib(large_file: Path, target: str) -> None:
    _assert_refused([large_file], "FIL-9", target, OF_ONNX[target])


@pytest.mark.heavy
def test_onnx_runtime_refuses_a_message_of_2_gib(large_file: Path) -> None:
    for version, python in _later_runtimes("FIL-9").items():
        _assert_refused([large_file], "FIL-9", f"onnxruntime={version}", ONNXRUNTIME, python)


def _later_runtimes(clause: str) -> dict[str, str]:
    """Return the interpreters of the releases that the row of a clause is about."""
    row = _refused_by_onnxruntime(clauses()[clause])
    assert row is not None
    return {name: each for name, each in _runtimes().items() if version_number(name) >= version_number(row[1])}


@pytest.mark.consumers
def test_real_models_are_judged_as_onnx_runtime_judges_them() -> None:
    """Those of the wheel, and of the folders that ASKED_MODELS lists, separated by colons."""
    folders = [Path(onnx.__file__).parent, *map(Path, filter(None, os.environ.get("ASKED_MODELS", "").split(":")))]
    files = sorted(file for folder in folders for file in folder.rglob("*.onnx"))
    assert len(files) > 100
    for version, python in _runtimes().items():
        untrue = _untrue(files, f"onnxruntime={version}", ONNXRUNTIME, python)
        assert [each for each in untrue if not re.search(OF_MACHINE, each)] == [], version


@pytest.mark.differential
def test_real_models_are_judged_as_the_checker_judges_them() -> None:
    _skip_other_onnx()
    files = sorted(Path(onnx.__file__).parent.rglob("*.onnx"))
    assert len(files) > 100
    for target, program in OF_ONNX.items():
        assert _untrue(files, target, program) == []


@pytest.mark.differential
@pytest.mark.parametrize("consumer", OF_ONNX)
def test_each_row_about_onnx_is_proven_in_each_of_its_places(placed: list[Faulty], consumer: str) -> None:
    """`explain CLAUSE` prints the rows: all fixtures of a case or place are refused, or all are accepted."""
    _skip_other_onnx()
    reasons = outcomes([each.path for each in placed], OF_ONNX[consumer])
    verdicts: Mapping[tuple[str, str | None], set[bool]] = defaultdict(set)
    checker = TargetRelease(consumer, None)
    for path, found in placed:
        verdicts[found.clause, checker.stated_case(found)].add(reasons[path] is None)
    for clause in clauses().values():
        for case, is_accepted in _rows(clause, consumer):
            if clause.id not in UNFIXTURED:
                assert verdicts.get((clause.id, case)) == {is_accepted}, (clause.id, case)


@pytest.mark.consumers
def test_each_row_about_onnx_runtime_is_proven_by_each_release(placed: list[Faulty], tmp_path: Path) -> None:
    """`explain CLAUSE` names the releases. A file gets the IR version and the operator set of each.

    A kernel or operator that a release lacks is a reason of its own; where nothing else is said, that is the fault.
    """
    pytest.importorskip("onnxruntime", reason="no part of the development packages")
    rows = {name: row for name, clause in clauses().items() if (row := _refused_by_onnxruntime(clause)) is not None}
    files = [each for each in placed if each.found.clause in rows]
    assert len(files) > 500
    for version, python in runtimes().items():
        copies = {_fitted(each, product_releases(f"onnxruntime={version}")[0], tmp_path): each for each in files}
        reasons = outcomes(copies, ONNXRUNTIME, python)
        accepted = set()
        for copy, (_, found) in copies.items():
            first, cases = rows[found.clause][1], rows[found.clause][2]
            is_about = version_number(version) >= version_number(first) and (
                not cases or found.cited.case in cases.split(" or ")
            )
            if is_about and reasons[copy] is None:
                accepted.add((found.clause, found.cited.case, copy.name))
        assert accepted == set(), version


def _refused_by_onnxruntime(clause: Clause) -> re.Match[str] | None:
    return re.fullmatch(REFUSED, clause.refused_by.get("onnxruntime", ""))


def _fitted(each: Faulty, release: ProductRelease, folder: Path) -> Path:
    """Write a copy of a file that a release can read, and return its path."""
    model = onnx.ModelProto.FromString(each.path.read_bytes())
    model.ir_version = min(model.ir_version, release.ir_version or model.ir_version)
    for holder in (model, *model.functions):
        for entry in holder.opset_import:
            if entry.domain in ("", "ai.onnx") and entry.version <= NEWEST_OPSET[""]:
                entry.version = min(entry.version, release.opsets[""])
    path = folder / f"{release.version}_{abs(hash(each.path))}.onnx"
    path.write_bytes(model.SerializeToString())
    return path


def _rows(clause: Clause, consumer: str) -> Iterator[tuple[str, bool]]:
    """Yield the cases of the rows about a consumer; true where it accepts a violation."""
    refused = re.fullmatch(REFUSED, clause.refused_by.get(consumer, ""))
    accepted = [re.fullmatch(ACCEPTED, row) for row in clause.accepted_by]
    rows = [(refused[2], False)] if refused else []
    rows += [(row[3], True) for row in accepted if row is not None and row[1] == consumer]
    for cases, is_accepted in rows:
        assert cases or clause.id in UNFIXTURED, f"{clause.id}: a row about onnx names its places"
        for case in (cases or "").split(" or "):
            yield case, is_accepted


def _written(folder: Path) -> list[Path]:
    files = []
    for name, model in everyday_mistakes(90, seed=64):
        files.append(folder / f"{name}.onnx")
        files[-1].write_bytes(model.SerializeToString())
    return files


def _untrue(files: list[Path], target: str, program: str, python: str = sys.executable) -> list[str]:
    """Return what is said of a program and is not so: of the models, and of their findings."""
    reasons = outcomes(files, program, python)
    found = []
    for file in files:
        report, reason = lint(file, target=target), reasons[file]
        is_blind = reason is not None and any(blind in reason for blind in BLIND)
        (verdict,) = report.files[0].targets
        if verdict.loads is (reason is not None) and verdict.loads is not None and not (verdict.loads and is_blind):
            found.append(f"{file}: {verdict.text}; {reason}")
        said = [text for item in report.diagnostics for _, text in item.by_target.answers]
        if reason is None and any(text.startswith("refuse") for text in said):
            found.append(f"{file}: {said}; accepted")
        has_one = len(report.diagnostics) == 1 and reason is not None and not is_blind
        if has_one and any(text.startswith(("accept", "load")) for text in said):
            found.append(f"{file}: {said}; {reason}")
    return found


def _skip_other_onnx() -> None:
    if not onnx.__version__.startswith("1.23"):
        pytest.skip(f"the rows are about onnx 1.23, not {onnx.__version__}")


def _runtimes() -> dict[str, str]:
    pytest.importorskip("onnxruntime", reason="no part of the development packages")
    return runtimes()
