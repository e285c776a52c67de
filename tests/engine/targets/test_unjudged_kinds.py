# SPDX-License-Identifier: Apache-2.0
"""What a program refuses in some models only is not said to load."""

from __future__ import annotations

import struct
from pathlib import Path

import onnx
import onnx.parser
import pytest

import onnx_lint

HEAD = '<ir_version: %d, opset_import: ["": %d%s]>'


def state(
    graph: str, target: str, *, ir: int = 8, opset: int = 17, imports: str = "", function: str = ""
) -> bool | None:
    """Return whether a program takes a model, by its target."""
    found = onnx.parser.parse_model(f"{HEAD % (ir, opset, imports)} g {graph} {function}")
    return onnx_lint.lint(found, target=target).files[0].targets[0].loads


DIVISION = "(%s[2] x%s) => (%s[2] y) <%s[2] k = {1, %d}> { y = %s(x, k) }"


@pytest.mark.parametrize(
    ("data", "weights", "expected"),
    [
        ("[N, 4, L]", "[C, 1, K]", True),
        ("[N, C, L]", "[4, 1, K]", True),
        ("[N, C, L]", "[C, 1, 3]", None),
        ("[]", "[4, 1, 3]", None),
        ("[N, 4, L]", "[]", True),
    ],
)
def test_a_causal_convolution_needs_a_number_of_channels(data: str, weights: str, expected: bool | None) -> None:
    """ONNX Runtime 1.32 makes the function only then. `[]`: no shape is stated."""
    model = onnx.parser.parse_model(f"""<ir_version: 11, opset_import: ["": 27]>
        g (float{data} x, float{weights} w) => (float[n, c, l] y) {{ y, s = CausalConvWithState(x, w) }}""")
    for value, shape in zip(model.graph.input, (data, weights), strict=True):
        if shape == "[]":
            value.type.tensor_type.ClearField("shape")
    report = onnx_lint.lint(model, target="onnxruntime=1.32", ignore="hygiene")
    assert report.files[0].targets[0].loads is expected


@pytest.mark.parametrize("operator", ["Div", "Mod"])
@pytest.mark.parametrize("kind", ["int8", "uint8", "int16", "uint16", "uint32"])
def test_a_constant_divisor_of_0_is_not_judged_if_its_type_is_narrow(kind: str, operator: str) -> None:
    """ONNX Runtime 1.23.2 ends the process, and 1.32 refuses the model."""
    for zero, expected in ((0, None), (2, True)):
        assert state(DIVISION % (kind, "", kind, kind, zero, operator), "onnxruntime=1.32") is expected
    replaceable = DIVISION % (kind, f", {kind}[2] k", kind, kind, 0, operator)
    assert state(replaceable, "onnxruntime=1.32", ir=8) is True
    assert state(replaceable, "onnxruntime=1.32", ir=3) is None
    given = f"({kind}[2] x, {kind}[2] k) => ({kind}[2] y) {{ y = {operator}(x, k) }}"
    assert state(given, "onnxruntime=1.32") is True


RELU = "(float[4] x) => (float[4] y) { y = Relu(x) }"
GELU = "(float[4] x) => (float[4] y) { y = com.microsoft.Gelu(x) }"
FUNCTION = '<domain: "loc", opset_import: ["": 17, "com.microsoft": 0]> f (a) => (b) { b = Relu(a) }'
CALL = "(float[4] x) => (float[4] y) { y = loc.f(x) }"


@pytest.mark.parametrize("target", ["onnxruntime=1.17.3", "onnxruntime=1.32"])
@pytest.mark.parametrize(
    ("graph", "imports", "function", "expected"),
    [
        (GELU, ', "com.microsoft": 1', "", True),
        (GELU, ', "com.microsoft": 0', "", None),
        (RELU, ', "com.microsoft": 0', "", True),
        (CALL, ', "loc": 1', FUNCTION, None),
        (RELU, ', "com.microsoft.experimental": 1', "", True),
        (RELU, ', "com.microsoft.experimental": 2', "", False),
        (RELU, ', "org.pytorch.aten": 2', "", False),
        (RELU, ', "com.acme": 99', "", True),
    ],
)  # fmt: skip
def test_versions_of_domains_that_onnx_runtime_registers(
    graph: str, imports: str, function: str, expected: bool | None, target: str
) -> None:
    assert state(graph, target, imports=imports, function=function) is expected


