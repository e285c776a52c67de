# SPDX-License-Identifier: Apache-2.0
"""onnx.checker and onnx.helper as oracles: the first where it is exact, the second as a writer that is never wrong."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from support.models import exhaustive_walk as walked
from support.project.each_case import each_case
from support.project.fixture_files import FIXTURES, Fixture, fixtures, lint

from onnx_lint import schema
from onnx_lint.engine.settings import Settings
from onnx_lint.input.source import BytesSource
from onnx_lint.loader import load
from onnx_lint.model import Model, Proto
from onnx_lint.spec.element_types import ELEMENT_TYPES

onnx = pytest.importorskip("onnx")

TOO_NEW = ELEMENT_TYPES.keys() - set(onnx.TensorProto.DataType.values())
"""Types that the installed onnx is too old for."""

CHAPTERS = {
    chapter: {path.stem.replace("_", "-") for path in (FIXTURES.parent / "rules" / chapter).glob("[a-z]*.py")}
    for chapter in ("tensor", "sparse_tensor")
}

# --- fixtures against onnx.checker

ACCEPTED = {
    "TEN-1": "an unknown type in raw_data: the size test is skipped and nothing else asks for the type",
    "TEN-3": "a surplus: only fewer values than needed are refused",
    "TEN-5": "an empty raw_data beside a typed field: fields are counted by their size",
    "TEN-8": "no string is looked at",
    "TEN-9": "no string is looked at",
    "TEN-10": "no Boolean is looked at",
    "TEN-11": "no range is looked at",
    "TEN-12": "no range is looked at",
    "TEN-13": "eight 4-bit or sixteen 2-bit elements an entry are taken for enough, and more entries are a surplus",
    "TEN-14": "unused bits of 4-bit and 2-bit types are not looked at",
    "TEN-17": "the numbers of a segment are not looked at",
    "SPA-6b": "the product of the dimensions is not tested for overflow",
    "SPA-7": "stored defaults are not looked at",
}
"""Cases that onnx.checker accepts and onnx-lint reports, by clause."""

REFUSED = {
    "a_segment_counts_elements_without_the_end": "a part is held to be too short for the whole tensor",
    "a_segment_counts_elements_with_the_end": "a part is held to be too short for the whole tensor",
    "a_segment_counts_bytes": "a part is held to be too short for the whole tensor",
    "a_segment_of_strings": "a part is held to be too short for the whole tensor",
    "a_dimension_of_zero_beside_huge_ones": "the product overflows before the 0 is reached",
    "edition_1_9_has_no_such_clause": "the newest edition is meant",
}
"""Cases that onnx.checker rejects and onnx-lint does not, by fixture."""


def _tensors(model: Model) -> Iterator[tuple[str, Proto]]:
    for tensor in walked.tensors(model):
        if tensor.proto.data_type not in TOO_NEW:
            yield str(tensor.place), tensor.proto


def _refuses(check: Any, message: Any, proto: Proto) -> bool:
    try:
        check(message.FromString(proto.SerializePartialToString()))
    except (onnx.checker.ValidationError, onnx.shape_inference.InferenceError):
        return True
    return False


def _cases(chapter: str) -> list[Fixture]:
    return [fixture for fixture in fixtures() if fixture.rule in CHAPTERS[chapter] and not fixture.proto]


def _clauses(fixture: Fixture, chapter: str, place: str) -> set[str]:
    found = [each for each in lint(fixture.model(), fixture.settings) if each.rule in CHAPTERS[chapter]]
    places = ((each.clause, where) for each in found for where in (each.place, *(item.place for item in each.related)))
    return {clause for clause, where in places if where.startswith(place)}


def test_the_disagreements_are_those_that_are_known():
    """A newer onnx.checker may have become exact; then the list has an entry too many."""
    accepted: set[str] = set()
    refused: set[str] = set()
    for fixture in _cases("tensor"):
        for place, proto in _tensors(fixture.model()):
            verdict = _refuses(onnx.checker.check_tensor, onnx.TensorProto, proto)
            clauses = _clauses(fixture, "tensor", place)
            if clauses and not verdict:
                accepted |= clauses
            if verdict and not clauses:
                refused.add(fixture.path.stem)
    for fixture in _cases("sparse_tensor"):
        for sparse in walked.sparse_tensors(fixture.model()):
            verdict = _refuses(onnx.checker.check_sparse_tensor, onnx.SparseTensorProto, sparse.proto)
            clauses = _clauses(fixture, "sparse_tensor", str(sparse.place))
            if not verdict:
                accepted |= clauses
            elif not clauses:
                refused.add(fixture.path.stem)
    assert accepted == ACCEPTED.keys()
    assert refused == REFUSED.keys()


# --- what the onnx package writes is right


def _findings(tensors: list[Any]) -> list[str]:
    model = schema.message("ModelProto")()
    model.ir_version = 14
    for tensor in tensors:
        model.graph.initializer.add().ParseFromString(tensor.SerializeToString())
    found = lint(load(BytesSource(model.SerializeToString())), Settings(select=("tensor", "sparse-tensor")))
    return [each.message for each in found]


NUMBERS = {"BOOL": [0, 1], "STRING": ["a", "é", ""], "FLOAT8E8M0": [1.0, 2.0, 0.5]}
SIGNED = [-8, -1, 0, 1, 7]


def _values(name: str, count: int) -> list[Any]:
    if name in NUMBERS:
        cycle = NUMBERS[name]
    elif name in {"INT2", "UINT2"}:
        cycle = [-2, -1, 0, 1] if name == "INT2" else [0, 1, 2, 3]
    else:
        cycle = [0, 1, 5, 15] if name.startswith("UINT") else SIGNED
    return [cycle[index % len(cycle)] for index in range(count)]


WRITABLE = sorted(set(onnx.TensorProto.DataType.keys()) - {"UNDEFINED"})


@each_case("name", WRITABLE)
@each_case("dims", [[], [0], [1], [3], [2, 2], [5], [7], [16]], ids=str)
def test_make_tensor_writes_no_fault(name: str, dims: list[int]):
    count = int(np.prod(dims, dtype=int))
    values = _values(name, count)
    tensor = onnx.helper.make_tensor("w", getattr(onnx.TensorProto, name), dims, values)
    assert _findings([tensor]) == []


@each_case("name", WRITABLE)
@each_case("dims", [[], [0], [1], [3], [2, 2], [5], [7], [16]], ids=str)
def test_from_array_writes_no_fault(name: str, dims: list[int]):
    count = int(np.prod(dims, dtype=int))
    made = onnx.helper.make_tensor("w", getattr(onnx.TensorProto, name), dims, _values(name, count))
    array = onnx.numpy_helper.to_array(made)
    assert _findings([onnx.numpy_helper.from_array(array, "w")]) == []


@pytest.mark.parametrize(
    ("data_type", "entries", "dims"),
    [
        pytest.param(22, [-15, 0x21], [4], id="onnx 1.16 wrote packed int4 as signed bytes"),
        pytest.param(22, [0xF1, 0x21], [4], id="onnx 1.17 and later write them as unsigned bytes"),
        pytest.param(10, [0xC400, 0x3C00], [2], id="float16 as its bits"),
    ],
)
def test_what_older_writers_wrote(data_type: int, entries: list[int], dims: list[int]):
    tensor = onnx.TensorProto(name="w", data_type=data_type, dims=dims, int32_data=entries)
    assert _findings([tensor]) == []
