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
