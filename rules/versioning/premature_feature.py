# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping

from onnx_lint import schema
from onnx_lint.model import ROOT, Function, Graph, Model, Node, Place
from onnx_lint.model.graph import Proto
from onnx_lint.model.metadata import holder_of
from onnx_lint.rule import Finding, rule
from onnx_lint.spec.ir_versions import ELEMENT_TYPES, FIELDS, ML_FROM_THE_START, TYPES, Since
from onnx_lint.spec.releases import NEWEST_IR_VERSION

_ELSEWHERE = {None, "MOD-7"}
"""Fields of these clauses are for no rule or for `premature-opset-import`."""

_ELEMENT_TYPE_FIELDS = {"tensor_type": "elem_type", "sparse_tensor_type": "elem_type", "map_type": "key_type"}

_Occurrence = tuple[str, Place]
"""What is used, as a key of the tables, and where."""


@rule(
    clause=(
        "META-3",
        "FUN-G1",
        "FUN-G2",
        "FUN-G3",
        "FUN-G4",
        "TYP-G1",
        "TYP-G2",
        "TYP-G3",
        "TYP-G4",
        "TYP-D-bfloat16",
        "TYP-D-float8e4m3fn",
        "TYP-D-uint4",
        "TYP-D-float4e2m1",
        "TYP-D-float8e8m0",
        "TYP-D-uint2",
        "TYP-D-float6e2m3",
        "SPA-G",
        "TRN-G",
        "DEV-G",
        "QNT-G",
        "ATT-12",
        "EXT-18",
    ),
    since="0.1.0",
)
def premature_feature(model: Model) -> Iterator[Finding]:
    """The model uses a field, type or element type that came with a later IR version than the one it states.

    ### Why it matters

    A consumer that knows the stated IR version and no later one is right to believe that it can read the model. It
    will then skip the field without a word, or meet a type that it cannot represent.

    ### What is allowed

    What the stated IR version has:

    | IR version | brought |
    | --- | --- |
    | 4 | external data; bfloat16 |
    | 5 | quantization annotations |
    | 6 | sparse initializers, sparse tensors in attributes |
    | 7 | training information |
    | 8 | functions, sparse tensor types, optional types, types in attributes |
    | 9 | defaults of a function's attributes; float8e4m3fn, float8e4m3fnuz, float8e5m2, float8e5m2fnuz |
    | 10 | metadata outside of the model itself, overloads, value_info of functions; uint4, int4 |
    | 11 | device configurations; float4e2m1 |
    | 12 | float8e8m0 |
    | 13 | uint2, int2 |
    | 14 | float6e2m3, float6e3m2 |

    Under `--variant onnx` sequence and map types need IR version 6 and opaque types IR version 14. ONNX-ML, the
    default, had these three from the start; the specification dates them for both variants alike, but converters of
    classical models wrote sequences of maps at IR versions 3 to 5, and rightly so.

    Each thing that is too new is reported once, where it occurs first. A model without a published IR version is
    not judged. Element types in integer attributes (`to` of Cast) are for the operator set, and `opset_import` is
    for `premature-opset-import`.

    ### Example

    ```
    ir_version: 3
    graph { input { name: "x" type { tensor_type { elem_type: 16 } } } }
    ```

    The element type 16, bfloat16, came with IR version 4.
    """
    if not 1 <= model.ir_version < NEWEST_IR_VERSION:
        return
    for name, place, count in _first(_fields(model)):
        message, field = name.split(".")
        yield _finding(model, f"field '{field}' of {message}", FIELDS[name], place, count)
    for name, place, count in _first(_types(model)):
        yield _finding(model, f"type '{name.removesuffix('_type')}'", TYPES[name], place, count)
    for name, place, count in _first(_element_types(model)):
        yield _finding(model, f"element type '{name.lower()}'", ELEMENT_TYPES[name], place, count)


def _finding(model: Model, what: str, since: Since, place: Place, count: int) -> Finding:
    occurrences = f" ({count:,} occurrences)" if count > 1 else ""
    return Finding(
        place,
        f"{what} needs IR version {since.ir_version}, the model states {model.ir_version}{occurrences}",
        clause=since.clause,
        allowed=f"IR version {since.ir_version} or later",
        subject=what,
    )


