# SPDX-License-Identifier: Apache-2.0
"""onnx.checker as an oracle for external data, with the reasons for which it and onnx-lint see a file differently."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from onnx_lint import lint, schema

onnx = pytest.importorskip("onnx", minversion="1.21")  # older ones follow links

FLOAT, EXTERNAL = 1, 1
OK = ("location", "ok.bin")

CASES: dict[str, tuple[list[tuple[str, str]], dict[str, Any]]] = {
    "as it should be": ([OK, ("offset", "4096"), ("length", "16")], {}),
    "all of a file": ([OK], {}),
    "in a folder": ([("location", "sub/ok.bin")], {}),
    "two dots in a name": ([("location", "a..b.bin")], {}),
    "dots in the way": ([("location", "./sub/./ok.bin")], {}),
    "no location": ([("offset", "0")], {}),
    "empty location": ([("location", "")], {}),
    "absolute": ([("location", "/etc/hostname")], {}),
    "parent folder": ([("location", "../outside.bin")], {}),
    "there and back": ([("location", "sub/../ok.bin")], {}),
    "backslashes": ([("location", "sub\\ok.bin")], {}),
    "drive letter": ([("location", "C:ok.bin")], {}),
    "NUL": ([("location", "ok.bin\0.txt")], {}),
    "number sign": ([("location", "#ok.bin")], {}),
    "missing": ([("location", "nothing.bin")], {}),
    "folder": ([("location", "sub")], {}),
    "pipe": ([("location", "pipe")], {}),
    "symbolic link": ([("location", "link.bin")], {}),
    "linked folder": ([("location", "linked/ok.bin")], {}),
    "folder linked from elsewhere": ([("location", "out/outside.bin")], {}),
    "hard link": ([("location", "hard.bin")], {}),
    "values inside as well": ([OK], {"raw_data": bytes(16)}),
    "negative offset": ([OK, ("offset", "-1")], {}),
    "offset that is not a number": ([OK, ("offset", "0x10")], {}),
    "offset beyond the file": ([OK, ("offset", "1048576")], {}),
    "length beyond the file": ([OK, ("length", str(2**53))], {}),
    "another length": ([OK, ("length", "12")], {}),
    "shape beyond the file": ([OK], {"dims": [100_000]}),
    "not aligned": ([OK, ("offset", "4100"), ("length", "16")], {}),
    "unknown key": ([OK, ("__class__", "x")], {}),
    "key twice": ([OK, OK], {}),
    "no mark": ([OK], {"data_location": 0, "raw_data": bytes(16)}),
    "unknown type": ([OK], {"data_type": 99}),
    "negative dimension": ([OK], {"dims": [-1]}),
    "strings": ([OK], {"data_type": 8}),
}
"""For each case the entries of external_data, and other fields of the tensor."""

ACCEPTED = {
    "there and back": "the path is made shorter before it is looked at",
    "backslashes": "it names a file on this system, if there is one of that name",
    "drive letter": "it names a file on this system, if there is one of that name",
    "NUL": "what is behind the NUL is not seen",
    "number sign": "it names a file as well, if there is one of that name",
    "linked folder": "a link that does not lead out is followed; where it leads may change",
    "negative offset": "no offset is looked at before the tensor is loaded",
    "offset that is not a number": "no offset is looked at before the tensor is loaded",
    "offset beyond the file": "no size is looked at before the tensor is loaded",
    "length beyond the file": "no size is looked at before the tensor is loaded",
    "another length": "the length is not compared with the shape",
    "shape beyond the file": "the size is not compared with the shape",
    "not aligned": "the alignment is not looked at",
    "unknown key": "keys are not looked at",
    "key twice": "keys are not looked at",
    "no mark": "entries without the mark are not looked at",
    "unknown type": "the type of an external tensor is not looked at",
    "negative dimension": "the dimensions of an external tensor are not looked at",
    "strings": "what the file holds is not looked at",
}
"""Cases that onnx.checker accepts and onnx-lint reports."""

REFUSED = {
    "two dots in a name": "dots anywhere in the name are taken for the parent folder",
}
"""Cases that onnx.checker rejects and onnx-lint does not."""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("oracle") / "model"
    (made / "sub").mkdir(parents=True)
    (made.parent / "outside.bin").write_bytes(bytes(8192))
    for name in ("ok.bin", "sub/ok.bin", "a..b.bin", "sub\\ok.bin", "C:ok.bin", "#ok.bin", "original.bin"):
        (made / name).write_bytes(bytes(8192))
    os.mkfifo(made / "pipe")
    (made / "link.bin").symlink_to("ok.bin")
    (made / "linked").symlink_to("sub")
    (made / "out").symlink_to("..")
    os.link(made / "original.bin", made / "hard.bin")
    return made


def _model(entries: list[tuple[str, str]], fields: dict[str, Any]) -> bytes:
    values = {"name": "w", "data_type": FLOAT, "data_location": EXTERNAL, "dims": [4], **fields}
    tensor = schema.message("TensorProto")(**values)
    for key, value in entries:
        tensor.external_data.add(key=key, value=value)
    model = schema.message("ModelProto")(ir_version=10, producer_name="tests", opset_import=[{"version": 21}])
    value_type = {"tensor_type": {"elem_type": FLOAT, "shape": {"dim": [{"dim_value": 4}]}}}
    model.graph.MergeFrom(
        schema.message("GraphProto")(
            name="graph",
            node=[{"op_type": "Add", "input": ["x", "w"], "output": ["y"]}],
            input=[{"name": "x", "type": value_type}],
            output=[{"name": "y", "type": value_type}],
            initializer=[tensor],
        )
    )
    return bytes(model.SerializeToString())


@pytest.mark.parametrize("name", CASES)
def test_check_model_agrees_on_external_data(name: str, folder: Path):
    path = folder / "model.onnx"
    path.write_bytes(_model(*CASES[name]))
    try:
        onnx.checker.check_model(str(path))
        refuses = False
    except (onnx.checker.ValidationError, ValueError):
        refuses = True
    reports = bool(lint(path, select=("external-data", "tensor")).diagnostics)
    expected = (False, True) if name in ACCEPTED else (True, False) if name in REFUSED else (refuses, refuses)
    assert (refuses, reports) == expected
