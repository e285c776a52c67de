# SPDX-License-Identifier: Apache-2.0
"""Writes the report of a file as JSON and reads it again. Unlike unpickling, reading it creates no other objects."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Final

from onnx_lint.common.record import Record
from onnx_lint.ir.places.place import EnclosingNames, Place
from onnx_lint.report.digests import ContentDigests, FaultDigests, PlaceDigests
from onnx_lint.report.file_report import (
    Counted,
    FileFacts,
    FileReport,
    InternalError,
    OperatorCount,
    Shapes,
    Traffic,
    UnknownShapeCause,
    UnlistedOperator,
)
from onnx_lint.report.findings import (
    Advice,
    BaselineIdentity,
    ByTarget,
    CitedClause,
    ContextLine,
    Diagnostic,
    Folding,
    ProposedEdit,
    ProposedFix,
    RelatedPlace,
    SingleFault,
)
from onnx_lint.spec.clauses import Severity

KEPT: Final[Mapping[str, type]] = MappingProxyType(
    {
        kind.__name__: kind
        for kind in (
            Advice,
            BaselineIdentity,
            ByTarget,
            CitedClause,
            ContentDigests,
            ContextLine,
            Counted,
            Diagnostic,
            EnclosingNames,
            FaultDigests,
            FileFacts,
            FileReport,
            Folding,
            OperatorCount,
            PlaceDigests,
            ProposedEdit,
            ProposedFix,
            RelatedPlace,
            Shapes,
            SingleFault,
            Traffic,
            UnknownShapeCause,
            UnlistedOperator,
        )
    }
)
"""The classes in a report that the cache keeps: on a file without internal errors."""

SENT: Final[Mapping[str, type]] = MappingProxyType({**KEPT, "InternalError": InternalError, "float": float})
"""The classes in a report that another machine sends; a plain value of the type float is allowed as well."""

_PICTURES: Final = frozenset({"Picture", "PictureArrow", "PictureBox", "PictureValue"})
"""The classes of `onnx_lint.report.pictures`, which only reports with pictures need."""

_SEVERITY: Final = "Severity"
_PLACE: Final = "Place"
_PLAIN: Final = (str, int, bool, type(None))
_ENCODING: Final = ("utf-8", "surrogatepass")
"""A file name may have bytes that are no UTF-8, which Python keeps as surrogates."""


def serialized(file: FileReport, kinds: Mapping[str, type] = KEPT) -> Any:
    """Return the report as lists, objects, texts and numbers.

    Raises TypeError for a value that could not be read back unchanged.
    """
    return _to_plain(file, kinds)


def parsed(value: Any, kinds: Mapping[str, type] = KEPT) -> FileReport:
    """Return the report from the result of `serialized`. Raises ValueError, TypeError or KeyError for anything else."""
    found = _from_plain(value, kinds)
    if not isinstance(found, FileReport):
        raise TypeError("this is not the report of a file")
    return found


def to_bytes(value: Any) -> bytes:
    """Return plain values as JSON."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False).encode(*_ENCODING)


def from_bytes(data: bytes) -> Any:
    """Return plain values from JSON. Raises ValueError for anything else."""
    return json.loads(data.decode(*_ENCODING))


def _to_plain(value: Any, kinds: Mapping[str, type]) -> Any:
    if type(value) in _PLAIN:
        return value
    if type(value) is tuple:
        return [_to_plain(each, kinds) for each in value]
    name = type(value).__name__
    if type(value) is Severity:
        return {_SEVERITY: value.value}
    if type(value) is Place:
        return {_PLACE: _steps(value)}
    if _kind(name, kinds) is not type(value):
        raise TypeError(f"a report with {type(value)} cannot be kept")
    if isinstance(value, Record):
        return {name: [_to_plain(each, kinds) for each in type(value)._values(value)]}
    return value  # a float


def _from_plain(value: Any, kinds: Mapping[str, type]) -> Any:
    if type(value) is list:
        return tuple([_from_plain(each, kinds) for each in value])
    if type(value) is str:
        return sys.intern(value)  # reports repeat the texts of rules and clauses
    if type(value) is not dict:
        return value
    [(name, content)] = value.items()
    if name == _SEVERITY:
        return Severity(content)
    if name == _PLACE:
        return _place(content)
    kind = _kind(name, kinds)
    if kind is None:
        raise KeyError(name)
    return kind(*[_from_plain(each, kinds) for each in content])


def _kind(name: str, kinds: Mapping[str, type]) -> Any:
    """Return the class with this name, if a report may have it."""
    if name not in _PICTURES:
        return kinds.get(name)
    from onnx_lint.report import pictures

    return getattr(pictures, name)


def _steps(place: Place) -> list[str | int | None]:
    """Return a place as field and index of each step, from the root on."""
    steps: list[str | int | None] = []
    for each in place.ancestors():
        steps += each.index, each.field
    steps.reverse()
    return steps


def _place(steps: list[Any]) -> Place:
    """Return the place from the result of `_steps`. Raises ValueError or TypeError for anything else."""
    place = None
    for field, index in zip(steps[::2], steps[1::2], strict=True):
        if type(field) is not str or type(index) not in (int, type(None)):
            raise TypeError("this is not a step to a place")
        place = Place(place, sys.intern(field), index)
    if place is None:
        raise ValueError("a place has at least one step")
    return place
