# SPDX-License-Identifier: Apache-2.0
"""The clauses of the specification and how strongly each edition words them: where severities come from."""

from __future__ import annotations

import binascii
import enum
import functools
import json
from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Any, Final

from onnx_lint.common import package_data
from onnx_lint.common.record import EMPTY, Record, field_names
from onnx_lint.spec.standard import DEFAULT_STANDARD, EDITIONS

__all__ = [
    "DEFAULT_EDITION",
    "EDITIONS",
    "KEYWORDS",
    "STATIC",
    "Clause",
    "Severity",
    "clauses",
    "severity",
]

DEFAULT_EDITION: Final = DEFAULT_STANDARD.edition
"""The newest edition."""


class Severity(enum.IntEnum):
    """How bad a finding is; a higher number is worse."""

    NOTE = 1
    WARNING = 2
    ERROR = 3

    @property
    def label(self) -> str:
        """The severity as reports write it: `error`, `warning` or `note`."""
        return self.name.lower()

    @classmethod
    def of(cls, label: str) -> Severity:
        """The severity with this label; raises ValueError when there is none."""
        for level in cls:
            if level.label == label:
                return level
        raise ValueError(f"unknown severity {label!r}; the severities are {', '.join(level.label for level in cls)}")


KEYWORDS: Final[Mapping[str, Severity]] = MappingProxyType(
    {
        "MUST": Severity.ERROR,
        "MUST NOT": Severity.ERROR,
        "SHALL": Severity.ERROR,
        "REQUIRED": Severity.ERROR,
        "must": Severity.ERROR,
        "implied": Severity.ERROR,
        "gate": Severity.ERROR,
        "table": Severity.ERROR,
        "SHOULD": Severity.WARNING,
        "SHOULD NOT": Severity.WARNING,
        "RECOMMENDED": Severity.WARNING,
        "should": Severity.WARNING,
        "practice": Severity.WARNING,
        "MAY": Severity.NOTE,
        "advice": Severity.NOTE,
    }
)
"""The words that `keyword` may hold and the severity of each.

Those in capitals are RFC 2119's. `must` and `should` are the text's own lower-case words (with "required", "only" and
"not allowed"); `implied` follows from definitions, `gate` is a field or type that older IR versions lack, `table` an
entry that a table leaves out, `practice` what consumers refuse or disagree on without a clause, `advice` the rest.
"""

ABSENT: Final = "absent"
"""Stands in place of a keyword where an edition no longer has a clause of the one before."""

STATIC: Final = ("yes", "partly", "no")
"""The answers to whether one file shows that a clause is broken."""

PRESENCES: Final = ("listed", "counted", "pedantic")
"""The ways in which a finding under a clause may be there: by itself, as a number, or when asked for."""


CONSUMERS: Final = ("onnx.checker", "onnxruntime")
"""The consumers whose refusals are recorded: `onnx.checker.check_model` without its full check, and ONNX Runtime."""


class Clause(Record):
    """One requirement, recommendation or permission of the specification."""

    id: str
    summary: str
    chapter: str
    anchor: str
    """Document and section, such as `IR.md#graphs`."""
    since: int
    """The first IR version that it is about."""
    until: int | None
    """The last IR version that it is about; None for the newest."""
    keyword: Mapping[str, str]
    """How strongly each edition words it; an edition without the clause is left out. The source names changes only."""
    static: str
    rules: tuple[str, ...]
    """The ids of the rules that decide it."""
    reason: str | None
    """Why no rule decides it."""
    presence: str
    """How a warning or note under it is there unless asked for: `listed`, `counted` or `pedantic`, which is off."""
    counted: tuple[str, ...]
    """What is said of one and of several where they are only counted; empty where they are not."""
    note: str | None
    refines: str | None
    """The clause that this entry of the project's own divides."""
    refused_by: Mapping[str, str] = EMPTY
    """The consumers that refuse a model which breaks it, each with the first release that is known to."""


_NEEDED: Final = {
    "summary": str,
    "chapter": str,
    "anchor": str,
    "since": int,
    "keyword": dict,
    "static": str,
    "rules": list,
}
_OPTIONAL: Final = {
    "until": int,
    "reason": str,
    "presence": str,
    "counted": list,
    "note": str,
    "refines": str,
    "refused_by": dict,
}


