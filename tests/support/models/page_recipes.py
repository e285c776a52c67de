# SPDX-License-Identifier: Apache-2.0
"""What the pages of rules say that tools do, most of it in `How to fix`: each tool runs, and the result is checked."""

from __future__ import annotations

import importlib
import subprocess
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, Final

import numpy as np
import onnx
import onnx.compose
import onnx.inliner
import onnx.shape_inference
import onnx.version_converter
from google.protobuf import text_format
from onnx import ModelProto, TensorProto, helper, numpy_helper

from onnx_lint import lint
from support.models.asked_programs import CHECKER, ONNXRUNTIME, outcomes
from support.project.checkout import ROOT

Recipe = Callable[[Path], None]
Mend = Callable[[ModelProto], ModelProto]


def _fixture(rule: str, name: str) -> ModelProto:
    return text_format.Parse((ROOT / "fixtures" / rule / "invalid" / f"{name}.textproto").read_text(), ModelProto())


def _reports(rule: str, model: Any) -> bool:
    return any(item.rule == rule for item in lint(model, select=[rule]).diagnostics)


def mended(rule: str, fixture: str, mend: Mend, folder: Path) -> None:
    """Fail unless a fixture has a finding of a rule, and none after `mend`."""
    del folder
    model = _fixture(rule, fixture)
    assert _reports(rule, model)
    assert not _reports(rule, mend(model))


def _clean(rule: str, make: Callable[[], Any], folder: Path) -> None:
    """Fail if what a tool makes has a finding of a rule."""
    del folder
    assert not _reports(rule, make())


def _model(nodes: list[onnx.NodeProto] | None = None, **options: Any) -> ModelProto:
    """Return a model that adds the initializer w to x, and negates the sum; or one with other nodes."""
    x, y = (helper.make_tensor_value_info(name, TensorProto.FLOAT, [2]) for name in "xy")
    whole = [helper.make_node("Add", ["x", "w"], ["t"]), helper.make_node("Neg", ["t"], ["y"])]
    weight = numpy_helper.from_array(np.ones(2, "f4"), "w")
    graph = helper.make_graph(whole if nodes is None else nodes, "g", [x], [y], [weight])
    opsets = [helper.make_opsetid("", 17)]
    return helper.make_model(graph, **{"opset_imports": opsets, "ir_version": 8, "producer_name": "p"} | options)


def _filled(message: Any) -> list[str]:
    """Return the fields with values, without those that every attribute and tensor has."""
    return [f.name for f, _ in message.ListFields() if f.name not in ("name", "type", "dims", "data_type")]


def _one_field_of_attributes(folder: Path) -> None:
    del folder
    for value in (1, 1.0, "a", [1, 2], [1.0], ["a"], helper.make_tensor("t", TensorProto.FLOAT, [1], [1.0])):
        attribute = helper.make_attribute("a", value)
        assert len(_filled(attribute)) == 1
        assert attribute.type


def _one_field_of_tensors(folder: Path) -> None:
    del folder
    for tensor in (helper.make_tensor("t", TensorProto.INT4, [2], [1, 2]), numpy_helper.from_array(np.ones(2), "t")):
        assert len(_filled(tensor)) == 1
        assert not lint(tensor).errors


def _inferred(folder: Path) -> None:
    """Without `value_info`, inference writes an entry for the intermediate value, and no other."""
    del folder
    assert [each.name for each in onnx.shape_inference.infer_shapes(_model()).graph.value_info] == ["t"]


def _inferred_output(folder: Path) -> None:
    del folder
    model = _model()
    model.graph.output[0].ClearField("type")
    assert onnx.shape_inference.infer_shapes(model).graph.output[0].type == _model().graph.output[0].type


def _loaded_beside_data(folder: Path) -> None:
    """`onnx.load` replaces values in `raw_data`, and leaves those of `float_data`."""
    for field in ("raw_data", "float_data"):
        model = _model()
        onnx.save(model, folder / "m.onnx", save_as_external_data=True, size_threshold=0, location=f"{field}.bin")
        model = onnx.load(folder / "m.onnx", load_external_data=False)
        weight = model.graph.initializer[0]
        weight.raw_data = b"\0" * 8 if field == "raw_data" else b""
        weight.float_data.extend([] if field == "raw_data" else [5.0, 5.0])
        (folder / "n.onnx").write_bytes(model.SerializeToString())
        loaded = onnx.load(folder / "n.onnx").graph.initializer[0]
        assert np.frombuffer(loaded.raw_data, "f4").tolist() == [1.0, 1.0]
        assert [*loaded.float_data] == ([] if field == "raw_data" else [5.0, 5.0])


