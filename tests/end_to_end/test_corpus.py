# SPDX-License-Identifier: Apache-2.0
"""No false alarm on the models that the onnx wheel brings: `python -m pytest -m corpus`.

The models are those that ONNX tests its backends with, and the node test cases of its operator documentation. A model
may get a finding of severity error only if it breaks the clause that KNOWN names.
"""

from __future__ import annotations

import functools
import warnings
from collections.abc import Iterable
from pathlib import Path

import pytest
from support.project.unasked_rules import missed

from onnx_lint import lint
from onnx_lint.engine.settings import Settings
from onnx_lint.input.source import BytesSource
from onnx_lint.loader import load
from onnx_lint.report.totals import Report
from onnx_lint.spec.clauses import Severity

pytestmark = pytest.mark.corpus

KNOWN: dict[tuple[str, str], str] = {}
"""Rule and clause that models really break, and which models, by a sentence."""


def _data() -> Path:
    import onnx.backend.test

    return Path(onnx.backend.test.__file__).parent / "data"


@functools.cache
def _files() -> tuple[Path, ...]:
    return tuple(sorted(path for path in _data().rglob("*.onnx")))


@functools.cache
def _node_cases() -> dict[str, bytes]:
    """Each node test case by its name, made in memory."""
    from onnx.backend.test.case.node import collect_testcases

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the reference implementation overflows on purpose
        return {case.name: case.model.SerializeToString() for case in collect_testcases(None) if case.model is not None}


@functools.cache
def _errors() -> dict[str, list[tuple[str, str, str, str]]]:
    """The findings of severity error for each model of the corpus."""
    models: dict[str, str | bytes] = {str(path.relative_to(_data())): str(path) for path in _files()}
    return {name: _errors_of(lint(model)) for name, model in (models | _node_cases()).items()}


def _errors_of(report: Report) -> list[tuple[str, str, str, str]]:
    assert not any(file.internal_errors or file.unreadable for file in report.files), report.files
    assert all(file.facts is not None for file in report.files), "the model loads"
    return [
        (found.rule, found.clause, found.place, found.message)
        for found in report.diagnostics
        if found.severity is Severity.ERROR
    ]


def _false_alarms(names: Iterable[str]) -> dict[str, list[tuple[str, str, str, str]]]:
    alarms = {name: [found for found in _errors()[name] if found[:2] not in KNOWN] for name in names}
    return {name: found for name, found in alarms.items() if found}


def test_the_corpus_is_there():
    assert len(_files()) >= 140
    assert len(_node_cases()) >= 1500


def test_backend_models_have_no_errors():
    assert _false_alarms(str(path.relative_to(_data())) for path in _files()) == {}


def test_node_test_cases_have_no_errors():
    assert _false_alarms(_node_cases()) == {}


def test_a_rule_finds_nothing_in_models_that_lack_what_it_is_about():
    models = {str(path): path.read_bytes() for path in _files()} | _node_cases()
    found = {name: missed(load(BytesSource(data), name), Settings()) for name, data in models.items()}
    assert {name: messages for name, messages in found.items() if messages} == {}


def test_known_breaches_are_still_there():
    """A row that no model needs any more leaves the table."""
    seen = {found[:2] for errors in _errors().values() for found in errors}
    assert [key for key in KNOWN if key not in seen] == []
