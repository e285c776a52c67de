# SPDX-License-Identifier: Apache-2.0
"""Models of the onnx wheel with added faults: the fixed model computes the same, and no other byte has changed."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import numpy_helper
from onnx.reference import ReferenceEvaluator
from support.fixes.fixed import check_bytes, fixed_model
from support.project.sampled import one_in

from onnx_lint.engine.settings import Settings
from onnx_lint.fixing.files import FixOptions, fix_file
from onnx_lint.input.source import BytesSource
from onnx_lint.ir.names.plain_names import is_c90

DATA = Path(onnx.__file__).parent / "backend" / "test" / "data"
SEED = 30
RANDOM = {"Bernoulli", "RandomNormal", "RandomNormalLike", "RandomUniform", "RandomUniformLike", "Multinomial"}
FIXED = (
    "unordered-nodes",
    "duplicate-value-info",
    "unknown-value-info-name",
    "duplicate-opset-import",
    "duplicate-metadata-key",
    "repeated-singular-field",
)
DECLARATIONS = ("contradictory-declared-type", "contradictory-value-info")
FIXED_ON_DEMAND = ("duplicate-node-name", "non-c90-name", "negative-dimension", "outdated-ir-version")


Case = tuple[str, onnx.ModelProto, list[np.ndarray]]
"""The name of a model, the model, and its inputs."""


def _cases_in_files(step: int) -> Iterator[Case]:
    small = sorted(path.parent for path in DATA.glob("*/*/model.onnx") if path.stat().st_size < 100_000)
    for folder in small[::step]:
        model = onnx.load(folder / "model.onnx")
        files = [folder / "test_data_set_0" / f"input_{index}.pb" for index in range(len(model.graph.input))]
        if all(file.exists() for file in files):
            tensors = [onnx.TensorProto.FromString(file.read_bytes()) for file in files]
            yield folder.name, model, [numpy_helper.to_array(tensor) for tensor in tensors]


def _node_cases() -> Iterator[Case]:
    from onnx.backend.test.case.node import collect_testcases

    for case in collect_testcases(None):
        if case.model is not None and case.data_sets:
            yield case.name, case.model, case.data_sets[0][0]


def _is_usable(model: onnx.ModelProto) -> bool:
    nodes = model.graph.node
    of_tensors = all(each.type.HasField("tensor_type") for each in (*model.graph.input, *model.graph.output))
    return len(nodes) > 1 and of_tensors and not RANDOM.intersection(node.op_type for node in nodes)


def _outputs(model: onnx.ModelProto, inputs: list[np.ndarray]) -> Sequence[object]:
    names = [declared.name for declared in model.graph.input]
    return ReferenceEvaluator(model).run(None, dict(zip(names, inputs, strict=True)))


def _put_faults(model: onnx.ModelProto, choose: random.Random) -> bytes:
    """Return the model with one fault of each kind that has a safe fix, at random places."""
    graph = model.graph
    nodes = list(graph.node)
    choose.shuffle(nodes)
    del graph.node[:]
    graph.node.extend(nodes)
    stale = onnx.helper.make_tensor_value_info("of a node that is gone", choose.choice([1, 7]), [choose.randrange(300)])
    entries = [*graph.value_info, stale]
    entries.insert(choose.randrange(len(entries) + 1), stale)
    if graph.value_info:
        entries.append(choose.choice(list(graph.value_info)))
    del graph.value_info[:]
    graph.value_info.extend(entries)
    model.opset_import.append(choose.choice(list(model.opset_import)))
    for key in "aba":
        model.metadata_props.add(key=key, value="x" * 130)
    return onnx.ModelProto(ir_version=model.ir_version).SerializeToString() + model.SerializeToString()


def _put_wrong_declarations(model: onnx.ModelProto, choose: random.Random) -> bytes:
    """Return the model with wrong types in value_info. Nodes out of order would hide them."""
    graph = model.graph
    for entry in graph.value_info:
        if entry.type.HasField("tensor_type") and choose.random() < 0.5:
            entry.type.tensor_type.elem_type = 9 if entry.type.tensor_type.elem_type != 9 else 1
    graph.value_info.append(onnx.helper.make_tensor_value_info(graph.output[0].name, 16, [choose.randrange(300)] * 7))
    return model.SerializeToString()


def _put_other_faults(model: onnx.ModelProto, choose: random.Random) -> bytes:
    """Return the model with faults that have unsafe fixes. These fixes do not change what it computes."""
    graph = model.graph
    for node in graph.node:
        node.name = choose.choice(["n", "1st", "n/2"])
    inner = {name for node in graph.node for name in node.output} - {value.name for value in graph.output}
    if inner - {""} and not any(attribute.HasField("g") for node in graph.node for attribute in node.attribute):
        odd = choose.choice(sorted(inner - {""}))
        for node in graph.node:
            for names in (node.input, node.output):
                names[:] = [f"/{odd}.0" if name == odd else name for name in names]
    del graph.value_info[:]
    dims = graph.output[0].type.tensor_type.shape.dim
    if dims:
        dims[0].dim_value = -1
    model.ir_version = 3
    return model.SerializeToString()


def _check(case: Case, path: Path, choose: random.Random) -> bool:
    """Put faults into a model, fix it, and compare; return False if there is nothing to compare with."""
    name, model, inputs = case
    try:
        model = onnx.shape_inference.infer_shapes(model)
        expected = _outputs(model, inputs)
    except Exception:
        return False  # the evaluator or the inference lacks something
    for put_faults, rules, unsafe in (
        (_put_faults, FIXED, False),
        (_put_wrong_declarations, DECLARATIONS, False),
        (_put_other_faults, FIXED_ON_DEMAND, True),
    ):
        faulty = onnx.ModelProto()
        faulty.CopyFrom(model)
        before = put_faults(faulty, choose)
        settings = Settings(select=rules)
        outcome = fixed_model(BytesSource(before), settings, unsafe=unsafe)
        check_bytes(outcome)
        path.write_bytes(before)
        report = fix_file(str(path), settings, FixOptions(unsafe=unsafe))
        odd = [value.name for value in (*model.graph.input, *model.graph.output) if not is_c90(value.name)]
        assert {each.rule for each in report.diagnostics} <= ({"non-c90-name"} if odd and unsafe else set()), name
        assert path.read_bytes() == outcome.source.read_at(0, outcome.source.size)
        loaded = onnx.load(path)
        onnx.checker.check_model(loaded)
        for one, other in zip(expected, _outputs(loaded, inputs), strict=True):
            np.testing.assert_array_equal(one, other)
    return True


def _with_lists_for_scalars(model: onnx.ModelProto, inputs: list[np.ndarray]) -> tuple[bytes, list[np.ndarray]]:
    """Return the model with each scalar input as an initializer of shape [1], and its other inputs."""
    faulty = onnx.ModelProto()
    faulty.CopyFrom(model)
    del faulty.graph.input[:]
    left = []
    for declared, value in zip(model.graph.input, inputs, strict=True):
        if value.shape == ():
            faulty.graph.initializer.append(numpy_helper.from_array(value.reshape(1), declared.name))
        else:
            faulty.graph.input.append(declared)
            left.append(value)
    return faulty.SerializeToString(), left


@pytest.mark.corpus
@pytest.mark.filterwarnings("ignore")
def test_scalars_given_as_lists_are_fixed_and_computed_with(tmp_path: Path):
    """The outputs are those of the model with scalars, of each node test of the wheel whose operator takes one."""
    path = tmp_path / "model.onnx"
    operators = set()
    for name, model, inputs in _node_cases():
        if len(model.graph.node) != 1 or not all(isinstance(value, np.ndarray | np.generic) for value in inputs):
            continue
        before, others = _with_lists_for_scalars(model, inputs)
        if len(others) == len(inputs):
            continue
        path.write_bytes(before)
        report = fix_file(str(path), Settings(select=("incompatible-operand-shapes",)), FixOptions(unsafe=True))
        assert report.repair is not None
        if not report.repair.fixed:
            continue
        assert report.diagnostics == (), name
        try:
            expected = _outputs(model, inputs)
        except Exception:
            continue  # the evaluator lacks something
        for one, other in zip(expected, _outputs(onnx.load(path), others), strict=True):
            np.testing.assert_array_equal(one, other)
        operators.add(model.graph.node[0].op_type)
    assert operators >= {"Clip", "Range"}, operators
    assert len(operators) > 12


@one_in(4)
def test_what_is_fixed_computes_the_same_and_all_else_is_as_it_was(step: int, tmp_path: Path):
    choose = random.Random(SEED)
    cases = (case for case in _cases_in_files(step) if _is_usable(case[1]))
    assert sum(_check(case, tmp_path / "model.onnx", choose) for case in cases) > 10 // step


@pytest.mark.corpus
@pytest.mark.filterwarnings("ignore")
def test_what_is_fixed_in_the_node_tests_computes_the_same(tmp_path: Path):
    choose = random.Random(SEED)
    assert sum(_check(case, tmp_path / "model.onnx", choose) for case in _node_cases() if _is_usable(case[1])) > 200
