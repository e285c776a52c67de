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
import pytest
from support.models.asked_programs import CHECKER, FULL_CHECK, ONNXRUNTIME, outcomes, runtimes
from support.models.everyday_mistakes import MISTAKES, everyday_mistakes
from support.models.placed_faults import Faulty, placed_faults

from onnx_lint import lint
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
"""The clauses about files that are no binary model, which the suite has in text form, or that are too large for it."""


@pytest.fixture(scope="module")
def placed(tmp_path_factory: pytest.TempPathFactory) -> list[Faulty]:
    return list(placed_faults(tmp_path_factory.mktemp("placed") / "suite"))


def test_without_a_target_no_report_speaks_of_a_program() -> None:
    """The everyday mistakes, in the fields that all report forms print."""
    found = [item for _, model in everyday_mistakes(90, seed=64) for item in lint(model).diagnostics]
    assert len(found) > 90
    said = [item.message for item in found] + [item.allowed or "" for item in found]
    assert [text for text in said if re.search(r"onnx\.checker|onnx\.full_check|onnxruntime", text)] == []
    assert [item for item in found if item.by_target.accepted_by or item.by_target.refused_by] == []


def test_each_mistake_but_none_is_reported() -> None:
    reports = {name: lint(model) for name, model in everyday_mistakes(len(MISTAKES), seed=1)}
    assert [name for name, report in reports.items() if not report.diagnostics] == ["nothing_wrong_41"]


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
def test_fixtures_are_judged_as_onnx_runtime_judges_them(placed: list[Faulty]) -> None:
    for version, python in _runtimes().items():
        assert _untrue([each.path for each in placed], f"onnxruntime={version}", ONNXRUNTIME, python) == [], version


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
    for path, found in placed:
        verdicts[found.clause, found.cited.case].add(reasons[path] is None)
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
