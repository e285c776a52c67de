# SPDX-License-Identifier: Apache-2.0
"""Models in which one list, any of the schema, has the requested number of entries."""

from __future__ import annotations

import copy
import functools
from collections.abc import Callable, Iterable, Iterator
from typing import Any, Final

from google.protobuf import text_format

from onnx_lint import schema

Path = tuple[tuple[str, int | None], ...]
"""The fields on the way to a list, with the index where one is itself a list."""

_FLOAT: Final = "type { tensor_type { elem_type: 1 shape { dim { dim_value: 2 } dim { dim_param: 'N' } } } }"
_NESTED_TYPES: Final = """
type { sequence_type { elem_type { map_type { key_type: 7 value_type { optional_type { elem_type {
  sparse_tensor_type { elem_type: 1 shape { dim { dim_value: 3 denotation: "DATA_BATCH" } } } } } } } } } }
"""
_METADATA: Final = 'metadata_props { key: "com.example.key" value: "value" }'
_EXTERNAL: Final = """
data_location: EXTERNAL external_data { key: "location" value: "weights.bin" }
external_data { key: "offset" value: "0" } external_data { key: "length" value: "8" }
"""
_TENSORS: Final = f"""
initializer {{ name: "w" dims: 2 data_type: 1 float_data: [1, 2] {_METADATA} }}
initializer {{ name: "i" dims: 2 data_type: 6 int32_data: [1, 2] }}
initializer {{ name: "l" dims: 2 data_type: 7 int64_data: [1, 2] }}
initializer {{ name: "d" dims: 2 data_type: 11 double_data: [1, 2] }}
initializer {{ name: "u" dims: 2 data_type: 13 uint64_data: [1, 2] }}
initializer {{ name: "s" dims: 2 data_type: 8 string_data: ["a", "b"] }}
initializer {{ name: "r" dims: 1 data_type: 1 raw_data: "abcd" }}
initializer {{ name: "e" dims: 2 data_type: 1 {_EXTERNAL} }}
"""
_SPARSE: Final = """
values { name: "sparse" dims: 1 data_type: 1 float_data: 1 } indices { dims: 1 data_type: 7 int64_data: 1 } dims: 2
"""
_SHARDING: Final = """
device_configurations { configuration_id: "devices" sharding_spec {
  tensor_name: "x" device: [0, 1] index_to_device_group_map { key: 5 value: [0, 1] }
  sharded_dim { axis: 0 simple_sharding { dim_value: 2 num_shards: 1 } } } }
"""
_ATTRIBUTES: Final = f"""
attribute {{ name: "floats" type: FLOATS floats: [1, 2] }}
attribute {{ name: "ints" type: INTS ints: [1, 2] }}
attribute {{ name: "strings" type: STRINGS strings: ["a", "b"] }}
attribute {{ name: "tensor" type: TENSOR t {{ dims: 2 data_type: 1 float_data: [1, 2] }} }}
attribute {{ name: "tensors" type: TENSORS tensors {{ dims: 2 data_type: 1 float_data: [1, 2] }} }}
attribute {{ name: "sparse" type: SPARSE_TENSOR sparse_tensor {{ {_SPARSE} }} }}
attribute {{ name: "sparses" type: SPARSE_TENSORS sparse_tensors {{ {_SPARSE} }} }}
attribute {{ name: "type" type: TYPE_PROTO tp {{ tensor_type {{ elem_type: 1 shape {{ dim {{ dim_value: 2 }} }} }} }} }}
attribute {{ name: "types" type: TYPE_PROTOS type_protos {{ tensor_type {{ elem_type: 1 }} }} }}
attribute {{ name: "graphs" type: GRAPHS graphs {{ name: "of many" output {{ name: "g" {_FLOAT} }} }} }}
"""


