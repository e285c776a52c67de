# SPDX-License-Identifier: Apache-2.0
"""The clauses of the specification, and the keyword of each in each edition, which decides the severity."""

from __future__ import annotations

import enum
import functools
from collections import ChainMap
from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Final

from onnx_lint.common import package_data
from onnx_lint.common.record import EMPTY, Record, field_names
from onnx_lint.spec.standard import DEFAULT_STANDARD
from onnx_lint.spec.standard import EDITIONS as EDITIONS

DEFAULT_EDITION: Final = DEFAULT_STANDARD.edition
"""The newest edition."""


class Severity(enum.IntEnum):
    """The severity of a finding; a higher number is worse."""

    NOTE = 1
    WARNING = 2
    ERROR = 3

    @property
    def label(self) -> str:
        """The severity as reports write it: `error`, `warning` or `note`."""
        return self.name.lower()

    @classmethod
    def of(cls, label: str) -> Severity:
        """Return the severity with this label. Raises ValueError if there is none."""
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
"""The keywords of clauses and the severity of each. Those in capitals are defined by RFC 2119."""

OWN_KEYWORDS: Final[Mapping[str, str]] = MappingProxyType(
    {
        "must": 'the text requires it in lower case, or with "required", "only" or "not allowed"',
        "should": "the text recommends it in lower case",
        "implied": "the text does not say it in so many words, but it follows from its definitions",
        "gate": "the field or type does not exist in the IR version or operator set of the model",
        "table": "a table of the text does not list it",
        "practice": "the text says nothing, but consumers reject the model or disagree on its meaning",
        "advice": "the model conforms; this is a hint for its author",
    }
)
"""The meaning of the keywords that RFC 2119 does not define."""

PRESENCES: Final = ("listed", "pedantic", "optional", "named")
"""The ways in which findings of a clause are reported by default.

- listed: one by one.
- pedantic: as a number; one by one with `--pedantic`.
- optional: not at all; one by one if their rule or chapter is selected.
- named: not at all; one by one if their rule is selected by its id, or ALL is selected.
"""

OWN_CHAPTERS: Final = ("hygiene", "policy", "target")
"""The chapters of onnx-lint's own, which are not part of the specification: a model conforms without them."""


CONSUMERS: Final = ("onnx.checker", "onnx.full_check", "onnxruntime", "openvino")
"""The consumers whose rejections are recorded: `onnx.checker.check_model`, the same with `full_check=True`,
ONNX Runtime and OpenVINO.
"""

# Most runs need no patterns, so these are compiled where they are used.
_CASES: Final = r"(?: if ([a-z-]+(?: or [a-z-]+)*))?"
"""The end of a row for some cases of the clause (`Finding.case`), or for some of the places of `place_kind`."""

ACCEPTED: Final = rf"(onnx\.checker|onnx\.full_check|onnxruntime)=(\d+\.\d+){_CASES}"
"""The pattern of a row of `Clause.accepted_by`: the consumer, the release, and the cases."""
REFUSED: Final = rf"(\d+\.\d+){_CASES}"
"""The pattern of a value of `Clause.refused_by`: the release, and the cases."""


PLACES: Final[Mapping[str, str]] = MappingProxyType(
    {
        "main": "in the main graph",
        "branch": "in a subgraph",
        "body": "in a function",
        "nested": "in a subgraph of a function",
        "default": "in the default value of a function's attribute",
        "training": "in the training",
    }
)
"""The kinds of places in which programs look for faults, or do not, in words."""


def place_kind(fields: Sequence[str]) -> str:
    """Return the kind of place that a path of fields leads to, one of PLACES; `main` for what is in no graph."""
    is_subgraph = "g" in fields or "graphs" in fields
    if fields[:1] == ["training_info"]:
        return "training"
    if fields[:2] == ["functions", "attribute_proto"]:
        return "default"
    if fields[:1] == ["functions"]:
        return "nested" if is_subgraph else "body"
    return "branch" if is_subgraph else "main"


