# SPDX-License-Identifier: Apache-2.0
"""The suite: models with a verdict, made from the fixtures, as files and a manifest."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final

from google.protobuf import text_format
from support.project.fixture_files import Fixture, fixtures, linted
from support.project.fixture_files import lint as lint_with

from onnx_lint import schema
from onnx_lint.common.record import replace
from onnx_lint.input.source import BytesSource
from onnx_lint.ir.documents.kinds import MODEL_KIND
from onnx_lint.loader import load
from onnx_lint.report.findings import Diagnostic
from onnx_lint.spec.clauses import Clause, clauses
from onnx_lint.spec.releases import RELEASES
from onnx_lint.spec.standard import DEFAULT_STANDARD
from onnx_lint.spec.target import WITHOUT_ML
from onnx_lint.version import __version__

MANIFEST: Final = "manifest.json"
FORMAT: Final = 1
"""The version of the manifest's format. Within a version keys are only added."""

_ZEROS: Final = 1 << 16
"""The size in bytes of a file of external data that the suite makes up; enough for the tensors of any fixture."""

_SETTINGS: Final = ("limit", "option", "target")
"""Headers of fixtures that are about settings of onnx-lint. Such fixtures say nothing about other checkers.

The target `onnx-without-ml` is different: it names a text of the specification.
"""


@dataclass(frozen=True)
class Fault:
    """A fault of a model: the clause that it violates and its place."""

    severity: str
    """`error` for a requirement, `warning` for a recommendation, `note` for advice."""
    clause: str
    place: str
    """The path of fields, such as `graph.node[0].input[1]`; `model` for the whole file."""
    offset: int | None
    """The first byte of the place, if it has bytes of its own."""
    message: str


@dataclass(frozen=True)
class Case:
    """A file and its verdict."""

    id: str
    file: str
    """The path of the file in the suite."""
    message: str
    """The message that the file holds: ModelProto, or another one of ONNX."""
    form: str
    """`binary`, `text` or `json`."""
    edition: str
    variant: str
    verdict: str
    """`conforms`, `violates` (a requirement) or `questionable` (recommendations only)."""
    clauses: tuple[str, ...]
    """The clauses that the case is about: those it violates, or those whose boundary a conforming case shows."""
    faults: tuple[Fault, ...]
    description: str