def _graph(name: str, content: str = "") -> str:
    return f"""
    name: "{name}" {_METADATA} {content}
    input {{ name: "x" {_FLOAT} {_METADATA} }} input {{ name: "many" {_NESTED_TYPES} }}
    output {{ name: "y" {_FLOAT} }} value_info {{ name: "m" {_FLOAT} }}
    {_TENSORS} sparse_initializer {{ {_SPARSE} }}
    quantization_annotation {{
      tensor_name: "x" quant_parameter_tensor_names {{ key: "SCALE_TENSOR" value: "w" }} }}
    node {{ name: "call" op_type: "F" domain: "com.example" input: "x" output: "f" {_ATTRIBUTES} }}
    node {{ name: "sum" op_type: "Sum" input: ["m", "x"] output: "y" }}
    node {{ name: "relu" op_type: "Relu" input: "x" output: "m" {_METADATA} {_SHARDING} }}
    """


TEMPLATE: Final = f"""
ir_version: 13 producer_name: "a test" {_METADATA}
opset_import {{ domain: "" version: 21 }} opset_import {{ domain: "com.example" version: 1 }}
configuration {{ name: "devices" num_devices: 2 device: ["one", "two"] }}
graph {{ {
    _graph(
        "graph",
        f'''
  node {{ op_type: "Cast" input: "x" output: "c" attribute {{ name: "to" type: INT i: 9 }} }}
  node {{ op_type: "If" input: "c" output: "z" attribute {{ name: "then_branch" type: GRAPH g {{ {_graph("then")} }} }}
    attribute {{ name: "else_branch" type: GRAPH g {{ name: "else" output {{ name: "x" {_FLOAT} }} }} }} }}
''',
    )
} }}
functions {{ name: "F" domain: "com.example" input: "x" output: "y" attribute: "floats" attribute: "to" {_METADATA}
  attribute_proto {{ name: "ints" type: INTS ints: [1, 2] }} value_info {{ name: "m" {_FLOAT} }}
  opset_import {{ domain: "" version: 21 }}
  node {{ op_type: "Relu" input: "x" output: "m" {_METADATA} }}
  node {{ op_type: "Cast" input: "m" output: "y" attribute {{ name: "to" type: INT ref_attr_name: "to" }} }} }}
training_info {{ initialization {{ {_graph("initialization")} }} algorithm {{ {_graph("algorithm")} }}
  initialization_binding {{ key: "w" value: "y" }} update_binding {{ key: "w" value: "y" }} }}
functions {{ name: "G" domain: "com.example" input: "x" output: "y" opset_import {{ domain: "" version: 21 }}
  node {{ op_type: "Relu" input: "x" output: "y" }} }}
training_info {{ algorithm {{ name: "step" node {{ op_type: "Relu" input: "x" output: "step" }} }}
  update_binding {{ key: "w" value: "step" }} }}
"""
"""A model with an entry in each list of the schema that a model has; the last entry is a small one."""


@functools.cache
def template() -> Any:
    """The message of TEMPLATE, which is not to be changed."""
    return text_format.Parse(TEMPLATE, schema.message("ModelProto")())


def lists(message: Any) -> dict[str, Path]:
    """Each list in the message, called by the fields on the way to it; of several one that is not empty."""
    found: dict[str, tuple[bool, Path]] = {}
    for path, is_empty in _lists(message, ()):
        name = ".".join(field for field, _ in path)
        if name not in found or (found[name][0] and not is_empty):
            found[name] = is_empty, path
    return {name: path for name, (_, path) in found.items()}


def _lists(message: Any, path: Path) -> Iterator[tuple[Path, bool]]:
    for field in message.DESCRIPTOR.fields:
        value = getattr(message, field.name)
        if field.is_repeated:
            yield (*path, (field.name, None)), not value
            for index, item in enumerate(value if field.message_type else ()):
                yield from _lists(item, (*path, (field.name, index)))
        elif field.message_type and message.HasField(field.name):
            yield from _lists(value, (*path, (field.name, None)))


def _holder(message: Any, path: Path) -> Any:
    for field, index in path[:-1]:
        message = getattr(message, field) if index is None else getattr(message, field)[index]
    return message