class Clause(Record):
    """One requirement, recommendation or permission of the specification."""

    id: str
    summary: str
    chapter: str
    anchor: str
    """Document and section, such as `IR.md#graphs`."""
    since: int
    """The first IR version that it applies to."""
    until: int | None
    """The last IR version that it applies to; None for the newest."""
    keyword: Mapping[str, str]
    """The keyword in each edition that has the clause. The source file lists only changes."""
    static: str
    """Whether the content of one file shows a violation: `yes`, `partly` or `no`."""
    rules: tuple[str, ...]
    """The ids of the rules that check it."""
    reason: str | None
    """Why no rule checks it."""
    presence: str
    """The way in which its warnings and notes are reported by default, one of PRESENCES."""
    counted: tuple[str, ...]
    """The words for one and for several findings of a pedantic clause, to report their number; empty for none."""
    note: str | None
    """The reason of an entry that this project made, and other remarks; a section of its documentation."""
    refines: str | None
    """The clause that this entry, added by onnx-lint, divides."""
    refused_by: Mapping[str, str] = EMPTY
    """The consumers that reject a model that violates it, each with the first release known to: `1.23`, or `1.23 if
    main or branch`. What `onnx.checker` rejects, `onnx.full_check` rejects too."""
    accepted_by: tuple[str, ...] = ()
    """The releases that are proven to accept a violation: `onnxruntime=1.32`, or `onnxruntime=1.32 if constant`."""
    declared_by: str | None = None
    """The plugin, configuration or chapter of onnx-lint that declares it; None for a clause of the specification."""


_declared: Final[dict[str, Clause]] = {}
"""The clauses of the plugins that are in use, by their ids."""


def declare(own: Mapping[str, Clause]) -> None:
    """Make these the clauses of plugins, by their ids, in place of all that were declared before."""
    if _declared != own:
        _declared.clear()
        _declared.update(own)


def clauses() -> Mapping[str, Clause]:
    """Return every clause by its id: those of the specification in the order of the chapters, then declared ones.

    Raises FileNotFoundError if their file is missing.
    """
    specified = specified_clauses()
    return MappingProxyType(ChainMap(_declared, specified)) if _declared else specified  # type: ignore[arg-type]


@functools.cache
def specified_clauses() -> Mapping[str, Clause]:
    """Return the clauses of the specification by their ids, in the order of the chapters.

    They are in `clauses.toml`, which `python -m tools.compile_clauses` compiles. The first line of the compiled form is
    JSON with the keywords. Each further line is a clause: the values of its fields in order, with an index into the
    keywords, since few differ. Raises FileNotFoundError if the file is missing.
    """
    head, *lines = package_data.read("onnx_lint.spec", "clauses.jsonl").splitlines()
    return _Compiled(package_data.from_json(head), lines)


_FIELDS: Final = field_names(Clause)
_KEYWORD, *_TUPLES = map(_FIELDS.index, ("keyword", "rules", "counted", "accepted_by"))


class _Compiled(Mapping[str, Clause]):
    """The clauses, each created from its line at the first access."""

    def __init__(self, keywords: list[dict[str, str]], lines: list[bytes]) -> None:
        self._keywords = [MappingProxyType(each) for each in keywords]
        # Each line begins with the id: ["GRA-1", ...
        self._lines = {line[2 : line.index(b'"', 2)].decode(): line for line in lines}
        self._made: dict[str, Clause] = {}

    def __getitem__(self, name: str) -> Clause:
        found = self._made.get(name)
        if found is None:
            row = package_data.from_json(self._lines[name])
            row[_KEYWORD] = self._keywords[row[_KEYWORD]]
            for index in _TUPLES:
                row[index] = tuple(row[index])
            found = self._made[name] = Clause(*row)
        return found

    def __contains__(self, name: object) -> bool:
        return name in self._lines

    def __iter__(self) -> Iterator[str]:
        return iter(self._lines)

    def __len__(self) -> int:
        return len(self._lines)


def severity(clause: Clause | str, edition: str = DEFAULT_EDITION) -> Severity | None:
    """Return the severity of violating `clause`, a Clause or its id, in `edition`.

    None if the edition has no such clause. Raises ValueError for an unknown clause, edition or keyword.
    """
    if isinstance(clause, str):
        try:
            clause = clauses()[clause]
        except KeyError:
            raise ValueError(f"unknown clause {clause!r}") from None
    if edition not in EDITIONS:
        raise ValueError(f"unknown edition {edition!r}; the editions are {', '.join(EDITIONS)}")
    word = clause.keyword.get(edition)
    if word is None:
        return None
    if word not in KEYWORDS:
        raise ValueError(f"clause {clause.id!r} has the unknown keyword {word!r} in edition {edition}")
    return KEYWORDS[word]