def test_a_locale_may_be_missing_on_the_machine() -> None:
    assert state("(string[2] x) => (string[n] y) { y = StringNormalizer(x) }", "onnxruntime=1.32") is None


@pytest.mark.parametrize("place", ["input", "initializer"])
def test_scales_in_a_data_file_are_not_judged_for_full_check(place: str, tmp_path: Path) -> None:
    """It reads a default as if no other value could be given."""
    given = ", float[4] s" if place == "input" else ""
    text = f"{HEAD % (8, 13, '')} g (float[1, 1, 2, 2] x{given}) => (float[a, b, c, d] y) {{ y = Resize(x, , s) }}"
    found = onnx.parser.parse_model(text)
    tensor = found.graph.initializer.add(name="s", data_type=onnx.TensorProto.FLOAT, dims=[4])
    tensor.data_location = onnx.TensorProto.EXTERNAL
    tensor.external_data.add(key="location", value="s.bin")
    (tmp_path / "s.bin").write_bytes(struct.pack("<4f", 1, 1, 2, 2))
    onnx.save(found, tmp_path / "m.onnx")
    assert onnx_lint.lint(tmp_path / "m.onnx", target="onnx.full_check").files[0].targets[0].loads is None


@pytest.mark.parametrize(
    ("ir", "inputs", "expected"),
    [(3, ", float[4] s", None), (4, ", float[4] s", True), (4, "", None)],
)
def test_an_initializer_of_an_input_is_a_constant_before_ir_version_4(
    ir: int, inputs: str, expected: bool | None
) -> None:
    """ONNX Runtime 1.23.2 and 1.32 refuse constant scales of the first two axes in mode linear."""
    graph = f"(float[1, 1, 2, 2] x{inputs}) => (float[a, b, c, d] y) <float[4] s = {{2, 2, 1, 1}}>"
    node = '{ y = Upsample<mode = "linear">(x, s) }'
    assert state(f"{graph} {node}", "onnxruntime=1.32", ir=ir, opset=9) is expected


RESIZE = "(float[1, 1, 2, 2] x) => (float[a, b, c, d] y) <float[2] s = {2, 2}> { y = Resize<axes = [%s]>(x, , s) }"


@pytest.mark.parametrize("opset", [18, 19])
def test_openvino_does_not_count_axes_from_the_end(opset: int) -> None:
    assert state(RESIZE % "2, 3", "openvino=2026.4", opset=opset) is True
    assert state(RESIZE % "-2, -1", "openvino=2026.4", opset=opset) is None


@pytest.mark.parametrize(("before", "expected"), [("r = Relu(x)", True), ("r = Reshape(x, s)", None)])
def test_openvino_needs_the_rank_of_what_upsample_scales(before: str, expected: bool | None) -> None:
    upsample = "y = Upsample<scales = [1.0, 1.0, 2.0, 2.0]>(r)"
    graph = f"(float[1, 1, 2, 2] x, int64[n] s) => (float[a, b, c, d] y) {{ {before} {upsample} }}"
    assert state(graph, "openvino=2026.4", opset=7) is expected


@pytest.mark.parametrize("version", [1, 2])
def test_openvino_may_refuse_a_model_without_imports(version: int) -> None:
    found = onnx.parser.parse_model(f"{HEAD % (version, 1, '')} g {RELU}")
    del found.opset_import[:]
    assert onnx_lint.lint(found, target="openvino=2026.4").files[0].targets[0].loads is None


@pytest.mark.parametrize(("shape", "accepted"), [("[]", False), ("[N, 4, L]", True)])
def test_onnx_runtime_needs_the_rank_of_a_causal_convolution(shape: str, accepted: bool) -> None:
    """Elsewhere it accepts a value without a shape, which ONNX forbids: then that is a warning."""
    model = onnx.parser.parse_model(f"""<ir_version: 11, opset_import: ["": 27]>
        g (float{shape.replace("[]", "")} x, float[4, 1, 3] w, float z) => (float[n, c, l] y, float[n] o)
        {{ y, s = CausalConvWithState(x, w) o = Relu(z) }}""")
    for value in model.graph.input:
        if value.name == "z" or (value.name == "x" and not accepted):
            value.type.tensor_type.ClearField("shape")
    report = onnx_lint.lint(model, target="onnxruntime=1.32", ignore="hygiene")
    found = [each for each in report.diagnostics if each.clause == "VI-3"]
    assert {each.severity.label for each in found} == {"warning" if accepted else "error"}
    assert all(bool(each.by_target.accepted_by) is accepted for each in found)


