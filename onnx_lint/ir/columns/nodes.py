# SPDX-License-Identifier: Apache-2.0
"""The nodes of a graph, read from their serialized forms into columns.

A graph of a hundred thousand nodes has a few hundred nodes that differ in more than names. Protocol Buffers writes the
fields of a NodeProto in ascending order: inputs, outputs and name come first, and the rest is the same, byte for byte,
in all nodes with the same operation. So only the names are read for each node, and the rest is parsed once for each
distinct rest (docs/performance.md: columns-of-nodes).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from sys import intern
from typing import TYPE_CHECKING, Any, Final, TypeVar

from google.protobuf.message import DecodeError

from onnx_lint import schema
from onnx_lint.common.cached import Memory
from onnx_lint.schema.wire import decode_varint

if TYPE_CHECKING:
    from onnx_lint.ir.columns.attribute_kinds import AttributeKind

_T = TypeVar("_T")

_INPUT, _OUTPUT, _NAME, _OP_TYPE = 0x0A, 0x12, 0x1A, 0x22
"""The tags of the first fields of a NodeProto."""

_ATTRIBUTE, _DOMAIN, _OVERLOAD = 0x2A, 0x3A, 0x42

_METADATA: Final = 0x4A
_KEY: Final = 0x0A
"""The tag of the key in an entry of the metadata."""
_MAX_UNREAD: Final = 256
"""The most nodes whose metadata is parsed at once."""
_MAX_UNREAD_BYTES: Final = 4_096
"""The most bytes of a node's metadata that wait to be parsed together with the metadata of other nodes."""

_DECISIVE: Final = ("input", "output", "name", "op_type", "attribute", "domain", "overload")
"""The fields that decide the computation of a node. All others are annotations, also those that ONNX may add later."""

_FIELDS: Final = schema.outline("NodeProto").DESCRIPTOR.fields_by_name
_OP_TYPE_FIELD, _ATTRIBUTES_FIELD, _DOMAIN_FIELD, _OVERLOAD_FIELD = (_FIELDS[name] for name in _DECISIVE[3:])
_DECISIVE_REST: Final = frozenset({_OP_TYPE_FIELD, _ATTRIBUTES_FIELD, _DOMAIN_FIELD, _OVERLOAD_FIELD})

_ANNOTATIONS: Final = {
    field.number << 3 | 2: field.name
    for field in schema.nodeless("NodeProto").DESCRIPTOR.fields
    if field.name not in _DECISIVE
}
"""The annotations by their tags, which differ from node to node: documentation, metadata, device configurations."""

_ANNOTATION_TAGS: Final = bytes(tag for tag in _ANNOTATIONS if tag < 0x80)
"""Those of one byte. The parser finds the annotations with a longer tag."""

_IN_REST: Final = _ANNOTATIONS.keys() | {_OP_TYPE, _ATTRIBUTE, _DOMAIN, _OVERLOAD}
"""The tags of all fields from op_type on."""

_GRAPH_TAGS: Final = b"\x32\x5a"
"""The tags of g and graphs in an AttributeProto; these bytes may be anything else as well."""

_TYPE_TAGS: Final = b"\x72", b"\x7a"
"""The tags of tp and type_protos in an AttributeProto; these bytes may be anything else as well."""

MAX_SHARED_BYTES: Final = 1_024
"""A longer rest is hardly ever repeated; a Constant with a small tensor is (docs/performance.md: shared-forms)."""

BEFORE_NODES: Final = -1
"""The position of inputs and initializers, which are there before the first node."""

_MAX_PLAIN_BYTES: Final = 128
"""In so few bytes no type nests deep enough for a parser to refuse it."""

_MAX_IN_LIST: Final = 64
"""The number of attributes in one message; their memory is freed when none of their forms is left."""

_MAX_FORMS: Final = 4_096
"""The limit on kept forms, for all models of a run; then all are dropped."""