def _clause(name: str, entry: Mapping[str, Any]) -> Clause:
    fields = _NEEDED | _OPTIONAL
    for key, value in entry.items():
        if key not in fields:
            raise ValueError(f"clause {name!r} has an unknown key {key!r}")
        if not isinstance(value, fields[key]):
            raise ValueError(f"clause {name!r}: {key} is no {fields[key].__name__}")
    for key in _NEEDED:
        if key not in entry:
            raise ValueError(f"clause {name!r} has no {key}")
    for edition, word in entry["keyword"].items():
        if edition not in EDITIONS:
            raise ValueError(f"clause {name!r} names the unknown edition {edition!r}")
        if word not in KEYWORDS and word != ABSENT:
            raise ValueError(f"clause {name!r} has the unknown keyword {word!r} in edition {edition}")
    if entry["static"] not in STATIC:
        raise ValueError(f"clause {name!r}: static is {entry['static']!r}, not one of {', '.join(STATIC)}")
    presence = entry.get("presence", "listed")
    if presence not in PRESENCES:
        raise ValueError(f"clause {name!r}: presence is {presence!r}, not one of {', '.join(PRESENCES)}")
    counted = tuple(entry.get("counted", ()))
    if len(counted) != (2 if presence == "counted" else 0):
        raise ValueError(f"clause {name!r}: counted holds words for one and for several, where presence is 'counted'")
    refused_by = entry.get("refused_by", {})
    for consumer, release in refused_by.items():
        if consumer not in CONSUMERS or not isinstance(release, str):
            raise ValueError(f"clause {name!r}: refused_by holds a release for each of {', '.join(CONSUMERS)}")
    return Clause(
        id=name,
        summary=entry["summary"],
        chapter=entry["chapter"],
        anchor=entry["anchor"],
        since=entry["since"],
        until=entry.get("until"),
        keyword=MappingProxyType(_in_every_edition(entry["keyword"])),
        static=entry["static"],
        rules=tuple(entry["rules"]),
        reason=entry.get("reason"),
        presence=presence,
        counted=counted,
        note=entry.get("note"),
        refines=entry.get("refines"),
        refused_by=dict(refused_by),
    )


def _in_every_edition(keyword: Mapping[str, str]) -> dict[str, str]:
    """Return the keyword of each edition that has the clause: each carries on until a later edition names another."""
    found: dict[str, str] = {}
    word = ABSENT
    for edition in EDITIONS:
        word = keyword.get(edition, word)
        if word != ABSENT:
            found[edition] = word
    return found


def parse(text: str) -> dict[str, Clause]:
    """The clauses in `text`, a TOML document with a table for each.

    Raises ValueError for what is no TOML, a missing or unknown key, or an unknown edition, keyword or static value.
    """
    import tomllib

    return {name: _clause(name, entry) for name, entry in tomllib.loads(text).items()}


@functools.cache
def clauses() -> Mapping[str, Clause]:
    """Every clause by its id, in the order of the chapters.

    Raises ValueError when the file that holds them is malformed, and FileNotFoundError when it is not there.
    """
    data = package_data.read("onnx_lint.spec", SOURCE)
    compiled = _compiled(data)
    return MappingProxyType(parse(data.decode("utf-8"))) if compiled is None else compiled


SOURCE: Final = "clauses.toml"
COMPILED: Final = "clauses.jsonl"


def _compiled(source: bytes) -> Mapping[str, Clause] | None:
    """The clauses from their compiled form, unless that is missing or was made from another source.

    It is a line of JSON with a checksum of the source and the keywords, then one for each clause: the values of its
    fields in their order; of `keyword` the index of one in the first line, since few differ.
    `python -m tools.compile_clauses` makes it after an edit. It is there to be read sooner (docs/performance.md:
    compiled-clauses).
    """
    try:
        data = package_data.read("onnx_lint.spec", COMPILED)
    except FileNotFoundError:
        return None
    head, *lines = data.splitlines() or [b"{}"]
    told = json.loads(head)
    return _Compiled(told["keywords"], lines) if told.get("crc32") == binascii.crc32(source) else None


_FIELDS: Final = field_names(Clause)
_KEYWORD, _RULES, _COUNTED = map(_FIELDS.index, ("keyword", "rules", "counted"))


class _Compiled(Mapping[str, Clause]):
    """Clauses that are each made of a line when they are asked for."""

    def __init__(self, keywords: list[dict[str, str]], lines: list[bytes]) -> None:
        self._keywords = [MappingProxyType(each) for each in keywords]
        self._lines = {line[2 : line.index(b'"', 2)].decode(): line for line in lines}
        self._made: dict[str, Clause] = {}

    def __getitem__(self, name: str) -> Clause:
        found = self._made.get(name)
        if found is None:
            row = json.loads(self._lines[name])
            row[_KEYWORD] = self._keywords[row[_KEYWORD]]
            row[_RULES] = tuple(row[_RULES])
            row[_COUNTED] = tuple(row[_COUNTED])
            found = self._made[name] = Clause(*row)
        return found

    def __contains__(self, name: object) -> bool:
        return name in self._lines

    def __iter__(self) -> Iterator[str]:
        return iter(self._lines)

    def __len__(self) -> int:
        return len(self._lines)


def severity(clause: Clause | str, edition: str = DEFAULT_EDITION) -> Severity | None:
    """How bad it is to break `clause`, a Clause or its id, under `edition`; None when that edition has no such clause.

    Raises ValueError for an unknown clause, edition or keyword.
    """
    if isinstance(clause, str):
        if clause not in clauses():
            raise ValueError(f"unknown clause {clause!r}")
        clause = clauses()[clause]
    if edition not in EDITIONS:
        raise ValueError(f"unknown edition {edition!r}; the editions are {', '.join(EDITIONS)}")
    word = clause.keyword.get(edition)
    if word is None:
        return None
    if word not in KEYWORDS:
        raise ValueError(f"clause {clause.id!r} has the unknown keyword {word!r} in edition {edition}")
    return KEYWORDS[word]