def _saved_to_one_file_again(folder: Path) -> None:
    for size in (8, 16):
        onnx.save(_model(), folder / "m.onnx", save_as_external_data=True, size_threshold=0, location="w.bin")
        assert (folder / "w.bin").stat().st_size == size


def _saved_outside(folder: Path) -> None:
    onnx.save(_model(), folder / "m.onnx", save_as_external_data=True, size_threshold=0, location="weights.bin")
    assert not lint(folder / "m.onnx").errors
    onnx.save(onnx.load(folder / "m.onnx"), folder / "whole.onnx")
    (folder / "weights.bin").unlink()
    assert not lint(folder / "whole.onnx").errors
    assert lint(folder / "m.onnx").errors


def _joined(folder: Path) -> None:
    """Two models of the same names are joined, after one got a prefix."""
    del folder
    one, other = _model(), onnx.compose.add_prefix(_model(), "b_")
    merged = onnx.compose.merge_models(one, other, io_map=[("y", "b_x")])
    assert not lint(merged).errors
    again = onnx.compose.merge_models(_model(), _model(), io_map=[("y", "x")], prefix1="a_", prefix2="b_")
    assert not lint(again).errors


def _metadata(folder: Path) -> None:
    del folder
    model = _fixture("duplicate-metadata-key", "a_key_of_a_graph")
    helper.set_model_props(model, {"author": "a"})
    helper.set_metadata_props(model.graph, {"author": "a"})
    assert not _reports("duplicate-metadata-key", model)
    assert [(each.key, each.value) for each in model.metadata_props] == [("author", "a")]


def _converted(folder: Path) -> None:
    del folder
    for before, after in ((11, 13), (17, 19)):
        model = _model(opset_imports=[helper.make_opsetid("", before)])
        _convert(model, after)


def _converted_back(folder: Path) -> None:
    del folder
    _convert(_model([helper.make_node("Abs", ["x"], ["y"])], opset_imports=[helper.make_opsetid("", 18)]), 17)


def _convert(model: ModelProto, version: int) -> None:
    converted = onnx.version_converter.convert_version(model, version)
    assert [each.version for each in converted.opset_import] == [version]
    assert not lint(converted).errors


def _saved_plainly(folder: Path) -> None:
    model = _model()
    model.graph.doc_string = "a"
    text = model.SerializeToString()
    (folder / "m.onnx").write_bytes(text)
    onnx.save(onnx.load(folder / "m.onnx"), folder / "m.onnx")
    assert not _reports("long-encoding", folder / "m.onnx")


def _text_as_binary(folder: Path) -> None:
    """A text form under the name of the binary form is read by nobody, but `onnx.load` with its format."""
    path = folder / "model.onnx"
    path.write_text(text_format.MessageToString(_model()))
    assert outcomes([path], "import onnx\nask = onnx.load")[path] is not None
    assert outcomes([path], CHECKER)[path] is not None
    onnx.save(onnx.load(path, format="textproto"), path)
    assert outcomes([path], CHECKER)[path] is None


def _text_for_onnx_runtime(folder: Path) -> None:
    path = folder / "model.onnx"
    path.write_text(text_format.MessageToString(_model()))
    assert outcomes([path], ONNXRUNTIME)[path] is not None


def _types_of_attributes(folder: Path) -> None:
    del folder
    node = helper.make_node("N", [], [], i=1, f=1.0)
    assert {each.name: each.type for each in node.attribute} == {"i": 2, "f": 1}
    pair = helper.make_attribute("a", 1, attr_type=onnx.AttributeProto.INT)
    assert (pair.type, pair.i) == (onnx.AttributeProto.INT, 1)


def _inlined(folder: Path) -> None:
    """The node of the function is in the graph, with the value of the call."""
    del folder
    node = helper.make_node("Gemm", ["a", "a"], ["b"])
    node.attribute.append(helper.make_attribute_ref("alpha", onnx.AttributeProto.FLOAT))
    node.attribute[0].ref_attr_name = "factor"
    imports = [helper.make_opsetid("", 17)]
    function = helper.make_function("example", "F", ["a"], ["b"], [node], imports, ["factor"])
    call = helper.make_node("F", ["x"], ["y"], domain="example", factor=2.0)
    model = _model([call], functions=[function], opset_imports=[*imports, helper.make_opsetid("example", 1)])
    (found,) = onnx.inliner.inline_local_functions(model).graph.node
    assert (found.op_type, found.attribute[0].f, found.attribute[0].ref_attr_name) == ("Gemm", 2.0, "")