def _first(occurrences: Iterable[_Occurrence]) -> Iterator[tuple[str, Place, int]]:
    """What is used, where it is used first, and how often."""
    first: dict[str, Place] = {}
    counts: Counter[str] = Counter()
    for name, place in occurrences:
        first.setdefault(name, place)
        counts[name] += 1
    for name, place in first.items():
        yield name, place, counts[name]


def _fields(model: Model) -> Iterator[_Occurrence]:
    premature: dict[str, list[str]] = {}
    for name, since in FIELDS.items():
        if since.ir_version > model.ir_version and since.clause not in _ELSEWHERE:
            message, field = name.split(".")
            premature.setdefault(message, []).append(field)
    yield from _fields_of_model(model, premature)
    yield from _fields_of_attributes(model, frozenset(premature.get("AttributeProto", ())))
    if "external_data" in premature.get("TensorProto", ()):
        yield from _external_data(model)
    # All metadata but the model's own came with one IR version.
    if "metadata_props" in premature.get("NodeProto", ()):
        for metadata in model.metadata():
            if metadata.place != ROOT:
                yield f"{holder_of(metadata)}.{metadata.field}", metadata.place.at(metadata.field)


def _fields_of_model(model: Model, premature: Mapping[str, list[str]]) -> Iterator[_Occurrence]:
    for field in premature.get("ModelProto", ()):
        if getattr(model.proto, field):
            yield f"ModelProto.{field}", ROOT.at(field)
    graphs = [graph for graph in model.graphs if not graph.is_function]
    holders: dict[str, Iterable[Graph | Function | Node]] = {
        "GraphProto": graphs,
        "FunctionProto": model.functions,
        "NodeProto": [node for graph in model.graphs for node in graph.annotated_nodes],
    }
    for message, items in holders.items():
        fields = [field for field in premature.get(message, ()) if field != "metadata_props"]
        if fields:
            for item in items:
                for field in fields:
                    if getattr(item.proto, field):
                        yield f"{message}.{field}", item.place.at(field)


def _fields_of_attributes(model: Model, premature: frozenset[str]) -> Iterator[_Occurrence]:
    if premature:
        for attribute in model.attributes_where(lambda signature: not premature.isdisjoint(signature.fields)):
            for field in premature:
                value = getattr(attribute.proto, field)
                if attribute.proto.HasField(field) if hasattr(value, "DESCRIPTOR") else value:
                    yield f"AttributeProto.{field}", attribute.place.at(field)


def _external_data(model: Model) -> Iterator[_Occurrence]:
    for tensor in model.tensors():
        # Both fields say the same, the entries more plainly.
        for field in ("external_data", "data_location"):
            if getattr(tensor.proto, field):
                yield f"TensorProto.{field}", tensor.place.at(field)
                break


def _types(model: Model) -> Iterator[_Occurrence]:
    premature = {name for name, since in TYPES.items() if since.ir_version > model.ir_version}
    if model.standard.variant != "onnx" or model.standard.edition == "1.9":
        # Edition 1.9 gives the smaller variant no such types at any IR version; that is for `foreign-type`.
        premature -= ML_FROM_THE_START
    if premature:
        for holder in model.types_where(lambda proto: proto.WhichOneof("value") in premature):
            yield str(holder.kind), holder.place.at(str(holder.kind))


def _element_types(model: Model) -> Iterator[_Occurrence]:
    numbers = schema.message("TensorProto").DataType
    premature = {
        numbers.Value(name): name for name, since in ELEMENT_TYPES.items() if since.ir_version > model.ir_version
    }
    for holder in model.types_where(lambda proto: _element_type(proto) in premature):
        kind = str(holder.kind)
        yield premature[_element_type(holder.proto)], holder.place.at(kind).at(_ELEMENT_TYPE_FIELDS[kind])
    for tensor in model.tensors():
        if tensor.proto.data_type in premature:
            yield premature[tensor.proto.data_type], tensor.place.at("data_type")


def _element_type(proto: Proto) -> int:
    """The number of the element or key type; 0, which is none, for types that have no such field."""
    kind = proto.WhichOneof("value")
    return int(getattr(getattr(proto, kind), _ELEMENT_TYPE_FIELDS[kind])) if kind in _ELEMENT_TYPE_FIELDS else 0