class NodeForm:
    """The common part of nodes that look alike: operator, attributes, and which inputs and outputs are given."""

    __slots__ = (
        "_attributes",
        "_core",
        "attribute_kinds",
        "attribute_types",
        "differs_from",
        "domain",
        "faultless",
        "fitting",
        "inputs",
        "is_shared",
        "known_faults",
        "op_type",
        "outputs",
        "overload",
        "sound",
    )

    def __init__(
        self,
        op_type: str,
        domain: str,
        inputs: tuple[bool, ...],
        outputs: tuple[bool, ...],
        *,
        overload: str = "",
        attributes: Sequence[Any] = (),
    ) -> None:
        self.op_type = op_type
        self.domain = domain
        self.overload = overload
        self._attributes = attributes
        self._core = b""
        self.attribute_types = _types_of(attributes)
        """Name and stated type of each attribute."""
        self.inputs = _shared.get(inputs) or _operands(inputs)
        """For each input whether it is given; an empty name leaves it out."""
        self.outputs = _shared.get(outputs) or _operands(outputs)
        self.attribute_kinds: tuple[AttributeKind, ...] | None = None
        """The kinds of the attributes, kept here by the first AttributeIndex that needs them."""
        self.differs_from: NodeForm | None = None
        """An earlier form from which this one differs only in numbers of attributes of type FLOAT, none of them NaN."""
        self.is_shared = False
        """True if the next model of the run may have the same form; other forms end with their model."""
        self.known_faults: dict[object, Any] | None = None
        """The faults of its attributes by signature, if these have millions of numbers; None if they have few."""
        self.fitting: object = None
        """The last signature that nodes of this form were found to match, in this model or an earlier one."""
        self.sound: object = None
        """The last signature for which the values of its attributes were found to be right."""
        self.faultless: object = None
        """The last signature for which its attributes, and what is given together, were found to have no fault."""

    @property
    def attributes(self) -> Sequence[Any]:
        """The AttributeProtos."""
        return schema.outline("NodeProto").FromString(self._core).attribute if self._core else self._attributes

    def with_floats(self, core: bytes) -> NodeForm:
        """Return the form of a node that differs from this form only in numbers of attributes of type FLOAT.

        Hardly anything reads these numbers, so `core`, the bytes that decide the form, is parsed when something does.
        """
        made = NodeForm(self.op_type, self.domain, self.inputs, self.outputs, overload=self.overload)
        made._core = core
        made.attribute_types = self.attribute_types
        made.differs_from = self
        return made


_shared: Final[Memory[tuple[Any, ...], tuple[Any, ...]]] = Memory(1_000)
_MAX_SHARED: Final = 16


def _same(made: tuple[_T, ...]) -> tuple[_T, ...]:
    """Return the tuple, as one object for all forms that have an equal one."""
    return _shared.get(made) or (_shared.keep(made, made) if len(made) <= _MAX_SHARED else made)


class _LongOperands(tuple[bool, ...]):
    """Many Booleans. Their hash is that of bytes, which Python salts: a file may choose long tuples of one hash."""

    __slots__ = ()

    def __hash__(self) -> int:
        return hash(bytes(self))


def _operands(given: tuple[bool, ...]) -> tuple[bool, ...]:
    """Return the tuple as a part of keys. The few tuples that forms share have different hashes."""
    return _same(given) if len(given) <= _MAX_SHARED else _LongOperands(given)


def _types_of(attributes: Sequence[Any]) -> tuple[tuple[str, int], ...]:
    return _same(tuple([(each.name, each.type) for each in attributes])) if attributes else ()


_FormKey = tuple[bytes, int | bytes, int | bytes]


class NodeTable:
    """The columns of a list of nodes; each has an element for each node, in the order of the file."""

    __slots__ = (
        "annotated",
        "attribute_list",
        "early_uses",
        "forms",
        "has_redefinitions",
        "inputs",
        "is_canonical",
        "longest",
        "names",
        "outputs",
        "positions",
        "repeated_keys",
        "unread",
    )

    def __init__(self, before: Iterable[str]) -> None:
        self.inputs: list[tuple[str, ...]] = []
        self.outputs: list[tuple[str, ...]] = []
        self.names: list[str] = []
        self.forms: list[NodeForm] = []
        self.positions = dict.fromkeys(before, BEFORE_NODES)
        """For each value name the index of the first node that outputs it, or BEFORE_NODES; not for the empty one."""
        self.early_uses: list[int] = []
        """The indices of the nodes with an input that neither an earlier node nor a list before the nodes defines."""
        self.has_redefinitions = False
        """True if a node outputs a name that another output has or that is defined before the nodes."""
        self.annotated: dict[str, list[int]] = {}
        """The indices of the nodes that have an annotation, by the name of its field: `metadata_props` and so on."""
        self.repeated_keys: list[int] = []
        """The indices of the nodes whose metadata may have a key twice; no other node's have."""
        self.longest = 0x7F
        """The most bytes of a name of a node, an input or an output; 0x7F if all are shorter."""
        self.is_canonical = True
        """True if each node is written as Protocol Buffers writes it, without fields that the schema does not have.

        If False, the columns may lack a part of a node.
        """
        self.unread: list[bytes] = []
        """The metadata of nodes that the parser has not seen yet; it reads those of many nodes at once."""
        self.attribute_list: Any = None
        """The list of a message that holds the attributes of the newest forms, if any form has attributes."""