def _dimensions(folder: Path) -> None:
    del folder
    from onnx.tools import update_model_dims

    value = helper.make_tensor_value_info("x", TensorProto.FLOAT, ["N", None])
    first, second = value.type.tensor_type.shape.dim
    assert (first.dim_param, second.WhichOneof("value")) == ("N", None)
    model = update_model_dims.update_inputs_outputs_dims(_model(), {"x": ["N"]}, {"y": ["N"]})
    assert model.graph.input[0].type.tensor_type.shape.dim[0].dim_param == "N"


def _versions(folder: Path) -> None:
    del folder
    assert not _reports(
        "outdated-ir-version",
        helper.make_model_gen_version(_model().graph, opset_imports=[helper.make_opsetid("", 21)]),
    )
    assert helper.make_model(_model().graph, ir_version=10).ir_version == 10
    assert helper.make_model(_model().graph).ir_version


def _element_type(folder: Path) -> None:
    del folder
    assert helper.np_dtype_to_tensor_dtype(np.dtype("f4")) == TensorProto.FLOAT


def _stripped(folder: Path) -> None:
    """It fails with Protocol Buffers 7, as the page says of onnx 1.23."""
    del folder
    import google.protobuf

    model = _model()
    model.graph.doc_string = "<b>"
    if int(google.protobuf.__version__.partition(".")[0]) < 7:
        helper.strip_doc_string(model)
        assert not model.graph.doc_string


def _passed(name: str, model: ModelProto) -> ModelProto:
    """Return a model after a pass of onnx_ir."""
    onnx_ir = importlib.import_module("onnx_ir")
    passes = importlib.import_module("onnx_ir.passes.common")
    return onnx_ir.to_proto(getattr(passes, name)()(onnx_ir.from_proto(model)).model)


def _deduplicated(folder: Path) -> None:
    del folder
    model = _model()
    model.graph.initializer.add().CopyFrom(numpy_helper.from_array(np.ones(2, "f4"), "w2"))
    model.graph.node[0].input[0] = "w2"
    done = _passed("DeduplicateInitializersPass", model)
    assert len(done.graph.initializer) == 1
    assert not lint(done).errors


def _sorted(model: ModelProto) -> ModelProto:
    onnx_ir = importlib.import_module("onnx_ir")
    found = onnx_ir.from_proto(model)
    found.graph.sort()
    return onnx_ir.to_proto(found)


def _aligned(folder: Path) -> None:
    onnx_ir = importlib.import_module("onnx_ir")
    model = onnx_ir.from_proto(_model())
    onnx_ir.save(model, folder / "m.onnx", external_data="weights.bin", alignment=4096, align_threshold=0)
    assert not _reports("unaligned-external-offset", folder / "m.onnx")


def _folded(model: ModelProto) -> ModelProto:
    onnx_ir, optimizer = (importlib.import_module(name) for name in ("onnx_ir", "onnxscript.optimizer"))
    found = onnx_ir.from_proto(model)
    optimizer.fold_constants(found)
    return onnx_ir.to_proto(found)


def _tool(name: str, folder: Path, model: ModelProto, *options: str) -> ModelProto:
    """Return a model after a tool of ONNX Runtime. The names of its files stand before its other options."""
    (folder / "model.onnx").write_bytes(model.SerializeToString())
    command = [sys.executable, "-m", f"onnxruntime.tools.{name}", *options]
    subprocess.run(command, cwd=folder, check=True, capture_output=True)
    return onnx.load(folder / "out.onnx")


def _fixed_size(folder: Path) -> None:
    model = _model()
    model.graph.input[0].type.tensor_type.shape.dim[0].dim_param = "N"
    fixed = _tool(
        "make_dynamic_shape_fixed", folder, model, "--dim_param", "N", "--dim_value", "2", "model.onnx", "out.onnx"
    )
    assert fixed.graph.input[0].type.tensor_type.shape.dim[0].dim_value == 2


