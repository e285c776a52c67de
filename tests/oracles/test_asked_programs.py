# SPDX-License-Identifier: Apache-2.0
"""What onnx-lint says of other programs, compared with what they do.

Under `--target NAME` a finding says what NAME does with it, and the last lines say whether NAME takes the model.
Without it, only `explain CLAUSE` and the pages of rules speak of programs. The rows that `explain` prints are proven
here too.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from pathlib import Path

import onnx
import pytest
from support.models.asked_programs import CHECKER, FULL_CHECK, ONNXRUNTIME, outcomes
from support.models.everyday_mistakes import MISTAKES, everyday_mistakes
from support.models.placed_faults import Faulty, placed_faults

from onnx_lint import lint
from onnx_lint.spec.clauses import ACCEPTED, REFUSED, Clause, clauses

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
    assert [item for item in found if item.accepted_by or item.refused_by] == []


def test_each_mistake_but_none_is_reported() -> None:
    reports = {name: lint(model) for name, model in everyday_mistakes(len(MISTAKES), seed=1)}
    assert [name for name, report in reports.items() if not report.diagnostics] == ["nothing_wrong_41"]


@pytest.mark.parametrize("target", OF_ONNX)
def test_everyday_mistakes_are_judged_as_the_checker_judges_them(tmp_path: Path, target: str) -> None:
    _skip_other_onnx()
    assert _untrue(_written(tmp_path), target, OF_ONNX[target]) == []


@pytest.mark.consumers
def test_everyday_mistakes_are_judged_as_onnx_runtime_judges_them(tmp_path: Path) -> None:
    assert _untrue(_written(tmp_path), _runtime(), ONNXRUNTIME) == []


@pytest.mark.differential
@pytest.mark.parametrize("target", OF_ONNX)
def test_fixtures_are_judged_as_the_checker_judges_them(placed: list[Faulty], target: str) -> None:
    _skip_other_onnx()
    assert _untrue([each.path for each in placed], target, OF_ONNX[target]) == []


@pytest.mark.consumers
def test_fixtures_are_judged_as_onnx_runtime_judges_them(placed: list[Faulty]) -> None:
    assert _untrue([each.path for each in placed], _runtime(), ONNXRUNTIME) == []


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
        verdicts[found.clause, found.case].add(reasons[path] is None)
    for clause in clauses().values():
        for case, is_accepted in _rows(clause, consumer):
            if clause.id not in UNFIXTURED:
                assert verdicts.get((clause.id, case)) == {is_accepted}, (clause.id, case)


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


def _untrue(files: list[Path], target: str, program: str) -> list[str]:
    """Return what is said of a program and is not so: of the models, and of their findings."""
    reasons = outcomes(files, program)
    found = []
    for file in files:
        report, reason = lint(file, target=target), reasons[file]
        is_blind = reason is not None and any(blind in reason for blind in BLIND)
        (verdict,) = report.files[0].targets
        if verdict.loads is (reason is not None) and verdict.loads is not None and not (verdict.loads and is_blind):
            found.append(f"{file}: {verdict.said}; {reason}")
        said = [text for item in report.diagnostics for _, text in item.by_target]
        if reason is None and any(text.startswith("refuse") for text in said):
            found.append(f"{file}: {said}; accepted")
        has_one = len(report.diagnostics) == 1 and reason is not None and not is_blind
        if has_one and any(text.startswith(("accept", "load")) for text in said):
            found.append(f"{file}: {said}; {reason}")
    return found


def _skip_other_onnx() -> None:
    if not onnx.__version__.startswith("1.23"):
        pytest.skip(f"the rows are about onnx 1.23, not {onnx.__version__}")


def _runtime() -> str:
    onnxruntime = pytest.importorskip("onnxruntime", reason="no part of the development packages")
    if not onnxruntime.__version__.startswith("1.32"):
        pytest.skip(f"no rows for onnxruntime {onnxruntime.__version__}")
    return f"onnxruntime={onnxruntime.__version__}"