def node_table(nodes: Iterable[bytes], before: Iterable[str] = ()) -> NodeTable:
    """Read serialized NodeProtos. What cannot be parsed is left out, and the table is not called canonical then.

    `before` are the names of the values that are there before the first node: inputs and initializers.
    Nodes inside of graphs in attributes are not looked at: they are bytes of those graphs.
    """
    table = NodeTable(before)
    _read(nodes, table)
    _read_metadata(table)
    return table


def _read(nodes: Iterable[bytes], table: NodeTable) -> None:
    # CPython has a short way for the append of a list, but none for a method that a variable holds.
    inputs_of, made_by, names, forms = table.inputs, table.outputs, table.names, table.forms
    positions = table.positions
    positions[""] = BEFORE_NODES
    known = _forms.get
    for index, data in enumerate(nodes):
        inputs: list[str] = []
        outputs: list[str] = []
        name = ""
        position = 0
        has_gap = is_early = False
        # One loop without calls: a node has five strings. The tag after each string is read in any case, so a string
        # that is longer than the rest raises IndexError.
        try:
            while data[position] == _INPUT:
                start = position + 2
                length = data[start - 1]
                if length >= 0x80:
                    length, start = _two_bytes(data, start, table)
                elif not length:
                    has_gap = True
                position = start + length
                name = data[start:position].decode()
                try:
                    producer = positions[name]
                except KeyError:
                    is_early = True
                else:
                    # Reuse the existing string: the name of a value occurs in its producer and in each use.
                    if producer >= 0 and len(made_by[producer]) == 1:
                        name = made_by[producer][0]
                inputs.append(name)
            name = ""
            while data[position] == _OUTPUT:
                start = position + 2
                length = data[start - 1]
                if length >= 0x80:
                    length, start = _two_bytes(data, start, table)
                elif not length:
                    has_gap = True
                position = start + length
                outputs.append(data[start:position].decode())
            if data[position] == _NAME:
                start = position + 2
                length = data[start - 1]
                if length >= 0x80:
                    length, start = _two_bytes(data, start, table)
                position = start + length
                name = data[start:position].decode()
            if data[position] != _OP_TYPE:
                raise IndexError
            rest = data[position:]
        except (IndexError, UnicodeDecodeError):
            inputs, outputs, name, rest = _parsed(data, table)
            has_gap = True
            is_early = not positions.keys() >= set(inputs)
        if is_early:
            table.early_uses.append(index)
        for output in outputs:
            if output not in positions:
                positions[output] = index
            else:
                table.has_redefinitions |= output != ""
        form = None
        if not has_gap:
            form = known((rest, len(inputs), len(outputs)))
        if form is None:
            form = _form(rest, inputs, outputs, table)
        inputs_of.append(tuple(inputs))
        made_by.append(tuple(outputs))
        names.append(name)
        forms.append(form)
    del positions[""]


_forms: Final[Memory[_FormKey, NodeForm]] = Memory(_MAX_FORMS)
_forms_of_floats: Final[Memory[_FormKey, NodeForm]] = Memory(512)
"""Of forms that differ only in attributes of type FLOAT, the first one, by its key with zeros for these numbers."""

MAX_SHARED_NAMES: Final = 1_000
"""The form of a node with more inputs and outputs ends with its model: it has an element for each."""


def _two_bytes(data: bytes, start: int, table: NodeTable) -> tuple[int, int]:
    """Return the length in two bytes before `start`, and the start of the string; IndexError if it is longer."""
    high = data[start]
    if not 0 < high < 0x80:
        raise IndexError
    length = data[start - 1] & 0x7F | high << 7
    table.longest = max(table.longest, length)
    return length, start + 1


def _parsed(data: bytes, table: NodeTable) -> tuple[list[str], list[str], str, bytes]:
    """Inputs, outputs, name and the serialized rest of a node that the columns do not get through."""
    proto = _checked(data, table)
    found = proto.input[:], proto.output[:], proto.name
    table.longest = max(table.longest, *(len(name.encode()) for name in (*found[0], *found[1], found[2])))
    for field in ("input", "output", "name"):
        proto.ClearField(field)
    return *found, proto.SerializePartialToString()


def _lacks(data: bytes, tags: bytes) -> bool:
    """Return whether no byte is one of these. A long node, as of a subgraph, is not copied for that."""
    if len(data) > _MAX_PLAIN_BYTES:
        return not any(map(data.__contains__, tags))
    return data.translate(None, tags) == data