def grown(message: Any, paths: Iterable[Path], vary: Vary, count: int) -> Any:
    """A copy of the message in which the lists at `paths` have `count` entries, made from the last of their own."""
    made = copy.deepcopy(message)
    for path in paths:
        _grow(message, _holder(made, path), path[-1][0], vary, count)
    return made


def _grow(message: Any, holder: Any, name: str, vary: Vary, count: int) -> None:
    entries = getattr(holder, name)
    sample = copy.deepcopy(entries[-1]) if len(entries) else _sample(message, holder.DESCRIPTOR.name, name)
    del entries[:]
    if isinstance(sample, (str, bytes, int, float)):
        entries.extend(_SCALARS[vary](sample, index) for index in range(count))
        return
    for index in range(count):
        entry = entries.add()
        entry.CopyFrom(sample)
        vary(entry, index)


def _sample(message: Any, kind: str, name: str) -> Any:
    """An entry of such a list elsewhere in the message."""
    for path, is_empty in _lists(message, ()):
        holder = _holder(message, path)
        if not is_empty and holder.DESCRIPTOR.name == kind and path[-1][0] == name:
            return copy.deepcopy(getattr(holder, name)[-1])
    raise AssertionError(f"no list {name} of {kind} in the template has an entry")


Vary = Callable[[Any, int], None]
"""Changes the entry with a number."""

_NAMES: Final = ("name", "key", "domain", "tensor_name", "configuration_id", "denotation", "dim_param")


def same(entry: Any, index: int) -> None:
    """All entries are alike."""


def different(entry: Any, index: int) -> None:
    """Each entry has a unique name, and each node unique outputs."""
    for field in _NAMES:
        if field in entry.DESCRIPTOR.fields_by_name and entry.HasField(field):
            value = getattr(entry, field)
            setattr(entry, field, index if isinstance(value, int) else f"{value}{index}")
    kind = entry.DESCRIPTOR.name
    if kind == "NodeProto":
        entry.output[:] = [f"{name}{index}" for name in entry.output]
    elif kind == "SparseTensorProto":
        entry.values.name += str(index)
    elif kind == "Dimension":
        entry.dim_param = f"N{index}"


def strange(entry: Any, index: int) -> None:
    """No text in an entry is anywhere else: names that nothing defines, operators that do not exist."""
    for field, value in entry.ListFields():
        if field.message_type:
            for inner in value if field.is_repeated else (value,):
                strange(inner, index)
        elif field.type == field.TYPE_STRING and field.is_repeated:
            value[:] = [f"{text}_{index}" for text in value]
        elif field.type == field.TYPE_STRING:
            setattr(entry, field.name, f"{value}_{index}")


def numbered(entry: Any, index: int) -> None:
    """All numbers of an entry are its index: types that do not exist, shapes that differ, versions, axes."""
    for field, value in entry.ListFields():
        if field.message_type:
            for inner in value if field.is_repeated else (value,):
                numbered(inner, index)
        elif field.cpp_type in (field.CPPTYPE_INT32, field.CPPTYPE_INT64):
            if field.is_repeated:
                value[:] = [index] * len(value)
            else:
                setattr(entry, field.name, index)


def empty(entry: Any, index: int) -> None:
    """Nothing is in any entry."""
    entry.Clear()


VARIANTS: Final[dict[str, Vary]] = {
    "same": same,
    "different": different,
    "strange": strange,
    "numbered": numbered,
    "empty": empty,
}

_SCALARS: Final[dict[Vary, Callable[[Any, int], Any]]] = {
    same: lambda sample, index: sample,
    different: lambda sample, index: _changed(sample, index),
    strange: lambda sample, index: f"_{index}" if isinstance(sample, str) else _changed(sample, index + 100),
    numbered: lambda sample, index: _changed(sample, index // 2),
    empty: lambda sample, index: type(sample)(),
}


def _changed(sample: Any, index: int) -> Any:
    if isinstance(sample, str):
        return f"{sample}{index}"
    return sample + str(index).encode() if isinstance(sample, bytes) else type(sample)(index)
