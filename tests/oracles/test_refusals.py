# SPDX-License-Identifier: Apache-2.0
"""What the installed release refuses by `onnx_lint.spec.products.refusals`: the rows are tried one by one."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from google.protobuf import text_format
from onnx import ModelProto
from support.models.asked_programs import ONNXRUNTIME, outcomes, runtimes
from support.models.refused_forms import REFUSED_IF_READ, written
from support.project.fixture_files import fixtures_of

from onnx_lint import lint, schema
from onnx_lint.spec.operators import BUILT_IN, OperatorSchema
from onnx_lint.spec.products.refusals import ONNXRUNTIME_SIGNATURES, READ_INPUTS
from tools import compare_target
from tools.single_nodes import single_node, versions

pytestmark = pytest.mark.consumers

RULE = "unsupported-by-product"
SHAPE = (2).to_bytes(8, "little") * 32
"""The content of a data file: the shape [2, 2], and enough for any other."""


def test_the_fixtures_load_as_their_target_says(tmp_path: Path) -> None:
    onnxruntime = pytest.importorskip("onnxruntime", reason="no part of the development packages")
    files = _written(tmp_path, f"onnxruntime={onnxruntime.__version__.rpartition('.')[0]}")
    reasons = outcomes(files, ONNXRUNTIME)
    assert {file.name: reasons[file] is None for file in files} == {file.name: valid for file, valid in files.items()}


def test_openvino_converts_the_fixtures_as_their_target_says(tmp_path: Path) -> None:
    openvino = pytest.importorskip("openvino", reason="no part of the development packages")
    files = _written(tmp_path, f"openvino={'.'.join(openvino.__version__.split('.')[:2])}")
    reasons = compare_target.outcomes(sys.executable, "openvino", [*files])
    assert {file.name: reasons[str(file)] is None for file in files} == {f.name: valid for f, valid in files.items()}


def test_each_form_is_refused_as_its_answer_says(tmp_path: Path) -> None:
    """Each release is asked; onnx-lint knows the answer of all but the models that it says are not judged."""
    pytest.importorskip("onnxruntime", reason="no part of the development packages")
    forms = written(tmp_path)
    for version, python in runtimes().items():
        reasons = outcomes(forms, ONNXRUNTIME, python)
        verdicts = {path: lint(path, target=f"onnxruntime={version}").files[0].targets[0].loads for path in forms}
        untrue = {
            form.name: reasons[path]
            for path, form in forms.items()
            if verdicts[path] is not None and verdicts[path] is not (reasons[path] is None)
        }
        assert untrue == {}, version
        unjudged = {form.name: reasons[path] is None for path, form in forms.items() if verdicts[path] is None}
        if_read = {name: loads for name, loads in unjudged.items() if name.endswith(REFUSED_IF_READ)}
        assert if_read == {name: "unread" in name for name in if_read}, version
        assert len(if_read) == 6, version


def test_inference_reads_the_inputs_that_the_table_names(tmp_path: Path) -> None:
    pytest.importorskip("onnxruntime", reason="no part of the development packages")
    (tmp_path / "data.bin").write_bytes(SHAPE)
    files = []
    for name, rows in READ_INPUTS.items():
        for reading in rows:
            for index in reading.inputs:
                version = next(each for each in _versions_with(name, index) if each >= reading.since)
                operator = BUILT_IN.find("", name, version)
                assert operator is not None
                for imported in {versions(operator)[0], versions(operator)[-1]}:
                    files.append(tmp_path / f"{name}_{imported}_{index}.onnx")
                    files[-1].write_bytes(
                        _with_data_file(operator, imported, index, reading.inputs if reading.needs_all else ())
                    )
    newer = "Current official support"  # an operator set that the installed release does not have
    reasons = {file: reason for file, reason in outcomes(files, ONNXRUNTIME).items() if newer not in str(reason)}
    assert {file.name.partition("_")[0] for file in reasons} == {*READ_INPUTS}
    for file, reason in reasons.items():
        assert "Cannot parse data from external tensors" in str(reason), (file.name, reason)


def test_the_signatures_are_those_of_onnx_runtime() -> None:
    pytest.importorskip("onnxruntime", reason="no part of the development packages")
    from onnxruntime.capi.onnxruntime_pybind11_state import get_all_operator_schema

    found = {
        each.name: (
            range(each.min_input, each.max_input + 1),
            range(each.min_output, each.max_output + 1),
            {name: str(attribute.type).rpartition(".")[2] for name, attribute in each.attributes.items()},
            {*each.type_constraints[0].allowed_type_strs},
        )
        for each in get_all_operator_schema()
        if each.domain == "" and each.since_version == 1 and each.name in ONNXRUNTIME_SIGNATURES
    }
    wanted = {
        n: (row.inputs, row.outputs, dict(row.attributes), {*row.types}) for n, row in ONNXRUNTIME_SIGNATURES.items()
    }
    assert found == wanted


def _versions_with(name: str, index: int) -> list[int]:
    """Return the versions of an operator that have an input."""
    found = [(version, BUILT_IN.find("", name, version)) for version in sorted(BUILT_IN.versions("", name))]
    return [version for version, operator in found if operator is not None and index < len(operator.inputs)]


def _written(folder: Path, target: str) -> dict[Path, bool]:
    """Write the fixtures of a target, with the data beside them; true for those that it loads."""
    (folder / "s.bin").write_bytes(SHAPE)
    found = {}
    for fixture in fixtures_of(RULE):
        if ("target", target) in fixture.headers:
            path = folder / f"{fixture.path.stem}.onnx"
            path.write_bytes(text_format.Parse(fixture.text, ModelProto()).SerializeToString())
            found[path] = fixture.is_valid or any("with which each run" in line for line in fixture.expected)
    if set(found.values()) != {True, False}:
        pytest.skip(f"no valid and invalid fixtures for {target}")
    return found


SCALARS = {"OneHot", "BlackmanWindow", "HammingWindow", "HannWindow", "Range", "DFT"}
"""The operators whose input that is read has no dimension."""


def _with_data_file(operator: OperatorSchema, imported: int, index: int, beside: tuple[int, ...]) -> bytes:
    """Return a node whose input has its elements in a data file, and some beside it as well; the others have rank 2."""
    kind = "tensor(int64)" if "tensor(int64)" in operator.inputs[index].types else "tensor(float)"
    types = {operator.inputs[index].type: kind}
    model = schema.message("ModelProto").FromString(
        single_node(
            operator,
            imported,
            types,
            has_all=index >= operator.min_input or beside != (),
            rank=3 if operator.name == "DFT" else 2,
        )
    )
    node = model.graph.node[0]
    if operator.name == "Resize":  # scales exclude sizes
        for other in {*range(operator.min_input, len(node.input))} - {index}:
            node.input[other] = ""
    outside = {node.input[each] for each in (index, *beside) if each < len(node.input)}
    kept = [value for value in model.graph.input if value.name not in outside]
    del model.graph.input[:]
    model.graph.input.extend(kept)
    for input_name in sorted(outside):
        tensor = model.graph.initializer.add(name=input_name, data_type=7 if kind == "tensor(int64)" else 1)
        if operator.name not in SCALARS:
            tensor.dims.append(1 if operator.name == "TopK" else 2)
        tensor.data_location = 1
        tensor.external_data.add(key="location", value="data.bin")
    return bytes(model.SerializeToString())
