# SPDX-License-Identifier: Apache-2.0
"""The rows `accepted_by` about ONNX Runtime, proven: a release loads the fixtures, and runs some.

tests/oracles/test_asked_programs.py proves those about onnx.

Fixtures with an operator or version that the release lacks prove nothing, and are left out.
"""

from __future__ import annotations

import multiprocessing
import re
from collections import defaultdict
from collections.abc import Callable, Iterator
from functools import cache
from itertools import takewhile
from multiprocessing.connection import Connection
from typing import Any

import numpy as np
import onnx
import pytest
from google.protobuf import text_format
from onnx import GraphProto, ModelProto, helper
from support.project.fixture_files import Fixture, fixtures

from onnx_lint import lint
from onnx_lint.spec.clauses import ACCEPTED, PLACES, clauses
from onnx_lint.spec.standard import DEFAULT_STANDARD

pytestmark = pytest.mark.consumers

NEVER = ("file", "external-data", "tensor", "sparse-tensor", "attribute", "policy", "target", "hygiene")
"""The chapters about files, paths, bytes and values. A consumer that takes such a fault may read something else."""
HIDING = ("unknown-opset-version", "deprecated-operator")
"""The rules behind whose findings nothing is judged."""
LEAST, LEAST_OF_A_CASE = 2, 3
POOLED = "training"
"""The case that is one fact about ONNX Runtime, which never reads the training: its fixtures count together."""

Evidence = dict[tuple[str, str | None], list[tuple[str, ModelProto]]]
"""For each clause and case the fixtures that violate it and nothing else: the rule that finds it, and the model."""


def _rows(program: str, version: str) -> set[tuple[str, str | None]]:
    """Return the clauses and cases that the release is said to accept."""
    found = set()
    for name, clause in clauses().items():
        for row in [re.fullmatch(ACCEPTED, each) for each in clause.accepted_by]:
            if row is not None and row[1] == program and f"{version}.".startswith(f"{row[2]}."):
                found.update((name, case) for case in (row[3].split(" or ") if row[3] else [None]))
    return found


@cache
def _evidence(target: str) -> Evidence:
    """Return the evidence of the invalid fixtures."""
    rules = {rule for clause in clauses().values() if clause.accepted_by or clause.refused_by for rule in clause.rules}
    found: Evidence = defaultdict(list)
    for fixture in fixtures():
        model = _model(fixture) if fixture.rule in rules and fixture.path.parent.name == "invalid" else None
        if model is None:
            continue
        report = lint(model, target=["onnx", target])
        faults = report.errors or [item for item in report.diagnostics if item.keyword == "practice"]
        kinds = {(item.rule, item.clause, item.cited.case) for item in faults if item.cited.declared_by is None}
        if len(kinds) == 1 and not any(item.cited.declared_by == "target" for item in report.errors):
            ((rule, name, case),) = kinds
            found[name, case].append((rule, model))
    return found


def _model(fixture: Fixture) -> ModelProto | None:
    if not fixture.is_text or fixture.proto or fixture.settings.standard != DEFAULT_STANDARD or fixture.directory:
        return None
    if any(name in ("limit", "option", "target", "name") for name, _ in fixture.headers):
        return None
    try:
        return text_format.Parse(fixture.text, ModelProto())
    except text_format.ParseError:
        return None


def test_the_rows_are_about_nothing_that_a_consumer_may_misread() -> None:
    for name, clause in clauses().items():
        if clause.accepted_by:
            assert clause.chapter not in NEVER, name
            assert not set(clause.rules) & set(HIDING), name


def test_what_onnx_runtime_is_said_to_accept_it_loads_and_runs() -> None:
    onnxruntime = pytest.importorskip("onnxruntime", reason="no part of the development packages")
    rows = _rows("onnxruntime", onnxruntime.__version__)
    if not rows:
        pytest.skip(f"no rows for onnxruntime {onnxruntime.__version__}")
    evidence = _evidence(f"onnxruntime={onnxruntime.__version__}")
    # Places without a fixture of their own have moved ones in test_asked_programs.py.
    rows = {row for row in rows if row[1] not in PLACES or evidence.get(row)}
    _hold(rows, evidence, lambda model: _outcome(_load, model))
    by_clause = {(name, case if case == POOLED or case not in PLACES else None) for name, case in rows}
    for row in by_clause:
        outcomes = (_outcome(_run_beside_twin, model) for _, model in _of_row(evidence, row))
        told = list(takewhile(lambda each: each is not None, outcomes))
        assert len(told) < len(_of_row(evidence, row)), (row, told)
        assert "differs from its twin" not in told, row


def _of_row(evidence: Evidence, row: tuple[str, str | None]) -> list[tuple[str, ModelProto]]:
    """Return the fixtures of a row: those of its case, and for a row without one those of each case."""
    return [each for key, found in evidence.items() if key[0] == row[0] and row[1] in (None, key[1]) for each in found]


def _hold(rows: set[tuple[str, str | None]], evidence: Evidence, outcome: Callable[[ModelProto], str | None]) -> None:
    """Fail if a row has too few fixtures, if one of them is refused, or one of another case is accepted."""
    pooled = 0
    for row in sorted(rows, key=str):
        own = _of_row(evidence, row)
        verdicts = list(_verdicts([model for _, model in own], outcome))
        assert [why for why in verdicts if why] == [], row
        if row[1] == POOLED:
            pooled += len(verdicts)
            continue
        assert len(verdicts) >= (1 if row[1] in PLACES else LEAST if row[1] is None else LEAST_OF_A_CASE), row
        if row[1] is not None and row[1] not in PLACES:
            rules = {rule for rule, _ in own}
            cases = {case for name, case in evidence if name == row[0]} - {
                case for name, case in rows if name == row[0]
            }
            others = [model for case in cases for rule, model in evidence[row[0], case] if rule in rules]
            assert None not in list(_verdicts(others, outcome)), row
    assert pooled == 0 or pooled >= LEAST_OF_A_CASE


