# SPDX-License-Identifier: Apache-2.0
"""Walks the fields of a serialized model and reports the faults of its bytes.

This exact walk is needed only if a file does not parse or differs from its serialized parse.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterator
from typing import Final

from onnx_lint.common.deadline import check_deadline
from onnx_lint.common.record import Record, replace
from onnx_lint.input.limits import DEFAULT_LIMITS, Limits
from onnx_lint.input.source import WINDOW_BYTES, BytesSource, Source
from onnx_lint.ir.documents.kinds import KINDS, MODEL_KIND
from onnx_lint.ir.places.place import ROOT, Place
from onnx_lint.loader.binary.canonical import assemble, is_canonical, may_nest, parse
from onnx_lint.loader.binary.packed import check_packed
from onnx_lint.loader.binary.runs import RUN, records_of
from onnx_lint.loader.binary.strip_payloads import MAX_DEPTH, whole
from onnx_lint.loader.limits.not_checked import beyond_fields
from onnx_lint.model import Fault, FaultKind, Proto
from onnx_lint.schema import wire
from onnx_lint.schema.wire import WireError, WireType

MAX_FAULTS = 1000
"""The limit on the listed faults of one kind; further ones are counted."""


_WITHOUT_TYPES = frozenset({"MapProto", "OptionalProto", "SequenceProto", "SparseTensorProto", "TensorProto"})
"""Messages that cannot contain a type; some of them are large."""

_WRITTEN_ONCE = {
    "ModelProto": ("graph", "ir_version"),
    "OperatorSetProto": ("magic",),
    "FunctionProto": ("name",),
    "GraphProto": ("name",),
    "TensorProto": ("data_type",),
    "SequenceProto": ("elem_type",),
    "MapProto": ("key_type",),
    "OptionalProto": ("elem_type",),
}
"""The fields that every writer writes; if they repeat, two messages are in one file."""


class Inspection(Record):
    """The result of the walk. `fatal`: no message can be read from the file, or it is not a model."""

    faults: tuple[Fault, ...] = ()
    fatal: bool = False


class _OpenMessage:
    """A message that is being walked."""

    __slots__ = ("cut_short", "depth", "end", "group", "message", "oneofs", "place", "records", "seen")

    def __init__(
        self, message: str, place: Place, depth: int, end: int, records: Iterator[tuple[int, int, int, int, int]]
    ) -> None:
        self.message = message
        self.place = place
        self.depth = depth
        """The number of messages around it."""
        self.end = end
        self.records = records
        self.seen: dict[int, int] = {}
        """For each field number the number of occurrences."""
        self.oneofs: dict[str, str] = {}
        """For each oneof the name of the member that was given."""
        self.group: list[tuple[int, int]] = []
        """The open groups: number and where each begins."""
        self.cut_short: WireError | None = None
        """Set when the message is longer than the file."""


def inspect(
    source: Source, kind: str = MODEL_KIND, limits: Limits = DEFAULT_LIMITS, *, skips_canonical: bool = True
) -> Inspection:
    """Walk the fields of the serialized model in `source`. Raises NotCheckedError if there are too many.

    `skips_canonical`: skip small messages that are as Protocol Buffers writes them. The only possible fault of such a
    message is that it nests too deep at its place.
    """
    walk = _Audit(source, kind, limits, skips_canonical)
    walk.run()
    return walk.result()


def read_irregular(source: Source, kind: str, data: bytes, limits: Limits) -> tuple[Proto | None, tuple[Fault, ...]]:
    """Return the readable message in `source`, if there is one, and the reasons why the file does not parse.

    `data`: the bytes that do not parse, possibly without the contents of tensors.
    """
    inspection = inspect(source, kind, limits)
    proto = None
    if inspection.faults and not inspection.fatal:
        proto = _parse_readable(data, kind)
    if proto is None and not inspection.fatal:
        # A message that parses on its own may still nest too deep.
        inspection = inspect(source, kind, limits, skips_canonical=False)
    faults = inspection.faults
    if proto is None and not inspection.fatal:
        faults = (*faults, Fault(FaultKind.NOT_A_MODEL, ROOT, f"Protocol Buffers cannot parse the file as {kind}"))
    return proto, faults


def _parse_readable(data: bytes, kind: str) -> Proto | None:
    """Parse the message with `?` for each byte that is not UTF-8 in a string field, so that the rest can be judged."""
    patched = bytearray(data)
    for start, end in _invalid_strings(BytesSource(data), kind):
        readable = data[start:end].decode("utf-8", "surrogateescape")
        patched[start:end] = "".join("?" if "\udc80" <= char <= "\udcff" else char for char in readable).encode()
    return assemble(whole(BytesSource(bytes(patched))), kind)[0]


def _invalid_strings(source: Source, kind: str) -> list[tuple[int, int]]:
    """Return begin and end of all strings that are not UTF-8."""
    walk = _StringAudit(source, kind, replace(DEFAULT_LIMITS, fields=sys.maxsize), skips_canonical=True)
    walk.run()
    return walk.found


_GROUPS: Final = frozenset({WireType.START_GROUP, WireType.END_GROUP})


class _Audit:
    def __init__(self, source: Source, kind: str, limits: Limits, skips_canonical: bool) -> None:
        self.source = source
        self.kind = kind
        self.limits = limits
        self.left = limits.fields
        self.skips_canonical = skips_canonical
        self.credit = source.size
        """The number of bytes that may still be parsed without success."""
        self.faults: list[Fault] = []
        self.counts: Counter[FaultKind] = Counter()
        self.root = self.frame(kind, ROOT, 0, source.size)
        self.fatal = False

    def frame(self, message: str, place: Place, start: int, end: int) -> _OpenMessage:
        return _OpenMessage(message, place, len(place.key), end, records_of(self.source, message, start, end))

    def add(self, fault: Fault) -> None:
        self.counts[fault.kind] += 1
        if self.counts[fault.kind] <= MAX_FAULTS:
            self.faults.append(fault)

    def stop(self, kind: FaultKind, place: Place, message: str, offset: int) -> None:
        self.add(Fault(kind, place, message, offset=offset))
        self.fatal = True

    def run(self) -> None:
        stack = [self.root]
        while stack and not self.fatal:
            check_deadline()
            frame = stack[-1]
            try:
                inner = self.scan(frame, is_deepest=len(stack) > MAX_DEPTH)
            except WireError as error:
                inner = self.broken(frame, error)
                if inner is not None:
                    stack.append(inner)
                continue
            if inner is not None:
                stack.append(inner)
            elif not self.fatal:
                stack.pop()
                self.close(frame)

    def close(self, frame: _OpenMessage) -> None:
        """Judge the end of a message."""
        if frame.group:
            self.no_fields(frame, "a group is never closed", frame.group[-1][1])
        elif frame.cut_short is not None:
            self.truncated(frame.place, frame.cut_short)

    def scan(self, frame: _OpenMessage, *, is_deepest: bool) -> _OpenMessage | None:
        """Check fields up to the next message to open; return the frame of that message, None at the end.

        A file may have millions of fields, so the loop uses local variables, and makes places and frames only for
        fields with content. In the deepest message even an empty message is one level too many.
        """
        fields, seen = wire.fields(frame.message), frame.seen
        for number, wire_type, tag, value, following in frame.records:
            self.left -= 1
            if self.left < 0:
                raise beyond_fields(self.limits)
            if wire_type == RUN:
                continue
            if wire_type in _GROUPS or frame.group:
                self.group(frame, number, wire_type, tag)
                if self.fatal:
                    return None
                continue
            known = fields.get(number)
            if known is None or (wire_type != known.wire_type and not known.accepts(wire_type)):
                self.ignored(frame, number, known, wire_type, tag, following)
                continue
            index = seen.get(number, 0)
            seen[number] = index + 1
            if not known.repeated and (index or known.oneof is not None):
                self.singular(frame, known, index, tag, following)
            if following == value and not is_deepest:
                continue
            if known.message is None:
                self.scalar(frame, known, index, wire_type, value, following)
            elif not self.is_canonical(known.message, value, following):
                place = _place(frame, known, index)
                if not is_deepest:
                    return self.frame(known.message, place, value, following)
                message = f"messages nest more than {MAX_DEPTH} deep, deeper than Protocol Buffers parses"
                self.stop(FaultKind.NESTING, place, message, tag)
                return None
        return None

    def scalar(
        self, frame: _OpenMessage, known: wire.Field, index: int, wire_type: int, value: int, following: int
    ) -> None:
        """Check the content of a field that is no message."""
        if known.packable and wire_type == WireType.LEN:
            check_packed(self.source, known, value, following)
        elif known.is_string:
            self.string(frame, known, index, value, following)

    def is_canonical(self, message: str, start: int, end: int) -> bool:
        """Return true if parsing the message alone shows cheaply that it has no faults.

        Most messages of a file with a fault have none themselves (docs/performance.md: canonical). A message that fails
        is parsed again in parts, so the bytes parsed without success may not exceed those parsed with success.
        """
        length = end - start
        if not self.skips_canonical or length > min(self.credit, WINDOW_BYTES):
            return False
        data = self.source.read_at(start, length)
        if message not in _WITHOUT_TYPES and may_nest(data):
            return False  # the parser does not check deep types
        proto = parse(data, message) if len(data) == length else None
        is_right = proto is not None and is_canonical(proto, data)
        self.credit += length if is_right else -length
        return is_right

    def is_full(self, kind: FaultKind) -> bool:
        """Return true if no more faults of the kind are listed; this one is then counted, and need not be made."""
        count = self.counts[kind]
        if count < MAX_FAULTS:
            return False
        self.counts[kind] = count + 1
        return True

    def group(self, frame: _OpenMessage, number: int, wire_type: int, tag: int) -> None:
        """Judge the start or the end of a group, or pass over a field in one."""
        if wire_type == WireType.START_GROUP:
            if not frame.group:
                self.unknown(frame, number, tag, tag)
            frame.group.append((number, tag))
            # Parsers count a group like a message, and the messages around it as well.
            if frame.depth + len(frame.group) > MAX_DEPTH:
                message = f"groups and messages nest more than {MAX_DEPTH} deep, deeper than Protocol Buffers parses"
                self.stop(FaultKind.NESTING, frame.place, message, tag)
        elif wire_type != WireType.END_GROUP:
            return
        elif frame.group and frame.group[-1][0] == number:
            frame.group.pop()
        else:
            self.no_fields(frame, f"the end of group {number} has no beginning", tag)

    def ignored(
        self, frame: _OpenMessage, number: int, known: wire.Field | None, wire_type: int, tag: int, following: int
    ) -> None:
        """Report a field that parsers ignore: it is not in the schema, or has another wire type there."""
        if known is None:
            self.unknown(frame, number, tag, following)
        else:
            self.wrong_type(frame, known, wire_type, tag, following)

    def unknown(self, frame: _OpenMessage, number: int, tag: int, following: int) -> None:
        if self.is_full(FaultKind.UNKNOWN_FIELD):
            return
        message = f"field {number} is not defined in {frame.message}"
        self.add(Fault(FaultKind.UNKNOWN_FIELD, frame.place, message, tag, following - tag, frame.message, number))

    def wrong_type(self, frame: _OpenMessage, known: wire.Field, wire_type: int, tag: int, following: int) -> None:
        if self.is_full(FaultKind.WIRE_TYPE):
            return
        message = (
            f"field {known.number} ({known.name}) of {frame.message} has wire type {WireType(wire_type).name} "
            f"where {known.wire_type.name} is declared; parsers ignore it"
        )
        place = _place(frame, known, 0)
        self.add(Fault(FaultKind.WIRE_TYPE, place, message, tag, following - tag, frame.message, known.number))

    def singular(self, frame: _OpenMessage, known: wire.Field, index: int, tag: int, following: int) -> None:
        other = known.name if known.oneof is None else frame.oneofs.setdefault(known.oneof, known.name)
        if not index and other == known.name:
            return
        if self.is_full(FaultKind.REPEATED):
            return
        if index:
            again = "merge the two" if known.message else "keep only the last"
            message = f"field {known.name} of {frame.message} occurs more than once; parsers {again}"
        else:
            message = f"{frame.message} has both {other} and {known.name}, but only one can be set"
        if frame.place == ROOT and known.name in _WRITTEN_ONCE.get(self.kind, ()):
            noun = KINDS[self.kind].noun.replace("-", " ")
            message += f"; this is what two {noun}s written one after the other look like"
        place = frame.place.at(known.name)
        self.add(Fault(FaultKind.REPEATED, place, message, tag, following - tag, frame.message, known.number))

    def string(self, frame: _OpenMessage, known: wire.Field, index: int, start: int, end: int) -> None:
        invalid = _first_invalid_utf8(self.source, start, end)
        if invalid is not None:
            shown = _shown(self.source.read_at(start, min(end - start, 60)))
            message = f"field {known.name} of {frame.message} is not UTF-8 at byte {invalid}: '{shown}'"
            place = _place(frame, known, index)
            self.add(Fault(FaultKind.UTF8, place, message, start, end - start, frame.message, known.number))

    def broken(self, frame: _OpenMessage, error: WireError) -> _OpenMessage | None:
        """Judge bytes that cannot be split; return a frame that examines them, if there is one."""
        if not self.source.read_at(self.source.size - 1, 1):
            self.stop(FaultKind.TRUNCATED, frame.place, "the file became shorter while it was read", error.offset)
            return None
        at_end = frame.end >= self.source.size
        if error.problem != "truncated" or not at_end or frame.group or not self.recognized():
            self.no_fields(frame, error.detail, error.offset, is_message=error.problem == "width")
            return None
        known = wire.fields(frame.message).get(error.field[0]) if error.field else None
        if known is None or error.field is None:
            self.truncated(frame.place, error)
            return None
        place = _place(frame, known, frame.seen.get(known.number, 0))
        if known.message is None:
            self.truncated(place, error)
            return None
        frame.records = iter(())
        inner = self.frame(known.message, place, error.field[1], self.source.size)
        inner.cut_short = error
        return inner

    def no_fields(self, frame: _OpenMessage, detail: str, offset: int, *, is_message: bool = False) -> None:
        """Stop at bytes that are not fields; if nothing before them looked like a model, the file is not a model.

        `is_message`: it is a message nevertheless.
        """
        if is_message or self.recognized():
            message = f"the bytes are not Protocol Buffers fields: {detail}"
            self.stop(FaultKind.NOT_A_MODEL, frame.place, message, offset)
            return
        from onnx_lint.loader.identity.identify import HEAD_BYTES, offset_of_non_utf8

        at = offset_of_non_utf8(self.source.read_at(0, HEAD_BYTES))
        if at is None:
            self.stop(FaultKind.NOT_A_MODEL, ROOT, "the file is binary data, but not a Protocol Buffers message", 0)
        else:
            message = f"the file is text, but not UTF-8 at byte {at}: '\\x{self.source.read_at(at, 1).hex()}'"
            self.stop(FaultKind.NOT_A_MODEL, ROOT, message, at)

    def truncated(self, place: Place, error: WireError) -> None:
        message = f"the file ends at byte {self.source.size:,} inside {place}: {error.detail}"
        self.stop(FaultKind.TRUNCATED, place, message, error.offset)

    def recognized(self) -> bool:
        """Return true if fields at the top looked like a model before the invalid bytes."""
        if self.kind != MODEL_KIND:
            return bool(self.root.seen)
        names = {wire.fields(MODEL_KIND)[number].name for number in self.root.seen}
        return bool(names & {"ir_version", "graph", "opset_import", "producer_name", "functions"})

    def result(self) -> Inspection:
        for kind, count in self.counts.items():
            if count > MAX_FAULTS:
                more = f"{count - MAX_FAULTS:,} more faults of this kind are not listed"
                self.faults.append(Fault(kind, ROOT, more))
        if self.fatal and not self.recognized():
            return Inspection(tuple(self.faults[-1:]), fatal=True)
        return Inspection(tuple(self.faults), self.fatal)


class _StringAudit(_Audit):
    """A walk that collects only the positions of strings that are not UTF-8."""

    def __init__(self, source: Source, kind: str, limits: Limits, skips_canonical: bool) -> None:
        super().__init__(source, kind, limits, skips_canonical)
        self.found: list[tuple[int, int]] = []

    def string(self, frame: _OpenMessage, known: wire.Field, index: int, start: int, end: int) -> None:
        if _first_invalid_utf8(self.source, start, end) is not None:
            self.found.append((start, end))


def _place(frame: _OpenMessage, known: wire.Field, index: int) -> Place:
    """Return the place of a field of a message; `index` counts its values."""
    return frame.place.at(known.name, index if known.repeated else None)


def _first_invalid_utf8(source: Source, start: int, end: int) -> int | None:
    """Return the position of the first byte that is not UTF-8. The bytes are read in bounded pieces."""
    carried = b""
    position = start
    while position < end:
        piece = source.read_at(position, min(WINDOW_BYTES, end - position))
        if not piece:
            return None
        data = carried + piece
        begin = position - len(carried)
        position += len(piece)
        try:
            data.decode("utf-8")
            carried = b""
        except UnicodeDecodeError as error:
            # A character may continue in the next piece; it has four bytes at most.
            if error.reason != "unexpected end of data" or position >= end:
                return begin + error.start
            carried = data[error.start :]
    return None


def _shown(data: bytes) -> str:
    return data.decode("utf-8", "backslashreplace")
