# SPDX-License-Identifier: Apache-2.0
"""A bug in onnx-lint affects only the work that it interrupts. Every format reports it once, with the node."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import onnx
import onnx.parser
import pytest

from onnx_lint import assertion, library
from onnx_lint.cli.application import run
from onnx_lint.common.cached import cached_property
from onnx_lint.common.record import replace
from onnx_lint.engine.registry import registry
from onnx_lint.inference.flow import declared_facts, frames, outcome_memo
from onnx_lint.inference.flow.declarations import Declarations
from onnx_lint.inference.flow.equations import collecting
from onnx_lint.inference.flow.function_walk import FunctionWalk
from onnx_lint.inference.flow.knowledge import Origins
from onnx_lint.inference.flow.outcome_memo import OutcomeMemo
from onnx_lint.inference.flow.subgraph_walk import SubgraphWalk
from onnx_lint.ir.graph import Node
from onnx_lint.ir.operators import attribute_faults
from onnx_lint.loader.binary import attempts
from onnx_lint.model import Model
from onnx_lint.reporters import REPORTERS
from onnx_lint.rule import Finding

Attempt = Callable[[attempts.BinaryFile], Model | None]

FAULTY = """
<ir_version: 10, opset_import: ["" : 21, "local" : 1]>
main (float[N, 3] x, bool c) => (float[N, 4] y, float[M, 3] either, float[N, 3] called, float[2] z)
<int64[2] shape = {3, -1}>
{
  [same] s = Sqrt (x)
  [same] r = Reshape (s, shape)
  [target] t = Tanh (x)
  y = Identity (t)
  [branch] either = If (c) <
    then_branch = a () => (float[N, 3] p) { p = Relu (x) },
    else_branch = b () => (float[N, 3] q) { q = Neg (x) }
  >
  [call] called = local.f (x)
  k = Shape (x)
  [add] sum = Add (k, k)
  [wrong] w = MatMul (x, x)
  [pool] pooled = MaxPool <kernel_shape = [2], pads = [-1, 0]> (x)
  [flat] flat = Transpose <perm = [0, 0]> (x)
  z = Identity (x)
}
<domain: "local", opset_import: ["" : 21]>
f (v) => (u) { m = Abs (v) u = Identity (m) }
"""
"""A model with several findings, and one node for each part of onnx-lint that a test makes crash."""


class Case(NamedTuple):
    """A bug, the node that is named, and the rules whose findings may be fewer because of it."""

    owner: Any
    """An object with the function that raises, or the table that has it."""
    name: Any
    operator: str | None
    place: str | None
    may_lack: frozenset[str] = frozenset()


SHAPES = frozenset({"contradictory-declared-shape"})
VALUES = frozenset({"impossible-attribute-value"})
VARIABLES = frozenset({"unsatisfiable-dimension-variable"})
CASES = {
    "shape rule": Case(OutcomeMemo, "shapes", "Tanh", "graph.node[2]", SHAPES),
    "type rule": Case(OutcomeMemo, "typed", "Tanh", "graph.node[2]", SHAPES),
    "contents": Case(outcome_memo, "contents_after", "Add", "graph.node[7]"),
    "constraint": Case(
        attribute_faults._CHECKS,
        ("", "Transpose"),
        "Transpose",
        "graph.node[10]",
        frozenset({"impossible-attribute-value"}),
    ),
    "subgraph walk": Case(SubgraphWalk, "_subgraphs", "If", "graph.node[4]", SHAPES),
    "function walk": Case(FunctionWalk, "call", "local::f", "graph.node[5]", SHAPES),
    "dimension equations": Case(
        collecting,
        "_equations_of_declaration",
        "Identity",
        "graph.node[3]",
        frozenset({"unsatisfiable-dimension-variable"}),
    ),
    "declarations": Case(Declarations, "compare", None, "graph", SHAPES),
    "initializer": Case(declared_facts, "_with_content", None, "graph.initializer[0]"),
}


def _operator_of(argument: Any) -> str | None:
    """Return the operator that an argument of a patched function is about."""
    argument = getattr(argument, "node", argument)
    if isinstance(argument, Node):
        return f"{argument.domain}::{argument.op_type}" if argument.domain else argument.op_type
    operator = getattr(argument, "operator", None)
    return getattr(getattr(operator, "schema", None), "name", operator)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    model = onnx.parser.parse_model(FAULTY)
    onnx.save(model, tmp_path / "crash.onnx")
    other = onnx.ModelProto()
    other.CopyFrom(model)
    for name in ("Tanh", "If", "Add", "Transpose", "Identity", "f"):
        for node in [node for node in other.graph.node if node.op_type == name]:
            other.graph.node.remove(node)
    del other.graph.initializer[:]
    del other.functions[:]
    del other.graph.output[:]
    onnx.save(other, tmp_path / "other.onnx")
    monkeypatch.chdir(tmp_path)
    yield tmp_path
    # What operators make of facts is kept for the next model, crashes included.
    frames._kept.clear()


def _break(monkeypatch: pytest.MonkeyPatch, case: Case) -> None:
    """Have a part of onnx-lint raise: everywhere, or for one operator where it works for all."""
    is_table = isinstance(case.owner, dict)
    original = case.owner[case.name] if is_table else getattr(case.owner, case.name)

    def broken(*arguments: Any, **options: Any) -> Any:
        names = {name for name in map(_operator_of, arguments) if isinstance(name, str)}
        if case.operator is None or not names or case.operator in names:
            raise RuntimeError("boom")
        return original(*arguments, **options)

    frames._kept.clear()
    (monkeypatch.setitem if is_table else monkeypatch.setattr)(case.owner, case.name, broken)


def _json(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, dict[str, Any], str]:
    code = run(["-f", "json", "--no-config", "--select", "ALL", *arguments])
    said = capsys.readouterr()
    return code, json.loads(said.out), said.err


def _findings(report: dict[str, Any]) -> set[tuple[str, str, str]]:
    return {(file["path"], found["rule"], found["place"]) for file in report["files"] for found in file["diagnostics"]}


@pytest.mark.parametrize("name", CASES)
def test_a_bug_costs_what_it_touches_alone(
    name: str, folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    case = CASES[name]
    code, sound, _ = _json(capsys, ".")
    assert (code, sound["summary"]["internal_errors"]) == (1, 0)
    _break(monkeypatch, case)
    code, report, said = _json(capsys, ".")
    assert code == 3
    errors = [error for file in report["files"] for error in file["internal_errors"]]
    assert [error["exception"] for error in errors] == ["RuntimeError: boom"]
    error = errors[0]
    assert (error["rule"], error.get("operator"), error.get("place")) == ("onnx-lint", case.operator, case.place)
    lost = _findings(sound) - _findings(report)
    assert {rule for _, rule, _ in lost} <= case.may_lack
    assert {path for path, _, _ in lost} <= {"./crash.onnx"}
    assert _findings(report) <= _findings(sound)
    assert said.count("Error: internal error:") == said.count("Traceback") == 1
    assert "--exclude" in said


@pytest.mark.parametrize("attempt", attempts.ATTEMPTS, ids=lambda attempt: attempt.__name__)
def test_a_bug_in_the_loader_costs_that_file_alone(
    attempt: Attempt, folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The bug is in each way to read a binary file in turn, as if all ways before it had failed."""
    _, sound, _ = _json(capsys, ".")
    size = (folder / "crash.onnx").stat().st_size

    def broken(own: Attempt) -> Attempt:
        def tried(file: attempts.BinaryFile) -> Model | None:
            if file.source.size != size:
                return own(file)
            if own is attempt:
                raise RuntimeError("boom")
            return None

        return tried

    monkeypatch.setattr(attempts, "ATTEMPTS", tuple(map(broken, attempts.ATTEMPTS)))
    code, report, said = _json(capsys, ".")
    assert code == 3
    assert _findings(report) == {found for found in _findings(sound) if found[0] != "./crash.onnx"} != set()
    assert [(file["path"], error["exception"]) for file in report["files"] for error in file["internal_errors"]] == [
        ("./crash.onnx", "RuntimeError: boom")
    ]
    assert said.count("Error: internal error: onnx-lint crashed on ./crash.onnx: RuntimeError: boom\n") == 1
    assert said.count("Traceback") == 1
    for form in REPORTERS if attempt is attempts.regular else ():
        assert run(["-f", form, "--no-config", "."]) == 3
        assert "other.onnx" in capsys.readouterr().out
    (file,) = library.lint(folder / "crash.onnx").files
    assert [error.exception for error in file.internal_errors] == ["RuntimeError: boom"]