def _without_inputs(folder: Path) -> None:
    model = _fixture("overridable-initializer", "ir_version_4")
    done = _tool("remove_initializer_from_input", folder, model, "--input", "model.onnx", "--output", "out.onnx")
    assert not _reports("overridable-initializer", done)


def _symbolic(folder: Path) -> None:
    model = _model()
    model.graph.output[0].type.tensor_type.ClearField("shape")
    done = _tool("symbolic_shape_infer", folder, model, "--input", "model.onnx", "--output", "out.onnx")
    assert len(done.graph.output[0].type.tensor_type.shape.dim) == 1


def _saved_by_onnx_runtime(folder: Path) -> None:
    """ONNX Runtime imports sets that no node needs, and without optimizations no operators of its own."""
    onnxruntime = importlib.import_module("onnxruntime")
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.optimized_model_filepath = str(folder / "saved.onnx")
    onnxruntime.InferenceSession(_model().SerializeToString(), options, providers=["CPUExecutionProvider"])
    saved = onnx.load(folder / "saved.onnx")
    assert {"", "ai.onnx.ml", "com.microsoft"} <= {each.domain for each in saved.opset_import}
    assert {node.domain for node in saved.graph.node} == {""}


def _of_pass(rule: str, words: str, name: str, fixture: str) -> tuple[str, str, Recipe]:
    return rule, words, partial(mended, rule, fixture, partial(_passed, name))


OF_ONNX: Final[list[tuple[str, str, Recipe]]] = [
    ("ambiguous-attribute-value", "fills exactly one field", _one_field_of_attributes),
    ("untyped-attribute", "derives it from the value", _one_field_of_attributes),
    ("ambiguous-tensor-data", "fill one field", _one_field_of_tensors),
    ("mispacked-sub-byte-data", "do it", _one_field_of_tensors),
    ("contradictory-declared-shape", "let `onnx.shape_inference.infer_shapes` write it again", _inferred),
    ("contradictory-value-info", "let `onnx.shape_inference.infer_shapes` write it again", _inferred),
    ("redundant-value-info", "writes those of intermediate values again", _inferred),
    ("unknown-value-info-name", "writes the needed entries", _inferred),
    ("untyped-graph-value", "finds the type of an output", _inferred_output),
    ("data-beside-external-data", "replaces only those in `raw_data`", _loaded_beside_data),
    ("dead-external-data", "appends to a data file", _saved_to_one_file_again),
    ("missing-external-file", "does the same where the data still exists", _saved_outside),
    ("non-relative-location", 'location="weights.bin"', _saved_outside),
    ("oversized-message", "save_as_external_data=True", _saved_outside),
    ("duplicate-definition", "add_prefix", _joined),
    ("duplicate-node-name", "add_prefix", _joined),
    ("repeated-singular-field", "joins two models", _joined),
    ("duplicate-metadata-key", "write the entries again", _metadata),
    ("missing-metadata-entry", "set_model_props", _metadata),
    ("duplicate-opset-import", "convert_version", _converted),
    ("operator-arity", "convert_version", _converted),
    ("outdated-operator-set", "convert_version", _converted),
    ("unsupported-by-target", "convert_version", _converted_back),
    ("long-encoding", "onnx.save", _saved_plainly),
    ("misnamed-text-form", "onnx.save", _text_as_binary),
    ("misnamed-text-form", "`onnx.load`, `onnx.checker`", _text_as_binary),
    ("markup-in-documentation", "strip_doc_string", _stripped),
    ("mismatched-attribute-type", "make_attribute", _types_of_attributes),
    ("mismatched-call-attribute", "make_node", _types_of_attributes),
    ("wrong-operator-attribute-type", "make_node", _types_of_attributes),
    ("negative-dimension", "make_tensor_value_info", _dimensions),
    ("shapeless-graph-value", "make_tensor_value_info", _dimensions),
    ("missing-ir-version", "make_model", _versions),
    ("outdated-ir-version", "make_model_gen_version", _versions),
    ("unknown-ir-version", "make_model", _versions),
    ("unknown-tensor-element-type", "np_dtype_to_tensor_dtype", _element_type),
    ("misplaced-attribute-reference", "inline_local_functions", _inlined),
    (
        "data-in-attribute-reference",
        "make_attribute_ref",
        partial(
            _clean,
            "data-in-attribute-reference",
            lambda: helper.make_attribute_ref("a", onnx.AttributeProto.INT),
        ),
    ),
    ("duplicate-map-key", "from_dict", partial(_clean, "duplicate-map-key", lambda: numpy_helper.from_dict({1: 2}))),
    (
        "mismatched-optional-value",
        "make_optional",
        partial(
            _clean,
            "mismatched-optional-value",
            lambda: helper.make_optional("o", onnx.OptionalProto.TENSOR, helper.make_tensor("t", 1, [1], [1.0])),
        ),
    ),
    (
        "misplaced-sequence-values",
        "make_sequence",
        partial(
            _clean,
            "misplaced-sequence-values",
            lambda: helper.make_sequence("s", onnx.SequenceProto.TENSOR, [helper.make_tensor("t", 1, [1], [1.0])]),
        ),
    ),
    (
        "missing-documentation",
        "make_graph",
        partial(_clean, "missing-documentation", lambda: helper.make_graph([], "g", [], [], doc_string="d")),
    ),
    (
        "missing-graph-name",
        "make_graph",
        partial(_clean, "missing-graph-name", lambda: helper.make_graph([], "g", [], [])),
    ),
    (
        "missing-opset-import",
        "make_model",
        partial(
            _clean,
            "missing-opset-import",
            lambda: _model(opset_imports=[helper.make_opsetid("", 17), helper.make_opsetid("com.microsoft", 1)]),
        ),
    ),
    (
        "missing-producer",
        "make_model",
        partial(_clean, "missing-producer", lambda: _model(producer_name="p", producer_version="1")),
    ),
    (
        "non-boolean-byte",
        "from_array",
        partial(_clean, "non-boolean-byte", lambda: numpy_helper.from_array(np.array([0, 2]) != 0, "b")),
    ),
]
"""A rule, words of its page, and what runs."""