def _verdicts(models: list[ModelProto], outcome: Callable[[ModelProto], str | None]) -> Iterator[str | None]:
    for model in models:
        why = outcome(model)
        if why is None or not any(blind in why for blind in ("NOT_IMPLEMENTED", "is not a registered function/op")):
            yield why


def _outcome(work: Callable[[ModelProto], str | None], model: ModelProto) -> str | None:
    """Return the result of some work in a process of its own, which some models end: None if all went well."""
    receiving, sending = multiprocessing.Pipe(duplex=False)
    process = multiprocessing.get_context("fork").Process(target=_send, args=(sending, work, model))
    process.start()
    sending.close()
    try:
        return str(said) if receiving.poll(60) and (said := receiving.recv()) is not None else None
    except EOFError:
        return "the process ended"
    finally:
        process.kill()
        process.join()


def _send(sending: Connection, work: Callable[[ModelProto], str | None], model: ModelProto) -> None:
    try:
        sending.send(work(model))
    except Exception as error:
        sending.send(f"{type(error).__name__}: {error}")


def _checked(model: ModelProto) -> str | None:
    try:
        onnx.checker.check_model(model)
    except onnx.checker.ValidationError as error:
        return str(error)
    return None


def _session(model: ModelProto) -> Any:
    import onnxruntime

    onnxruntime.set_default_logger_severity(4)
    return onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])


def _load(model: ModelProto) -> None:
    _session(model)


def _run_beside_twin(model: ModelProto) -> str | None:
    """Run the model and its twin without the fault on the same inputs. Return how they differ, None if they do not."""
    session = _session(model)
    kinds = {"float": "f4", "double": "f8", "float16": "f2", "bool": "?", "int64": "i8", "int32": "i4", "uint8": "u1"}
    given = {
        each.name: np.ones([size if isinstance(size, int) and size >= 0 else 2 for size in each.shape], kind)
        for each in session.get_inputs()
        for kind in [kinds[each.type[7:-1]]]
    }
    results = session.run(None, given)
    twin = _twin(model, given, results)
    if lint(twin).errors:
        return f"the twin is at fault: {lint(twin).errors[0].message}"
    others = _session(twin).run(None, given)
    same = all(
        np.array_equal(one, other, equal_nan=one.dtype.kind == "f") for one, other in zip(results, others, strict=True)
    )
    return None if same else "differs from its twin"


def _twin(model: ModelProto, given: dict[str, Any], results: list[Any]) -> ModelProto:
    """Return the model as it should be: with the types that a run shows, in order, and with names of its own."""
    twin = ModelProto()
    twin.CopyFrom(model)
    twin.ir_version = 14 if any(kind in str(model) for kind in ("float8", "uint4")) else max(model.ir_version, 10)
    del twin.training_info[:]
    if all(entry.domain for entry in twin.opset_import):
        twin.opset_import.add(version=17)
    used = {node.domain for node in twin.graph.node} - {entry.domain for entry in twin.opset_import}
    twin.opset_import.extend(helper.make_opsetid(domain, 1) for domain in sorted(used))
    graph = twin.graph
    for list_, values in ((graph.input, list(given.values())), (graph.output, results)):
        initialized = {each.name for each in graph.initializer}
        declared = [each for each in list_ if list_ is graph.output or each.name not in initialized]
        for each, value in zip(declared, values, strict=True):
            kind = helper.np_dtype_to_tensor_dtype(value.dtype)
            each.CopyFrom(helper.make_tensor_value_info(each.name, kind, value.shape))
    _mend(graph, "", {})
    return twin


def _mend(graph: GraphProto, path: str, outer: dict[str, str]) -> None:
    """Give a graph and its nodes names, no value_info, and nested graphs names of values that no other graph has."""
    graph.name = graph.name or f"graph{path}"
    del graph.value_info[:]
    defined = [each.name for each in (*graph.input, *graph.initializer)]
    defined += [name for node in graph.node for name in node.output if name]
    names = outer | {name: f"{name}{path}" for name in defined}
    for each in (*graph.input, *graph.output, *graph.initializer):
        each.name = names.get(each.name, each.name)
    nodes = list(graph.node)
    for index, node in enumerate(nodes):
        node.name = f"node{path}_{index}"
        node.input[:] = [names.get(name, name) for name in node.input]
        node.output[:] = [names.get(name, name) for name in node.output]
        for number, attribute in enumerate(node.attribute):
            if attribute.HasField("g"):
                _mend(attribute.g, f"{path}_{index}_{number}", names)
    known = {names.get(each.name, each.name) for each in (*graph.input, *graph.initializer)}
    known |= set(outer.values()) | {""}
    own = {name for node in nodes for name in node.output}
    ordered = []
    while nodes:
        ready = [node for node in nodes if all(name in known or name not in own for name in _read(node))]
        if not ready:
            return
        ordered += ready
        known |= {name for node in ready for name in node.output}
        nodes = [node for node in nodes if node not in ready]
    del graph.node[:]
    graph.node.extend(ordered)


def _read(node: Any) -> Iterator[str]:
    """Yield the values that a node and the graphs in it read."""
    yield from node.input
    for attribute in node.attribute:
        for inner in attribute.g.node:
            yield from _read(inner)
        yield from (each.name for each in attribute.g.output)