GATES = "(float[1,2,4] x, float[1,2,4] d, float[1,2,1] b) => (float[e,f,h] y) { %s }"


@pytest.mark.parametrize(
    ("rule", "decay", "update", "expected"),
    [
        ("linear", "", "", True),
        ("linear", "d", "", False),
        ("linear", "", "b", False),
        ("gated", "d", "", True),
        ("gated", "d", "b", False),
        ("delta", "", "b", True),
        ("delta", "d", "b", False),
        ("gated_delta", "d", "b", True),
    ],
)
def test_gates_that_the_update_rule_forbids(rule: str, decay: str, update: str, expected: bool) -> None:
    heads, given = "q_num_heads = 1, kv_num_heads = 1", f"x, x, x, , {decay}, {update}"
    node = f'y, s = LinearAttention<{heads}, update_rule = "{rule}">({given})'
    assert state(GATES % node, "onnxruntime=1.32", ir=13, opset=27) is expected
    assert state(GATES % node, "onnx.full_check", ir=13, opset=27) is (expected or None)
    function = f"""<domain: "acme", opset_import: ["": 27]> F <r> (x, d, b) => (y)
        {{ y, s = LinearAttention<{heads}, update_rule: string = @r>({given}) }}"""
    call = GATES % f'y = acme.F<r = "{rule}">(x, d, b)'
    is_known = None if decay or update else True
    made = state(call, "onnxruntime=1.32", ir=13, opset=27, imports=', "acme": 1', function=function)
    assert made is (is_known if rule != "gated_delta" else None)


@pytest.mark.parametrize(
    ("node", "kind", "expected"),
    [
        ("Cast<to = 11, saturate: int = @v>(x)", "double", None),
        ("Cast<to = 17, saturate: int = @v>(x)", "float8e4m3fn", True),
        ("Cast<to = 11>(x)", "double", True),
    ],
)
def test_a_value_of_a_call_may_be_refused_for_the_type(node: str, kind: str, expected: bool | None) -> None:
    graph = f"(float[2] x) => ({kind}[2] y) {{ y = acme.F<v = 1>(x) }}"
    function = f'<domain: "acme", opset_import: ["": 19]> F <v> (x) => (y) {{ y = {node} }}'
    assert state(graph, "onnxruntime=1.32", ir=9, opset=19, imports=', "acme": 1', function=function) is expected


@pytest.mark.parametrize(
    ("axis", "scale", "oldest"),
    [(-1, "[4]", True), (0, "[4]", None), (0, "[2, 3, 4]", True), (0, "", True), (1, "[1, 4]", None), (1, "[N]", None)],
)
def test_a_normalization_of_float16_with_a_scale_of_other_sizes(axis: int, scale: str, oldest: bool | None) -> None:
    """ONNX Runtime 1.17.3 has no kernel for float16, and the function refuses some scales that can be broadcast."""
    start = f"(float16[2, 3, 4] x, float16{scale} s) => (float16[2, 3, 4] y)"
    graph = f"{start} {{ y = LayerNormalization<axis = {axis}>(x, s) }}"
    assert [state(graph, f"onnxruntime={release}") for release in ("1.17", "1.20")] == [oldest, True]


@pytest.mark.parametrize(
    ("node", "expected"),
    [
        ("Slice<starts = [0], ends = [1]>", True),
        ("Slice<starts = [0], ends = [1], axes = [0]>", True),
        ("Slice<starts = [0], ends = [1, 1]>", None),
    ],
)
def test_a_slice_with_lists_of_other_lengths(node: str, expected: bool | None) -> None:
    graph = f"(float[2, 3] x) => (float[a, b] y) {{ y = {node}(x) }}"
    assert (state(graph, "onnxruntime=1.32", opset=9) or None) is expected


@pytest.mark.parametrize(("attributes", "expected"), [("", True), (", alpha = -1.0", None), (", beta = 0.0", None)])
def test_local_responses_are_normalized_with_numbers_above_0(attributes: str, expected: bool | None) -> None:
    graph = f"(float[1, 2, 4, 4] x) => (float[a, b, c, d] y) {{ y = LRN<size = 3{attributes}>(x) }}"
    assert state(graph, "onnxruntime=1.32") is expected
