# SPDX-License-Identifier: Apache-2.0
"""What ONNX Runtime requires of the graphs of searches, asked of the installed release: each line of their records."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from onnx import GraphProto, TensorProto, helper
from support.processes.runtime_process import RuntimeProcess

from onnx_lint import lint
from onnx_lint.spec.operators.records import GraphForm, record_of

pytestmark = pytest.mark.consumers

RULE = "mismatched-decoder"
TYPES = {"T": TensorProto.FLOAT, "F": TensorProto.FLOAT, "any": TensorProto.FLOAT, "int32": TensorProto.INT32}
STATE = "T ? + ? +"
OTHER_TYPES = {"T": "float16", "F": "int32", "int32": "float"}
SEARCHES = (("GreedySearch", 0), ("Sampling", 0), ("BeamSearch", 0), ("BeamSearch", 1), ("BeamSearch", 2),
            ("WhisperBeamSearch", 2))  # fmt: skip


class Body:
    """A graph of a search, as lists of names and texts; a text may have another type in front."""

    def __init__(self, form: GraphForm) -> None:
        self.inputs = [[name.removeprefix("?"), text] for name, text in form.inputs.items() if name not in LEFT_OUT]
        counts = form.input_counts["else"]
        if "4n" in counts:
            self.inputs += [[f"state_{index}", form.states if form.states == "any" else STATE] for index in range(4)]
        self.outputs = [[name.replace("*", "next"), text] for name, text in form.outputs.items()]
        missing = {"1+2n": 3, "2+4n": 6, "2n": 2, "1+1n": 2}[form.output_counts["else"]] - len(self.outputs)
        self.outputs += [[f"further_{index}", form.others] for index in range(missing)]

    def graph(self) -> GraphProto:
        nodes, initializers = [], []
        for name, text in self.outputs:
            kind, *dims = text.split()
            shape = [2 if each == "+" else 1 for each in dims] or [1, 2, 1, 2]
            initializers.append(helper.make_tensor(f"{name}_of", _type(kind), shape, [0] * _product(shape)))
            nodes.append(helper.make_node("Identity", [f"{name}_of"], [name]))
        sides = ([_value(*each) for each in side] for side in (self.inputs, self.outputs))
        return helper.make_graph(nodes, "body", *sides, initializers)


LEFT_OUT = ("?encoder_input_ids",)


def _product(shape: list[int]) -> int:
    found = 1
    for each in shape:
        found *= each
    return found


def _type(kind: str) -> int:
    return TYPES.get(kind) or TensorProto.DataType.Value(kind.upper())


def _value(name: str, text: str) -> helper.ValueInfoProto:
    kind, *dims = text.split()
    shape = [{"+": 2, "?": None}.get(each, each) for each in dims] or ([None] * 4 if kind != "int32" else [None, None])
    return helper.make_tensor_value_info(name, _type(kind), [int(each) if each else None for each in shape])


def _model(operator: str, model_type: int, bodies: dict[str, Body]) -> bytes:
    attributes = {name: body.graph() for name, body in bodies.items()}
    if model_type:
        attributes["decoder_start_token_id"] = 2
    is_sound = model_type == 2
    sizes = ["most", "least", "beams", "texts"] if "Beam" in operator else ["most", "least"]
    node = helper.make_node(
        operator, ["prompt", *sizes], ["y"], domain="com.microsoft", eos_token_id=1, pad_token_id=0,
        model_type=model_type, **attributes,
    )  # fmt: skip
    prompt = helper.make_tensor_value_info("prompt", 1 if is_sound else 6, [2, 3, 4] if is_sound else [2, 3])
    output = helper.make_tensor_value_info("y", 6, [None] * (3 if "Beam" in operator else 2))
    numbers = [helper.make_tensor(name, 6, [1], [8 if name == "most" else 1]) for name in sizes]
    graph = helper.make_graph([node], "graph", [prompt], [output], numbers)
    imports = [helper.make_opsetid("", 21), helper.make_opsetid("com.microsoft", 1)]
    return helper.make_model(graph, opset_imports=imports, ir_version=10).SerializeToString()


def _faults(form: GraphForm) -> Iterator[tuple[str, Body]]:
    """Yield graphs with one fault each: a name, type, dimension or number that the form does not have."""
    whole = Body(form)
    for side in ("inputs", "outputs"):
        named = form.inputs if side == "inputs" else form.outputs
        for index, (name, text) in enumerate(getattr(whole, side)):
            kind, *dims = text.split()
            changes = []
            if name in named:  # ONNX Runtime takes another name of an operand that may be left out for a state
                changes.append(("renamed", ["renamed", text]))
            if kind in OTHER_TYPES:
                changes.append(("type", [name, " ".join([OTHER_TYPES[kind], *dims])]))
            is_described = name in named or name == "next"
            if is_described and "?" in dims and set(dims) != {"?"}:
                changes.append(("rank", [name, " ".join([kind, *dims, "?"])]))
                if side == "inputs":
                    changes += [("open", [name, " ".join([kind, *["?" for _ in dims]])])]
            for what, change in changes:
                body = Body(form)
                getattr(body, side)[index] = change
                yield f"{side[:-1]} {index} {what}", body
        if side == "inputs" or form.output_counts["else"] != "1+1n":
            body = Body(form)
            getattr(body, side).pop()
            yield f"fewer {side}", body


def test_each_line_of_the_graphs_of_searches(tmp_path: Path) -> None:
    pytest.importorskip("onnxruntime", reason="no part of the development packages")
    path, wrong, asked = tmp_path / "model.onnx", [], 0
    with RuntimeProcess(runs=False) as runtime:
        for operator, model_type in SEARCHES:
            record = record_of(operator)
            assert record is not None
            forms = {name: each[0] for name, each in record.graphs[str(model_type)].items() if name != "init_decoder"}
            cases = [("as required", False, {name: Body(form) for name, form in forms.items()})]
            for name, form in forms.items():
                for what, body in _faults(form):
                    whole = {each: Body(other) for each, other in forms.items()}
                    cases.append((f"{name}: {what}", True, {**whole, name: body}))
            for what, is_faulty, bodies in cases:
                path.write_bytes(_model(operator, model_type, bodies))
                load, _ = runtime.answer(path) or ("ends the process", "")
                found = [each.message for each in lint(path).diagnostics if each.rule == RULE]
                asked += 1
                if bool(load) is not is_faulty or bool(found) is not is_faulty:
                    wrong.append((operator, model_type, what, load[-200:], found))
    assert wrong == []
    assert asked > 150