def test_a_shared_analysis_is_reported_once_with_the_rules_that_need_it(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    _, sound, _ = _json(capsys, ".")

    def broken(model: Model) -> Any:
        if len(model.functions):
            raise RuntimeError("boom")
        return original(model)

    original = Model.value_flow.func
    monkeypatch.setattr(Model.value_flow, "func", broken)
    code, report, said = _json(capsys, ".")
    assert code == 3
    (error,) = (error for file in report["files"] for error in file["internal_errors"])
    assert error["work"] == "computing Model.value_flow"
    assert {"mismatched-operand-type", "incompatible-operand-shapes"} <= set(error["not_run"])
    lost = _findings(sound) - _findings(report)
    assert {rule for _, rule, _ in lost} <= set(error["not_run"])
    assert {path for path, _, _ in lost} == {"./crash.onnx"}
    assert said.count("Traceback") == 1


IN_EVERY_LOAD = ("left_in_file", "_roots", "values", "functions", "training_graphs", "graphs", "_graphs_and_attributes")
"""The properties that the loader computes. A bug in one costs the file."""

PROPERTIES = {
    name: value
    for kind in Model.__mro__
    for name, value in vars(kind).items()
    if isinstance(value, cached_property) and name not in IN_EVERY_LOAD
}


@pytest.mark.heavy
@pytest.mark.parametrize("name", PROPERTIES)
def test_a_bug_in_any_property_costs_the_rules_that_are_named(
    name: str, folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    _, sound, _ = _json(capsys, ".")
    is_reached = False
    original = PROPERTIES[name].func

    def broken(model: Model) -> Any:
        nonlocal is_reached
        if len(model.functions):
            is_reached = True
            raise RuntimeError("boom")
        return original(model)

    monkeypatch.setattr(PROPERTIES[name], "func", broken)
    code, report, said = _json(capsys, ".")
    errors = [error for file in report["files"] for error in file["internal_errors"]]
    assert (code, len(errors), said.count("Traceback (")) == ((3, 1, 1) if is_reached else (1, 0, 0))
    lost = _findings(sound) - _findings(report)
    assert {rule for _, rule, _ in lost} <= {rule for error in errors for rule in error.get("not_run", ())}
    assert {path for path, _, _ in lost} <= {"./crash.onnx"}
    assert _findings(report) <= _findings(sound)


def test_a_rule_keeps_what_it_found_before_it_crashed(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    entry = registry()["duplicate-node-name"]
    original = entry.rule

    def broken(model: Model) -> Iterator[Finding]:
        yield from original.check(model)
        raise RuntimeError("boom")

    _, sound, _ = _json(capsys, ".")
    monkeypatch.setitem(vars(entry), "rule", replace(original, check=broken))
    code, report, _ = _json(capsys, "crash.onnx")
    assert code == 3
    (error,) = report["files"][0]["internal_errors"]
    assert error["rule"] == "duplicate-node-name"
    rules = [found["rule"] for found in report["files"][0]["diagnostics"]]
    assert rules == [found["rule"] for found in sound["files"][0]["diagnostics"]]
    assert "duplicate-node-name" in rules


def test_equal_tracebacks_are_printed_once(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "again.onnx").write_bytes((folder / "crash.onnx").read_bytes())
    _break(monkeypatch, CASES["shape rule"])
    _, report, said = _json(capsys, ".")
    assert report["summary"]["internal_errors"] == 2
    assert (said.count("Error: internal error:"), said.count("Traceback (")) == (2, 1)


@pytest.mark.parametrize("form", REPORTERS)
def test_every_form_of_report_names_the_node(
    form: str, folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    _break(monkeypatch, CASES["shape rule"])
    assert run(["-f", form, "--no-config", "crash.onnx"]) == 3
    captured = capsys.readouterr()
    out = captured.err if form == "concise" else captured.out
    assert "target" in out
    assert "Tanh" in out
    assert "graph.node[2]" in out or r"graph.node\[2\]" in out
    assert "RuntimeError" in out
    if form == "html":
        assert "internal error: " in out


def test_a_model_at_which_a_rule_crashed_does_not_pass(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _break(monkeypatch, CASES["shape rule"])
    report = library.lint("crash.onnx", select="mismatched-operand-type")
    assert report.files[0].internal_errors
    assert not report.passes
    with pytest.raises(AssertionError, match="onnx-lint crashed while inferring types and shapes"):
        assertion.assert_conforms("crash.onnx", select="mismatched-operand-type")


def test_the_table_of_shapes_is_shown_without_the_node(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["shapes", "crash.onnx"]) == 0
    sound = capsys.readouterr().out.splitlines()
    _break(monkeypatch, CASES["shape rule"])
    assert run(["shapes", "crash.onnx"]) == 3
    out, err = capsys.readouterr()
    assert "Tanh" in err
    assert err.endswith("To go on: only the values that depend on the crash are unknown; the others are as shown.\n")
    assert "output 0 of node 'target' (Tanh); unknown: onnx-lint crashed at 'Tanh'\n" in out
    changed = [line for line in out.splitlines() if line not in sound]
    assert len(out.splitlines()) == len(sound)
    assert len(changed) <= 3  # the value, the one that is made of it, and the count
    _, report, _ = _json(capsys, "crash.onnx")
    causes = report["files"][0]["shapes"]["causes"]
    assert {"kind": "internal-error", "name": "Tanh", "values": 1} in causes


def test_a_crash_in_explaining_a_value_costs_its_reason_alone(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    original = Origins.cause

    def broken(self: Origins, walked: Any, name: str) -> Any:
        if name == "pooled":
            raise RuntimeError("boom")
        return original(self, walked, name)

    assert run(["shapes", "crash.onnx"]) == 0
    sound = capsys.readouterr().out
    monkeypatch.setattr(Origins, "cause", broken)
    assert run(["shapes", "crash.onnx"]) == 3
    out, err = capsys.readouterr()
    assert err.count("Traceback (") == 1
    assert [line != other for line, other in zip(out.splitlines(), sound.splitlines(), strict=True)].count(True) == 1