def _checked(data: bytes, table: NodeTable) -> Any:
    """Return the NodeProto in `data`, without unknown fields; note in the table if these are not all of the bytes."""
    outline = schema.outline("NodeProto")
    if _lacks(data, _GRAPH_TAGS):
        return _known_part(outline, data, table)[0]  # without graphs both schemas are the same
    proto, known = _known_part(schema.nodeless("NodeProto"), data, table)
    del proto  # a list of numbers in it may be large, and the next message has the same list
    return outline.FromString(known)


def _known_part(node: Any, data: bytes, table: NodeTable) -> tuple[Any, bytes]:
    """Return the NodeProto in `data` by one of its schemas, without unknown fields, and as bytes.

    The table notes if these are not all of the bytes.
    """
    try:
        proto = node.FromString(data)
    except (DecodeError, UnicodeDecodeError) as error:
        schema.raise_lack_of_memory(error)
        proto = node()
    proto.DiscardUnknownFields()
    known: bytes = proto.SerializePartialToString()
    if known != data:
        table.is_canonical = False
    return proto, known


def _form(rest: bytes, inputs: list[str], outputs: list[str], table: NodeTable) -> NodeForm:
    """Return the form of the next node in the table."""
    core = _without_annotations(rest, table)
    key: _FormKey = (core, len(inputs), len(outputs))
    if "" in inputs or "" in outputs:
        given = tuple(map(bool, inputs)), tuple(map(bool, outputs))
        key = (core, bytes(given[0]), bytes(given[1]))
    else:
        given = (True,) * len(inputs), (True,) * len(outputs)
    return _forms.get(key) or _new_form(key, given, table)


def _new_form(key: _FormKey, given: tuple[tuple[bool, ...], tuple[bool, ...]], table: NodeTable) -> NodeForm:
    """Return the form with this key, which is not kept, and keep it."""
    core = key[0]
    # docs/performance.md: forms-of-floats
    without_floats = _without_floats(core)
    key_without_floats: _FormKey = (without_floats, *key[1:])
    earlier = _forms_of_floats.get(key_without_floats) if without_floats else None
    if earlier is not None:
        form = earlier.with_floats(core)
    else:
        form, has_annotations = _parsed_form(core, given, table)
        is_short = len(core) <= MAX_SHARED_BYTES and len(given[0]) + len(given[1]) <= MAX_SHARED_NAMES
        # A node with the same bytes as one with annotations has these too, and the table must note them.
        if not is_short or not table.is_canonical or has_annotations:
            return form
        if without_floats:
            _forms_of_floats.keep(key_without_floats, form)
    form.is_shared = True
    return _forms.keep(key, form)


_FLOAT_TYPE: Final = b"\xa0\x01\x01"
"""The last field of an attribute of type FLOAT."""
_FLOAT: Final = 0x15
"""The tag of its number, whose four bytes come before that field."""
_ATTRIBUTE_NAME: Final = 0x0A
"""The tag of its name."""
_BYTES_BESIDE_NAME: Final = 10
"""The number of bytes of such an attribute, without its name."""


def _without_floats(core: bytes) -> bytes:
    """Return the bytes of a form with zeros in place of the numbers of attributes that have just a name and a number.

    Empty if no number changes, if one may be NaN, or if the form is long.
    """
    if _FLOAT_TYPE not in core or len(core) > _MAX_PLAIN_BYTES:
        return b""
    found = bytearray(core)
    end = 0
    try:
        while end < len(core):
            start, length = end, core[end + 1]
            end += 2 + length
            if length >= 0x80:
                return b""
            # Tag, length and bytes of the name come first, and end where the number begins.
            is_named = core[start] == _ATTRIBUTE and core[start + 2] == _ATTRIBUTE_NAME
            if not is_named or core[start + 3] != length - _BYTES_BESIDE_NAME:
                continue
            if core[end - 8] == _FLOAT and core[end - 3 : end] == _FLOAT_TYPE:
                if core[end - 4] & 0x7F == 0x7F:
                    return b""
                found[end - 7 : end - 3] = bytes(4)
    except IndexError:
        return b""
    return b"" if found == core else bytes(found)


def _interned(name: str) -> str:
    """Return the shared string with this name, unless it is long: Python 3.12 keeps interned strings forever."""
    return intern(name) if len(name) <= MAX_SHARED_BYTES else name