def export(folder: Path) -> list[Case]:
    """Write the suite into a new folder, with the same bytes each time. Raises FileExistsError if there is one."""
    folder.mkdir(parents=True)
    own = {rule for clause in clauses().values() if clause.declared_by is not None for rule in clause.rules}
    made = [
        _written(fixture, folder)
        for fixture in fixtures()
        if fixture.rule not in own
        and not any(name in _SETTINGS and value != WITHOUT_ML for name, value in fixture.headers)
    ]
    used = sorted({name for case in made for name in case.clauses})
    manifest = {
        "format": FORMAT,
        "suite": __version__,
        "onnx": RELEASES[-1].onnx,
        "clauses": {name: _described(clauses()[name]) for name in used},
        "cases": [asdict(case) for case in made],
    }
    (folder / MANIFEST).write_text(json.dumps(manifest, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    return made


def _written(fixture: Fixture, folder: Path) -> Case:
    """Write the file of a fixture, and the data beside it. Return its case."""
    parsed = _parsed(fixture)
    if parsed is None:
        data, form = fixture.data, linted(fixture).form.replace("textproto", "text")
    else:
        data, form = parsed.SerializePartialToString(deterministic=True), "binary"
    name = f"{fixture.rule}/{fixture.path.parent.name}/{fixture.path.stem}"
    path = folder / "models" / (name + _suffix(fixture, form))
    if not path.parent.exists():
        path.parent.mkdir(parents=True)
        if fixture.directory is not None:
            shutil.copytree(fixture.directory, path.parent, dirs_exist_ok=True, symlinks=True)
    path.write_bytes(data)
    if parsed is not None and fixture.directory is None:
        _write_external_data(parsed, path.parent)
    faults = _faults(fixture, path)
    severities = {fault.severity for fault in faults}
    return Case(
        id=name,
        file=path.relative_to(folder).as_posix(),
        message=fixture.proto or fixture.model().kind,
        form=form,
        edition=fixture.standard.edition,
        variant=fixture.standard.variant,
        verdict="violates" if "error" in severities else "questionable" if severities else "conforms",
        clauses=tuple(sorted({fault.clause for fault in faults})) or _clauses_of(fixture.rule),
        faults=faults,
        description=" ".join(fixture.prose),
    )


def _parsed(fixture: Fixture) -> schema.Proto | None:
    """Return the message of a fixture in text format; None if it is about the bytes or the text."""
    if not fixture.is_text or any(name == "name" for name, _ in fixture.headers):
        return None
    made = schema.message(fixture.proto or fixture.model().kind)()
    try:
        return text_format.Parse(fixture.text, made, descriptor_pool=schema.pool())
    except text_format.ParseError:
        return None


def _suffix(fixture: Fixture, form: str) -> str:
    named = next((value for name, value in fixture.headers if name == "name"), None)
    if named is not None:
        return Path(named).suffix
    return {"binary": ".onnx", "text": ".textproto", "json": ".json"}[form]


def _write_external_data(document: schema.Proto, folder: Path) -> None:
    """Write zeros where a model expects external data, so that a missing file is not a second fault."""
    for tensor in _tensors(document):
        entries = {entry.key: entry.value for entry in tensor.external_data}
        location = Path(entries.get("location", "/"))
        if location.is_absolute() or {"..", ""} & set(location.parts) or "\0" in str(location):
            continue
        path, offset = folder / location, entries.get("offset", "")
        path.parent.mkdir(parents=True, exist_ok=True)
        if not path.exists():
            path.write_bytes(bytes(_ZEROS + (int(offset) if offset.isdecimal() and len(offset) < 7 else 0)))


def _tensors(message: schema.Proto) -> Iterator[schema.Proto]:
    """Yield each tensor in a message, however deep."""
    if message.DESCRIPTOR.name == "TensorProto":
        yield message
    for field, value in message.ListFields():
        if field.message_type is not None:
            for inner in value if field.is_repeated else [value]:
                yield from _tensors(inner)


def _faults(fixture: Fixture, path: Path) -> tuple[Fault, ...]:
    """Return the findings on the file as it was written, which need not have the fixture's form."""
    stated = fixture.settings
    settings = replace(stated, select=(), extend_select=(*stated.select, *stated.extend_select))
    source = BytesSource(path.read_bytes())
    model = load(source, path.name, settings.standard, str(path.parent), settings.limits, fixture.proto)
    return tuple(map(_fault, lint_with(model, settings)))


def _fault(diagnostic: Diagnostic) -> Fault:
    return Fault(
        severity=diagnostic.severity.label,
        clause=diagnostic.clause,
        place=diagnostic.place,
        offset=diagnostic.byte_range[0] if diagnostic.byte_range else None,
        message=diagnostic.message,
    )


def _clauses_of(rule: str) -> tuple[str, ...]:
    return tuple(clause.id for clause in clauses().values() if rule in clause.rules)


def _described(clause: Clause) -> Mapping[str, Any]:
    return {"summary": clause.summary, "anchor": clause.anchor, "keyword": dict(clause.keyword)}


def read(folder: Path) -> list[Case]:
    """Return the cases of an exported suite. Raises OSError or ValueError if there is none that can be read."""
    manifest = json.loads((folder / MANIFEST).read_text(encoding="utf-8"))
    if manifest.get("format") != FORMAT:
        raise ValueError(f"{folder / MANIFEST} has the format {manifest.get('format')!r}; this program reads {FORMAT}")
    return [_read(entry) for entry in manifest["cases"]]


def _read(entry: Mapping[str, Any]) -> Case:
    lists = {"clauses": tuple(entry["clauses"]), "faults": tuple(Fault(**fault) for fault in entry["faults"])}
    return Case(**(dict(entry) | lists))


def is_for_every_checker(case: Case) -> bool:
    """Return whether any checker can judge it: a binary model, under the newest edition, not about recommendations."""
    newest = case.edition == DEFAULT_STANDARD.edition and case.variant == DEFAULT_STANDARD.variant
    return case.message == MODEL_KIND and case.form == "binary" and newest and case.verdict != "questionable"