OF_TOOLS: Final[dict[str, list[tuple[str, str, Recipe]]]] = {
    "onnx_ir": [
        _of_pass("duplicate-graph-output", "OutputFixPass", "OutputFixPass", "a_graph_lists_an_output_twice"),
        _of_pass("duplicate-node-name", "NameFixPass", "NameFixPass", "two_nodes_share_a_name"),
        ("equal-initializers", "DeduplicateInitializersPass", _deduplicated),
        _of_pass(
            "overridable-initializer",
            "RemoveInitializersFromInputsPass",
            "RemoveInitializersFromInputsPass",
            "ir_version_4",
        ),
        _of_pass("repeated-node", "CommonSubexpression", "CommonSubexpressionEliminationPass", "the_same_chain_twice"),
        _of_pass("shadowed-name", "NameFixPass", "NameFixPass", "a_branch_hides_an_input"),
        _of_pass("unnamed-node", "NameFixPass", "NameFixPass", "an_empty_name"),
        _of_pass("unneeded-node", "RemoveUnusedNodesPass", "RemoveUnusedNodesPass", "in_a_branch"),
        _of_pass("unordered-nodes", "TopologicalSortPass", "TopologicalSortPass", "four_nodes_backwards"),
        _of_pass("unused-function", "RemoveUnusedFunctionsPass", "RemoveUnusedFunctionsPass", "nothing_calls_it"),
        _of_pass("unused-initializer", "RemoveUnusedNodesPass", "RemoveUnusedNodesPass", "a_tensor_that_nothing_uses"),
        _of_pass("unused-opset-import", "RemoveUnusedOpsetsPass", "RemoveUnusedOpsetsPass", "an_import_of_a_function"),
        ("unordered-nodes", "graph.sort()", partial(mended, "unordered-nodes", "four_nodes_backwards", _sorted)),
        ("unaligned-external-offset", "onnx_ir", _aligned),
    ],
    "onnxscript": [
        ("foldable-constant", "fold_constants", partial(mended, "foldable-constant", "the_last_of_three", _folded))
    ],
    "onnxruntime": [
        ("contradictory-declared-shape", "make_dynamic_shape_fixed", _fixed_size),
        ("misnamed-text-form", "ONNX Runtime read", _text_for_onnx_runtime),
        ("outdated-ir-version", "imports every set it knows", _saved_by_onnx_runtime),
        ("overridable-initializer", "remove_initializer_from_input", _without_inputs),
        ("shapeless-graph-value", "symbolic_shape_infer", _symbolic),
        ("unknown-operator", "graph_optimization_level", _saved_by_onnx_runtime),
        ("unused-opset-import", "imports every set that it knows", _saved_by_onnx_runtime),
    ],
}
"""The same, by the package that it needs."""
