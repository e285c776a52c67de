# SPDX-License-Identifier: Apache-2.0
"""Models of the onnx wheel with faults put in: what is fixed computes the same, and no other byte has changed."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import numpy_helper
from onnx.reference import ReferenceEvaluator

from onnx_lint.engine.settings import Settings
from onnx_lint.fixing.files import Mending, fix_file
from onnx_lint.input.source import BytesSource
from onnx_lint.schema import wire

DATA = Path(onnx.__file__).parent / "backend" / "test" / "data"
SEED = 30
RANDOM = {"Bernoulli", "RandomNormal", "RandomNormalLike", "RandomUniform", "RandomUniformLike", "Multinomial"}
FIXED = (
    "unordered-nodes",
    "duplicate-value-info",
    "unknown-value-info-name",
    "duplicate-opset-import",
    "duplicate-metadata-key",
)


Case = tuple[str, onnx.ModelProto, list[np.ndarray]]
"""The name of a model, the model, and its inputs."""


def _cases_in_files() -> Iterator[Case]:
    for folder in sorted(path.parent for path in DATA.glob("*/*/model.onnx") if path.stat().st_size < 100_000):
        model = onnx.load(folder / "model.onnx")
        files = [folder / "test_data_set_0" / f"input_{index}.pb" for index in range(len(model.graph.input))]
        if _is_usable(model) and all(file.exists() for file in files):
            tensors = [onnx.TensorProto.FromString(file.read_bytes()) for file in files]
            yield folder.name, model, [numpy_helper.to_array(tensor) for tensor in tensors]


def _node_cases() -> Iterator[Case]:
    from onnx.backend.test.case.node import collect_testcases

    for case in collect_testcases(None):
        if case.model is not None and _is_usable(case.model) and case.data_sets:
            yield case.name, case.model, case.data_sets[0][0]


def _is_usable(model: onnx.ModelProto) -> bool:
    nodes = model.graph.node
    of_tensors = all(each.type.HasField("tensor_type") for each in (*model.graph.input, *model.graph.output))
    return len(nodes) > 1 and of_tensors and not RANDOM.intersection(node.op_type for node in nodes)


def _outputs(model: onnx.ModelProto, inputs: list[np.ndarray]) -> Sequence[object]:
    names = [declared.name for declared in model.graph.input]
    return ReferenceEvaluator(model).run(None, dict(zip(names, inputs, strict=True)))


def _put_faults(model: onnx.ModelProto, choose: random.Random) -> None:
    """Put one fault of each kind into the model, at random places."""
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


def _records(data: bytes, *lists: int) -> tuple[list[tuple[int, bytes]], dict[int, list[bytes]]]:
    """The fields of a message as bytes, in order: those of some lists apart, by their numbers."""
    others, found = [], {number: [] for number in lists}
    for number, _, start, _, end in wire.records(BytesSource(data), 0, len(data)):
        if number in found:
            found[number].append(data[start:end])
        else:
            others.append((number, data[start:end]))
    return others, found


def _graph(data: bytes) -> bytes:
    (found,) = (
        data[value:end] for number, _, _, value, end in wire.records(BytesSource(data), 0, len(data)) if number == 7
    )
    return found


def _check_bytes(before: bytes, after: bytes) -> None:
    """Nodes are the same in another order; of value_info, imports and metadata some are gone; all else is as it was."""
    graph, imports, metadata, node, value_info = 7, 8, 14, 1, 13
    old, old_lists = _records(before, graph, imports, metadata)
    new, new_lists = _records(after, graph, imports, metadata)
    assert new == old
    for number in (imports, metadata):
        assert new_lists[number] == list(dict.fromkeys(old_lists[number]))
    old, old_lists = _records(_graph(before), node, value_info)
    new, new_lists = _records(_graph(after), node, value_info)
    assert new == old
    assert Counter(new_lists[node]) == Counter(old_lists[node])
    known = [entry for entry in dict.fromkeys(old_lists[value_info]) if b"of a node that is gone" not in entry]
    assert new_lists[value_info] == known


def _check(case: Case, path: Path, choose: random.Random) -> bool:
    """Put faults into a model, fix it, and compare; return False if there is nothing to compare with."""
    name, model, inputs = case
    try:
        model = onnx.shape_inference.infer_shapes(model)
        expected = _outputs(model, inputs)
    except Exception:
        return False  # the evaluator or the inference lacks something
    _put_faults(model, choose)
    before = model.SerializeToString()
    path.write_bytes(before)
    report = fix_file(str(path), Settings(select=FIXED), Mending())
    assert report.diagnostics == (), name
    _check_bytes(before, path.read_bytes())
    mended = onnx.load(path)
    onnx.checker.check_model(mended)
    for one, other in zip(expected, _outputs(mended, inputs), strict=True):
        np.testing.assert_array_equal(one, other)
    return True


def test_what_is_fixed_computes_the_same_and_all_else_is_as_it_was(tmp_path: Path):
    choose = random.Random(SEED)
    assert sum(_check(case, tmp_path / "model.onnx", choose) for case in _cases_in_files()) > 10


@pytest.mark.corpus
@pytest.mark.filterwarnings("ignore")
def test_what_is_fixed_in_the_node_tests_computes_the_same(tmp_path: Path):
    choose = random.Random(SEED)
    assert sum(_check(case, tmp_path / "model.onnx", choose) for case in _node_cases()) > 200
