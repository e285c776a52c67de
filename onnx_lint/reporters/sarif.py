# SPDX-License-Identifier: Apache-2.0
"""SARIF 2.1.0, for code scanning.

The report follows GitHub, the service that most people use, where it differs from the text of the standard:
- The standard requires a region of bytes in a binary file; GitHub shows a result only with a region of text. So each
  result has the empty region at 1:1, which claims no byte, and its bytes are in `address`. In a model in text form it
  has its line and column.
- For a region of text the upload reads the whole file, about ten megabytes a second. So results in large files have
  none.
- GitHub would compute the fingerprint from the first line of the file, and merge all results of one rule. So each
  result has its own.
- There are at most as many results as an upload may have.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, TextIO

from onnx_lint.common.record import Record
from onnx_lint.report.file_report import FileReport
from onnx_lint.report.findings import Diagnostic, Placed, ProposedFix, RelatedPlace
from onnx_lint.report.totals import Report
from onnx_lint.reporters import Options
from onnx_lint.reporters.escape import MAX_SHOWN_MESSAGE_CHARACTERS, shortened, visible
from onnx_lint.reporters.json_stream import JsonStream
from onnx_lint.reporters.json_text import compact, without_none
from onnx_lint.reporters.links import information_url
from onnx_lint.reporters.packed_text import PackedText, WorstLines
from onnx_lint.reporters.sarif_rules import notification_index, notifications, sarif_rules
from onnx_lint.reporters.uri import default_root, uri_of
from onnx_lint.reporters.wording import (
    crash_in_words,
    file_description,
    guidance_sentences,
    label_as_title,
    labelled_guidance,
    mark_under,
    position_in_words,
    sentence,
    weakenings_in_words,
)
from onnx_lint.version import __version__
from onnx_lint.wording import counted

SCHEMA: Final = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
MAX_RESULTS: Final = 25_000
MAX_RELATED: Final = 100
MAX_LINKED: Final = 10
MAX_SHOWN_NAME_CHARACTERS: Final = 300
INTERRUPTED: Final = 130
"""The exit code of an interrupted run."""
MAX_SIZE_WITH_LINE: Final = 256 * 1000 * 1000
"""The largest file whose results have a region."""

_Region = dict[str, int]
_REGION: Final[_Region] = {"startLine": 1, "startColumn": 1, "endLine": 1, "endColumn": 1}
_VALUE_FIELDS: Final = frozenset({"input", "output", "value_info"})


class Writer:
    """Keeps the results of all files as text, as many as are written, and writes one run with them."""

    def __init__(self, head: Report, stream: TextIO, options: Options, _count: int) -> None:
        self._stream = stream
        self._options = options
        self._root = options.root or default_root()
        self._indices = {rule: index for index, rule in enumerate(sorted(head.rules))}
        self._files = 0
        self._artifacts = PackedText()
        self._results = WorstLines(MAX_RESULTS)
        self._notifications = PackedText()

    def file(self, file: FileReport) -> None:
        """Keep the results of the file."""
        uri = uri_of(file.path, self._root)
        artifact = {"uri": uri, "index": self._files}
        self._files += 1
        self._artifacts.write(f"{compact(_artifact(file, uri))}\n")
        suppressed = file.suppressed if self._options.show_suppressed else ()
        if file.diagnostics or suppressed:
            from onnx_lint.reporters.fingerprint import fingerprints

            of_file = _ResultFile(artifact, _REGION if file.size <= MAX_SIZE_WITH_LINE else None)
            each_fingerprint = fingerprints((*file.diagnostics, *suppressed), uri)
            for item in file.diagnostics:
                self._add_result(item, next(each_fingerprint), of_file, is_suppressed=False)
            for item in suppressed:
                self._add_result(item, next(each_fingerprint), of_file, is_suppressed=True)
        for each in _notifications(file, artifact, self._indices):
            self._notifications.write(f"{compact(each)}\n")

    def _add_result(self, item: Diagnostic, fingerprint: str, file: _ResultFile, *, is_suppressed: bool) -> None:
        """Keep a finding as a result, if it is one of the most severe ones."""
        result = _result(item, fingerprint, self._index_of(item.rule), file, is_suppressed=is_suppressed)
        self._results.add(item.severity, compact(result))

    def _index_of(self, rule: str) -> int:
        """Return the index of a rule. Those that only some files are checked with follow the others."""
        if rule not in self._indices:
            self._indices[rule] = len(self._indices)
        return self._indices[rule]

    def end(self, report: Report) -> None:
        """Write the run."""
        of_run: list[dict[str, Any]] = []
        if (left_out := self._results.count - MAX_RESULTS) > 0:
            were = "was" if left_out == 1 else "were"
            words = f"{counted(left_out, 'result')} {were} left out."
            of_run.append(_notification("too-many-results", "warning", words))
        if report.not_linted:
            from onnx_lint.report.verdict import interruption_in_words

            of_run.append(_notification("interrupted", "error", f"{interruption_in_words(report)}."))
        json = JsonStream(self._stream)
        with json.object():
            json.members({"$schema": SCHEMA, "version": "2.1.0"})
            with json.list("runs"), json.object():
                json.members(self._run(report))
                with json.list("invocations"), json.object():
                    json.members(self._invocation(report))
                    with json.list("toolExecutionNotifications"):
                        json.elements(self._notifications.lines())
                        json.elements(map(compact, of_run))
                with json.list("artifacts"):
                    json.elements(self._artifacts.lines())
                with json.list("results"):
                    json.elements(self._results.lines(MAX_RESULTS))
        self._stream.write("\n")

    def _invocation(self, report: Report) -> dict[str, Any]:
        """Return what went wrong in the run as a whole."""
        has_crashed = report.totals.internal_errors > 0
        configured = [
            _notification("weakened-verdict", "note", f"{what}.") for what in weakenings_in_words(report.weakened)
        ]
        return {
            "executionSuccessful": not report.not_linted and not has_crashed,
            **without_none(
                exitCode=INTERRUPTED if report.not_linted else None, toolConfigurationNotifications=configured
            ),
        }

    def _run(self, report: Report) -> dict[str, Any]:
        """Return the run without its long lists."""
        driver = {
            "name": "onnx-lint",
            "version": __version__,
            "semanticVersion": __version__,
            **without_none(informationUri=information_url()),
            "rules": sarif_rules(self._indices, report.edition),
            "notifications": notifications(),
        }
        return {
            "tool": {"driver": driver},
            "automationDetails": {"id": "onnx-lint/"},
            "columnKind": "unicodeCodePoints",
            "properties": {
                "edition": report.edition,
                "variant": report.variant,
                "conforms": report.conforms,
                **without_none(conformsWhy=visible(report.conforms_why or "")),
            },
        }


def _artifact(file: FileReport, uri: str) -> dict[str, Any]:
    artifact: dict[str, Any] = {"location": {"uri": uri}, "roles": ["analysisTarget"]}
    if file.unreadable is None:
        artifact["length"] = file.size
        artifact["properties"] = {
            "kind": file.kind,
            **without_none(facts=shortened(file_description(file), MAX_SHOWN_MESSAGE_CHARACTERS)),
        }
    return artifact


# --- results


class _ResultFile(Record):
    """The file of a result."""

    artifact: dict[str, Any]
    """The location of the file."""
    region: _Region | None
    """The region of a result that has no line; None if no result in the file has a region."""


def _result(
    item: Diagnostic, fingerprint: str, rule_index: int, file: _ResultFile, *, is_suppressed: bool
) -> dict[str, Any]:
    """Return a finding as a result."""
    digest, _, number = fingerprint.partition(":")
    related = enumerate(_related_places(item)[:MAX_RELATED], 1)
    fix = item.first_with_fix.fix
    return {
        "ruleId": item.rule,
        "ruleIndex": rule_index,
        "kind": "fail",
        "level": item.severity.label,
        "message": _message(item),
        "locations": [_location(item, file)],
        "partialFingerprints": {"primaryLocationLineHash": f"{digest[:16]}:{number}", "onnxLint/v1": fingerprint},
        "properties": _properties(item),
        **without_none(
            occurrenceCount=item.count if item.count > 1 else None,
            suppressions=[_suppression(item)] if is_suppressed else [],
            fixes=[_fix(fix, file.artifact)] if fix is not None and fix.patches else [],
            relatedLocations=[_related(place, number, file) for number, place in related],
        ),
    }


def _suppression(item: Diagnostic) -> dict[str, str]:
    justification = item.suppressed_by or "The baseline lists the finding."
    return {"kind": "external", "status": "accepted", "justification": justification}


def _related_places(item: Diagnostic) -> tuple[RelatedPlace, ...]:
    """Return the related places, and those of all findings of other rules that are folded into the finding."""
    if not item.folding.members:
        return item.related
    from onnx_lint.report.folding import members_without_place, related_place

    others = [each for each in members_without_place(item) if each.rule != item.rule]
    return (*item.related, *[related_place(item, each) for each in others])


def _fix(fix: ProposedFix, artifact: dict[str, Any]) -> dict[str, Any]:
    """Return the fix as bytes to replace. SARIF cannot say whether it is safe; the description does."""
    replacements = [
        {"deletedRegion": {"byteOffset": offset, "byteLength": length}, "insertedContent": {"binary": new}}
        for offset, length, new in fix.patches
    ]
    said = f"{_without_links(fix.message)} ({'safe' if fix.is_safe else 'unsafe'})"
    return {
        "description": {"text": said},
        "artifactChanges": [{"artifactLocation": artifact, "replacements": replacements}],
    }


def _message(item: Diagnostic) -> dict[str, str]:
    """Return the message as text and as Markdown. It says what is right and what to do, and links to related places."""
    places = [*enumerate(item.related[:MAX_LINKED], 1)]
    return {"text": _text_message(item, places), "markdown": _markdown_message(item, places)}


def _text_message(item: Diagnostic, places: Sequence[tuple[int, RelatedPlace]]) -> str:
    """Return the message as text, in which only links are markup.

    GitHub shows it, or where there is little room its first sentence, and only places that it links to.
    """
    text = [sentence(_without_links(item.message)), *map(_without_links, guidance_sentences(item))]
    # The name is outside of the link: it has brackets, which not every viewer unescapes in a link.
    text += _see_also([f"[place {number}]({number}) {_without_links(place.place)}" for number, place in places])
    return " ".join(text)


def _markdown_message(item: Diagnostic, places: Sequence[tuple[int, RelatedPlace]]) -> str:
    """Return the message as Markdown."""
    from onnx_lint.reporters.markdown_text import inert

    marked = [inert(sentence(item.message), MAX_SHOWN_MESSAGE_CHARACTERS)]
    marked += [
        f"**{inert(label_as_title(label))}**: {inert(what, MAX_SHOWN_MESSAGE_CHARACTERS)}"
        for label, what in labelled_guidance(item)
    ]
    # The name is the link, other than in the text: a viewer that cannot follow the link shows at least the place.
    marked += _see_also([f"[{inert(place.place, MAX_SHOWN_NAME_CHARACTERS)}]({number})" for number, place in places])
    return "\n\n".join(marked)


def _see_also(links: Sequence[str]) -> list[str]:
    return [f"See also {', '.join(links)}."] if links else []


def _without_links(text: str) -> str:
    """Return text from a model with `](` escaped, so that it cannot form a link."""
    return shortened(visible(text), MAX_SHOWN_MESSAGE_CHARACTERS).replace("](", "\\](")


def _location(item: Diagnostic, file: _ResultFile) -> dict[str, Any]:
    where = position_in_words(item)
    place = visible(item.place)
    return {
        "physicalLocation": _with_snippet(_physical_location(item, file), item),
        "logicalLocations": [
            {
                "fullyQualifiedName": visible(item.pointer) or "/",
                "name": _name(item),
                "kind": _kind(item),
            }
        ],
        "message": {"text": f"{where} ({place})" if where else place},
    }


def _with_snippet(location: dict[str, Any], item: Diagnostic) -> dict[str, Any]:
    """Return the location with the lines around the finding as the snippet of its region, if it has one.

    For a model in text form these lines are not those of the file but another view of the model.
    """
    if not item.context or "region" not in location:
        return location
    rows: list[str] = []
    for line in item.context:
        rows.append(f"{line.label:>4} |  {line.text}")
        rows += [f"     |  {carets}"] if (carets := mark_under(line)) else []
    lines = {"text": "\n".join(rows)}
    return location | {"region": location["region"] | {"snippet": {"rendered": lines} if item.position else lines}}


def _physical_location(item: Diagnostic | RelatedPlace, file: _ResultFile) -> dict[str, Any]:
    location: dict[str, Any] = {"artifactLocation": file.artifact}
    region = file.region
    if region is not None and item.position is not None:
        line, column = item.position
        region = {"startLine": line, "startColumn": column}
    location |= without_none(region=region)
    if item.position is not None or item.byte_range is None:
        return location
    start, end = item.byte_range
    return location | {"address": {"absoluteAddress": start, "length": end - start, "kind": "data"}}


def _name(item: Diagnostic) -> str:
    return shortened(visible(item.subject or item.node or item.at.last_step), MAX_SHOWN_NAME_CHARACTERS)


def _kind(item: Placed) -> str:
    """Return the kind of the place: `value`, or the name of the field in the schema."""
    return "value" if item.at.field in _VALUE_FIELDS else item.at.field


def _related(place: RelatedPlace, number: int, file: _ResultFile) -> dict[str, Any]:
    return {
        "id": number,
        "physicalLocation": _physical_location(place, file),
        "logicalLocations": [{"fullyQualifiedName": visible(place.pointer) or "/", "kind": _kind(place)}],
        "message": {"text": f"{_without_links(place.message)} ({visible(place.place)})"},
    }


def _properties(item: Diagnostic) -> dict[str, Any]:
    start, end = item.byte_range or (None, None)
    return {
        "place": visible(item.place),
        "pointer": visible(item.pointer),
        "clause": item.clause,
        "keyword": item.keyword,
        "anchor": item.anchor,
        "clauseSummary": item.clause_summary,
        **without_none(
            allowed=visible(item.allowed or ""),
            hint=visible(item.hint or ""),
            noFix=visible(item.advice.no_fix or ""),
            refusedBy=dict(item.by_target.refused_by),
            acceptedBy={name: list(releases) for name, releases in item.by_target.accepted_by},
            byteOffset=start,
            byteLength=None if start is None or end is None else end - start,
        ),
    }


# --- what could not be checked


def _notifications(
    file: FileReport, artifact: dict[str, Any], rule_indices: Mapping[str, int]
) -> Iterator[dict[str, Any]]:
    """Yield a notification for everything that could not be checked."""
    location = {"locations": [{"physicalLocation": {"artifactLocation": artifact}}]}
    yield from (each | location for each in _unchecked(file))
    for error in file.internal_errors:
        text = visible(crash_in_words(error))
        crash = _notification("internal-error", "error", f"{text[:1].upper()}{text[1:]}.") | location
        if error.rule in rule_indices:
            crash["associatedRule"] = {"id": error.rule, "index": rule_indices[error.rule]}
        yield crash


def _unchecked(file: FileReport) -> Iterator[dict[str, Any]]:
    """Yield a notification, without the file, for each part that could not be checked for another reason than a bug."""
    if file.unreadable is not None:
        yield _notification("unreadable-file", "error", sentence(visible(file.unreadable)))
    if (reason := file.why_not_judged) is not None:
        yield _notification("not-judged", "error", f"{visible(reason)}.")
    for target in file.targets:
        if target.loads is None:
            level = "error" if target.fails_run else "note"
            yield _notification("not-verified", level, f"{target.program}: {visible(target.text)}.")
    if file.has_unverified:
        from onnx_lint.report.not_verified import not_verified_in_words

        for what in not_verified_in_words(file):
            yield _notification("not-verified", "note", f"Not verified: {what}.")


def _notification(name: str, level: str, text: str) -> dict[str, Any]:
    return {
        "descriptor": {"id": name, "index": notification_index(name)},
        "level": level,
        "message": {"text": shortened(text, MAX_SHOWN_MESSAGE_CHARACTERS)},
    }