def _parsed_form(
    core: bytes, operands: tuple[tuple[bool, ...], tuple[bool, ...]], table: NodeTable
) -> tuple[NodeForm, bool]:
    """Return the form as the parser reads it, and whether it found annotations that `_without_annotations` did not.

    These are in another order than Protocol Buffers writes them, or have tags of two bytes. The table notes whether the
    parser would write other bytes.
    """
    proto = _checked(core, table)
    # Nesting here may be allowed, and too deep in the whole file.
    may_nest = len(core) > _MAX_PLAIN_BYTES and any(map(core.__contains__, _TYPE_TAGS))
    if may_nest and any(attribute.HasField("tp") or attribute.type_protos for attribute in proto.attribute):
        table.is_canonical = False
    annotations: list[str] = []
    given = dict(proto.ListFields())
    if not _DECISIVE_REST.issuperset(given):
        if proto.input or proto.output or proto.HasField("name"):
            table.is_canonical = False
        annotations = [field for field in _ANNOTATIONS.values() if getattr(proto, field)]
        _note(annotations, table)
        if proto.metadata_props:
            table.repeated_keys.append(len(table.forms))
    op_type = _interned(given.get(_OP_TYPE_FIELD, ""))
    domain = _interned(given.get(_DOMAIN_FIELD, ""))
    overload = _interned(given.get(_OVERLOAD_FIELD, ""))
    attributes = given.get(_ATTRIBUTES_FIELD, ())
    attributes = _in_shared_list(attributes, table) if len(core) <= MAX_SHARED_BYTES else attributes[:]
    return NodeForm(op_type, domain, *operands, overload=overload, attributes=attributes), bool(annotations)


def _in_shared_list(attributes: Sequence[Any], table: NodeTable) -> Sequence[Any]:
    """Return the attributes in a message with those of other forms: a message for each form takes a kilobyte more."""
    if not attributes:
        return ()
    shared = table.attribute_list
    if shared is None or len(shared) >= _MAX_IN_LIST:
        shared = table.attribute_list = schema.outline("NodeProto")().attribute
    start = len(shared)
    shared.extend(attributes)
    found: Sequence[Any] = shared[start:]
    return found


def _note(annotations: Iterable[str], table: NodeTable) -> None:
    """Note in the table that the next node has these annotations."""
    for field in annotations:
        table.annotated.setdefault(field, []).append(len(table.forms))


def _without_annotations(rest: bytes, table: NodeTable) -> bytes:
    """Return the bytes that decide the form, and note the annotations of the node in the table."""
    if _lacks(rest, _ANNOTATION_TAGS):
        return rest  # no byte is such a tag
    pieces: list[bytes] = []
    noted: list[bytes] = []
    keys: list[bytes] = []
    position = tag = 0
    try:
        while position < len(rest):
            start, before, tag = position, tag, rest[position]
            if tag not in _IN_REST or tag < before:
                return rest  # the parser finds its faults
            length, position = rest[start + 1], start + 2
            if length >= 0x80:
                length, position = decode_varint(rest, start + 1)
            if tag == _METADATA and rest[position] == _KEY and rest[position + 1] < 0x80:
                keys.append(rest[position + 2 : position + 2 + rest[position + 1]])
            position += length
            (noted if tag in _ANNOTATIONS else pieces).append(rest[start:position])
    except (IndexError, OverflowError):
        return rest
    if position > len(rest):
        return rest  # the last field is cut off
    if not noted:
        return rest
    _note_annotations(noted, keys, table)
    return b"".join(pieces)


def _note_annotations(noted: list[bytes], keys: list[bytes], table: NodeTable) -> None:
    """Note the annotations of the next node. `keys` are those of its metadata that have a length of one byte."""
    counts = Counter([piece[0] for piece in noted])
    _note([_ANNOTATIONS[tag] for tag in counts], table)
    written = b"".join(noted)
    if [*counts] == [_METADATA] and len(written) <= _MAX_UNREAD_BYTES:
        # docs/performance.md: metadata-at-once
        table.unread.append(written)
        if len(table.unread) >= _MAX_UNREAD:
            _read_metadata(table)
    else:
        _known_part(schema.nodeless("NodeProto"), written, table)
    # A long key is not among the keys, and one that a faulty entry lacks.
    if len(set(keys)) < counts[_METADATA]:
        table.repeated_keys.append(len(table.forms))


def _read_metadata(table: NodeTable) -> None:
    """Let the parser read the metadata that it has not seen yet; the table notes whether it would write other bytes."""
    if table.unread:
        _known_part(schema.nodeless("NodeProto"), b"".join(table.unread), table)
        table.unread.clear()
