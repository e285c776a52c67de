# SPDX-License-Identifier: Apache-2.0
"""Looks at every field of a serialized model and tells what is wrong with the bytes.

This is the slow and exact walk, taken only when a file does not parse or is not written as its parse would be.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from itertools import islice

from onnx_lint.loader.skeleton import MAX_DEPTH
from onnx_lint.model import Fault, FaultKind
from onnx_lint.model.place import ROOT, Place
from onnx_lint.record import Record
from onnx_lint.schema import wire
from onnx_lint.schema.wire import WireError, WireType
from onnx_lint.source import WINDOW_BYTES, Source

MAX_FAULTS = 1000
"""How many faults of one kind are listed; what is beyond is counted."""

_FITTED_FIELDS = 20_000
"""How many fields are looked at to tell which message a file holds."""

_CANDIDATES = (
    "GraphProto",
    "FunctionProto",
    "NodeProto",
    "TensorProto",
    "SparseTensorProto",
    "ValueInfoProto",
    "TypeProto",
    "AttributeProto",
    "OperatorSetProto",
    "SequenceProto",
    "MapProto",
    "OptionalProto",
)
"""The other messages of ONNX that are written to files of their own."""


class Inspection(Record):
    """What the walk found. `fatal`: no message can be read from the file, or it is no model."""

    faults: tuple[Fault, ...] = ()
    fatal: bool = False


class _Frame:
    """A message that is being walked."""

    __slots__ = ("cut_short", "end", "group", "message", "oneofs", "place", "records", "seen")

    def __init__(self, message: str, place: Place, end: int, records: Iterator[tuple[int, int, int, int, int]]) -> None:
        self.message = message
        self.place = place
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


def inspect(source: Source, kind: str = "ModelProto") -> Inspection:
    """Walk every field of the serialized model in `source`."""
    other = _another_message(source) if kind == "ModelProto" else None
    if other is not None:
        return Inspection((other,), fatal=True)
    walk = _Walk(source, kind)
    walk.run()
    return walk.result()


class _Walk:
    def __init__(self, source: Source, kind: str) -> None:
        self.source = source
        self.kind = kind
        self.faults: list[Fault] = []
        self.counts: Counter[FaultKind] = Counter()
        self.root = self.frame(kind, ROOT, 0, source.size)
        self.fatal = False

    def frame(self, message: str, place: Place, start: int, end: int) -> _Frame:
        return _Frame(message, place, end, wire.records(self.source, start, end))

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
            frame = stack[-1]
            try:
                record = next(frame.records, None)
            except WireError as error:
                inner = self.broken(frame, error)
                if inner is not None:
                    stack.append(inner)
                continue
            if record is None:
                stack.pop()
                self.close(frame)
                continue
            inner = self.record(frame, record, is_deepest=len(stack) > MAX_DEPTH)
            if inner is not None and len(stack) > MAX_DEPTH:
                message = f"messages nest more than {MAX_DEPTH} deep, deeper than Protocol Buffers parses"
                self.stop(FaultKind.NESTING, inner.place, message, record[2])
            elif inner is not None:
                stack.append(inner)

    def close(self, frame: _Frame) -> None:
        """Judge the end of a message."""
        if frame.group:
            self.no_fields(frame, "a group is never closed", frame.group[-1][1])
        elif frame.cut_short is not None:
            self.truncated(frame.place, frame.cut_short)

    def record(self, frame: _Frame, record: tuple[int, int, int, int, int], *, is_deepest: bool) -> _Frame | None:
        """Judge one field; return the frame of the message in it, if it holds one."""
        number, wire_type, tag, value, following = record
        if wire_type in (WireType.START_GROUP, WireType.END_GROUP):
            self.group(frame, number, wire_type, tag)
            return None
        if frame.group:
            return None
        known = wire.fields(frame.message).get(number)
        if known is None:
            self.unknown(frame, number, tag, following)
            return None
        if not known.accepts(wire_type):
            self.wrong_type(frame, known, wire_type, tag, following)
            return None
        index = frame.seen.get(number, 0)
        frame.seen[number] = index + 1
        if not known.repeated and (index or known.oneof is not None):
            self.singular(frame, known, index, tag, following)
        # Places and frames are made for what needs them: a file may hold a million fields with nothing in them. In the
        # deepest message even an empty one is one too many.
        if following > value or is_deepest:
            if known.message is not None:
                place = frame.place.at(known.name, index if known.repeated else None)
                return self.frame(known.message, place, value, following)
            if known.is_string:
                self.string(frame, known, index, value, following)
        return None

    def is_full(self, kind: FaultKind) -> bool:
        """Whether no more faults of the kind are listed; then this one is counted, and need not be made."""
        count = self.counts[kind]
        if count < MAX_FAULTS:
            return False
        self.counts[kind] = count + 1
        return True

    def group(self, frame: _Frame, number: int, wire_type: int, tag: int) -> None:
        if wire_type == WireType.START_GROUP:
            if not frame.group:
                self.unknown(frame, number, tag, tag)
            frame.group.append((number, tag))
            # Parsers count a group like a message, and the messages around it as well.
            if len(frame.place.key) + len(frame.group) > MAX_DEPTH:
                message = f"groups and messages nest more than {MAX_DEPTH} deep, deeper than Protocol Buffers parses"
                self.stop(FaultKind.NESTING, frame.place, message, tag)
        elif frame.group and frame.group[-1][0] == number:
            frame.group.pop()
        else:
            self.no_fields(frame, f"the end of group {number} has no beginning", tag)

    def unknown(self, frame: _Frame, number: int, tag: int, following: int) -> None:
        if self.is_full(FaultKind.UNKNOWN_FIELD):
            return
        message = f"field {number} is not defined in {frame.message}"
        self.add(Fault(FaultKind.UNKNOWN_FIELD, frame.place, message, tag, following - tag, frame.message, number))

    def wrong_type(self, frame: _Frame, known: wire.Field, wire_type: int, tag: int, following: int) -> None:
        if self.is_full(FaultKind.WIRE_TYPE):
            return
        message = (
            f"field {known.number} ({known.name}) of {frame.message} has wire type {WireType(wire_type).name} "
            f"where {known.wire_type.name} is declared; parsers ignore it"
        )
        place = frame.place.at(known.name, 0 if known.repeated else None)
        self.add(Fault(FaultKind.WIRE_TYPE, place, message, tag, following - tag, frame.message, known.number))

    def singular(self, frame: _Frame, known: wire.Field, index: int, tag: int, following: int) -> None:
        message = None
        if index:
            again = "merge the two" if known.message else "keep only the last"
            message = f"field {known.name} of {frame.message} is given more than once; parsers {again}"
        elif known.oneof is not None:
            other = frame.oneofs.setdefault(known.oneof, known.name)
            if other != known.name:
                message = f"{frame.message} has both {other} and {known.name}, of which only one can be set"
        if message is None or self.is_full(FaultKind.REPEATED):
            return
        if frame.place == ROOT and known.name in {"graph", "ir_version"}:
            message += "; this is what two models written one after the other look like"
        place = frame.place.at(known.name)
        self.add(Fault(FaultKind.REPEATED, place, message, tag, following - tag, frame.message, known.number))

    def string(self, frame: _Frame, known: wire.Field, index: int, start: int, end: int) -> None:
        invalid = _first_invalid_utf8(self.source, start, end)
        if invalid is not None:
            shown = _shown(self.source.read_at(start, min(end - start, 60)))
            message = f"field {known.name} of {frame.message} is not UTF-8 at byte {invalid}: '{shown}'"
            place = frame.place.at(known.name, index if known.repeated else None)
            self.add(Fault(FaultKind.UTF8, place, message, start, end - start, frame.message, known.number))

    def broken(self, frame: _Frame, error: WireError) -> _Frame | None:
        """Judge bytes that cannot be split; return a frame that looks closer, where there is one."""
        if not self.source.read_at(self.source.size - 1, 1):
            self.stop(FaultKind.TRUNCATED, frame.place, "the file became shorter while it was read", error.offset)
            return None
        at_end = frame.end >= self.source.size
        if error.problem != "truncated" or not at_end or frame.group or not self.recognized():
            self.no_fields(frame, error.detail, error.offset)
            return None
        known = wire.fields(frame.message).get(error.field[0]) if error.field else None
        if known is None or error.field is None:
            self.truncated(frame.place, error)
            return None
        place = frame.place.at(known.name, frame.seen.get(known.number, 0) if known.repeated else None)
        if known.message is None:
            self.truncated(place, error)
            return None
        frame.records = iter(())
        inner = self.frame(known.message, place, error.field[1], self.source.size)
        inner.cut_short = error
        return inner

    def no_fields(self, frame: _Frame, detail: str, offset: int) -> None:
        """Stop at bytes that are no fields; where nothing before them looked like a model, the file is none."""
        if self.recognized():
            message = f"the bytes are no Protocol Buffers fields: {detail}"
            self.stop(FaultKind.NOT_A_MODEL, frame.place, message, offset)
        else:
            self.stop(FaultKind.NOT_A_MODEL, ROOT, "the file is binary data, but no Protocol Buffers message", 0)

    def truncated(self, place: Place, error: WireError) -> None:
        message = f"the file ends at byte {self.source.size:,} inside {place}: {error.detail}"
        self.stop(FaultKind.TRUNCATED, place, message, error.offset)

    def recognized(self) -> bool:
        """Whether anything at the top looked like a model before the bytes went wrong."""
        if self.kind != "ModelProto":
            return bool(self.root.seen)
        names = {wire.fields("ModelProto")[number].name for number in self.root.seen}
        return bool(names & {"ir_version", "graph", "opset_import", "producer_name", "functions"})

    def result(self) -> Inspection:
        for kind, count in self.counts.items():
            if count > MAX_FAULTS:
                more = f"{count - MAX_FAULTS:,} more faults of this kind are not listed"
                self.faults.append(Fault(kind, ROOT, more))
        if self.fatal and not self.recognized():
            return Inspection(tuple(self.faults[-1:]), fatal=True)
        return Inspection(tuple(self.faults), self.fatal)


def _another_message(source: Source) -> Fault | None:
    """The fault of a file whose fields are those of another message of ONNX and not those of ModelProto."""
    if is_a_model(source):
        return None
    fitting = candidates(source)
    if not fitting:
        return None
    message = f"the file is no ModelProto; its fields are those of {' or '.join(fitting)}"
    return Fault(FaultKind.NOT_A_MODEL, ROOT, message, offset=0)


def candidates(source: Source) -> list[str]:
    """The messages other than a model whose fields the file has, as far as the top tells."""
    return [message for message in _CANDIDATES if _fits(source, message)]


def is_a_model(source: Source) -> bool:
    """Whether the file has the fields of a model, or holds what a graph may hold where a model has its graph."""
    return _fits(source, "ModelProto") or _holds_graph(source)


def _holds_graph(source: Source) -> bool:
    """Whether field `graph` is there and holds what a GraphProto may hold: then a model is what was meant."""
    graph = wire.fields_by_name("ModelProto")["graph"]
    try:
        for number, wire_type, _, value, following in wire.records(source, 0, source.size):
            if number == graph.number and wire_type == graph.wire_type and following > value:
                return _fits(source, "GraphProto", value, following)
    except WireError:
        pass  # what cannot be split holds nothing
    return False


def _fits(source: Source, message: str, start: int = 0, end: int | None = None) -> bool:
    """Whether each field from `start` to `end` is one that `message` declares, with the right wire type.

    Of a longer message the first fields decide: what a file is meant to be shows early, and this is asked of several.
    """
    fields = wire.fields(message)
    records = wire.records(source, start, source.size if end is None else end)
    try:
        for number, wire_type, *_ in islice(records, _FITTED_FIELDS):
            known = fields.get(number)
            if known is None or not known.accepts(wire_type):
                return False
    except WireError:
        return False
    return True


def _first_invalid_utf8(source: Source, start: int, end: int) -> int | None:
    """The position of the first byte that is not UTF-8, read in bounded pieces."""
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
            # A character may go on in the next piece; it has four bytes at most.
            if error.reason != "unexpected end of data" or position >= end:
                return begin + error.start
            carried = data[error.start :]
    return None


def _shown(data: bytes) -> str:
    return data.decode("utf-8", "backslashreplace")
