# SPDX-License-Identifier: Apache-2.0
"""The totals of scans as text and as JSON."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final, TextIO

from onnx_lint import __version__
from onnx_lint.common.distribution import NAME
from onnx_lint.common.visible import json_without_commands
from onnx_lint.fleet.columns import LEVELS
from onnx_lint.fleet.totals import MAX_LISTED, Difference, Group, Totals
from onnx_lint.fleet.trend import Point, record_of_point
from onnx_lint.reporters.escape import shortened, visible
from onnx_lint.reporters.wording import counted

VERSION: Final = 1
"""The version of the JSON form. Within a version properties are only added."""

_MAX_ROWS: Final = 20
_MAX_PATHS: Final = 20
_MAX_WIDTH: Final = 60


def write_json(totals: Totals, new: Difference | None, stream: TextIO, trend: Sequence[Point] = ()) -> None:
    """Write the totals as one JSON document. `trend`: earlier scans, the oldest first, and this one."""
    document = {
        "version": VERSION,
        "tool": {"name": NAME, "version": __version__},
        "complete": not totals.missing,
        "missing": totals.missing,
        **_numbers(totals.all),
        "conforming": totals.conforming,
        "unreadable": totals.unreadable,
        "not_judged": totals.not_judged,
        "crashed": totals.crashed,
        "bytes": totals.bytes,
        "suppressed": totals.suppressed,
        "by_rule": _rules(totals.rules, totals.models_of_rules),
        "by_producer": [{"producer": name, **_numbers(group)} for name, group in by_size(totals.producers)],
        "by_edition": [{"edition": name, **_numbers(group)} for name, group in by_size(totals.editions)],
        "without_verdict": [{"path": path, "reason": reason} for path, reason in totals.without_verdict],
    }
    if new is not None:
        document["new"] = {
            **{f"{level}s": new.findings[level] for level in LEVELS},
            "models": new.models,
            "new_models": new.new_models,
            "gone": new.gone.total(),
            "gone_models": new.gone_models,
            "by_rule": _rules(new.rules),
            "findings": new.listed,
        }
    if trend:
        document["trend"] = [record_of_point(point) for point in trend]
    stream.write(json_without_commands(json.dumps(document, indent=2)) + "\n")


def _numbers(group: Group) -> dict[str, int]:
    return {
        "models": group.models,
        "models_with_errors": group.with_errors,
        **{f"{level}s": group.findings[level] for level in LEVELS},
    }


def _rules(
    rules: Mapping[tuple[str, str], int], models: Mapping[tuple[str, str], int] | None = None
) -> list[dict[str, Any]]:
    rows = []
    for (rule, level), count in most_frequent(rules):
        rows.append({"rule": rule, "severity": level, "findings": count})
        if models is not None:
            rows[-1]["models"] = models[rule, level]
    return rows


def most_frequent(rules: Mapping[tuple[str, str], int]) -> list[tuple[tuple[str, str], int]]:
    """Return rule, severity and count, the most frequent first."""
    return sorted(rules.items(), key=lambda item: (-item[1], item[0]))


def by_size(groups: Mapping[str, Group]) -> list[tuple[str, Group]]:
    """Return the groups with their names, those with the most models first."""
    return sorted(groups.items(), key=lambda item: (-item[1].models, item[0]))


def write_text(totals: Totals, new: Difference | None, stream: TextIO, trend: Sequence[Point] = ()) -> None:
    """Write the totals for people. `trend`: earlier scans, the oldest first, and this one."""
    stream.writelines(f"{line}\n" for line in _lines(totals, new, trend))


def total_of(totals: Totals) -> str:
    """Return one line: `5,000 models: 4,012 conform, 960 with errors, 3 not read; 1,204 errors, 12 warnings`."""
    states = [f"{totals.conforming:,} conform", f"{totals.all.with_errors:,} with errors"]
    for count, what in (
        (totals.unreadable, "not read"),
        (totals.not_judged, "not judged"),
        (totals.crashed, "not linted completely"),
    ):
        states += [f"{count:,} {what}"] if count else []
    found = ", ".join(counted(totals.all.findings[level], level) for level in LEVELS if totals.all.findings[level])
    more = f"; {totals.suppressed:,} suppressed" if totals.suppressed else ""
    return f"{counted(totals.all.models, 'model')}: {', '.join(states)}; {found or 'no findings'}{more}"


def _lines(totals: Totals, new: Difference | None, trend: Sequence[Point]) -> Iterator[str]:
    rows = [
        (visible(shortened(rule, _MAX_WIDTH)), level, f"{count:,}", f"{totals.models_of_rules[rule, level]:,}")
        for (rule, level), count in most_frequent(totals.rules)
    ]
    yield from _table(("rule", "severity", "findings", "models"), rows)
    for name, groups in (("producer", totals.producers), ("edition", totals.editions)):
        yield from _table((name, "models", "with errors", *(f"{level}s" for level in LEVELS)), _group_rows(groups))
    if len(trend) > 2:  # for two scans, the lines below list the new findings
        yield from _table(
            ("scan", "models", "conform", *(f"{level}s" for level in LEVELS), "new", "gone"), _trend_rows(trend)
        )
    yield from _listed_paths("without a verdict", totals.without_verdict, totals.without_any)
    if new is not None:
        yield from _new_lines(new)
    yield total_of(totals)
    if totals.missing:
        yield f"incomplete: {counted(totals.missing, 'model')} not linted yet; run the same scan again to continue"


def _group_rows(groups: Mapping[str, Group]) -> list[tuple[str, ...]]:
    return [
        (
            visible(shortened(name, _MAX_WIDTH)) or "(none)",
            *(f"{number:,}" for number in (group.models, group.with_errors)),
            *(f"{group.findings[level]:,}" for level in LEVELS),
        )
        for name, group in by_size(groups)
    ]


def _trend_rows(trend: Sequence[Point]) -> list[tuple[str, ...]]:
    return [
        (
            visible(shortened(point.name, _MAX_WIDTH)),
            *(f"{number:,}" for number in (point.totals.all.models, point.totals.conforming)),
            *(f"{point.totals.all.findings[level]:,}" for level in LEVELS),
            *(
                (f"{point.new.findings.total():,}", f"{point.new.gone.total():,}")
                if point.new is not None
                else ("", "")
            ),
        )
        for point in trend
    ]


def _table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> Iterator[str]:
    """Yield a table with numbers aligned to the right, and an empty line after it; nothing if there are no rows."""
    if not rows:
        return
    shown = [head, *rows[:_MAX_ROWS]]
    widths = [max(len(row[column]) for row in shown) for column in range(len(head))]
    is_number = [all((row[column].replace(",", "") or "0").isdecimal() for row in rows) for column in range(len(head))]
    for row in shown:
        cells = (
            text.rjust(width) if right else text.ljust(width)
            for text, width, right in zip(row, widths, is_number, strict=True)
        )
        yield "  ".join(cells).rstrip()
    if len(rows) > _MAX_ROWS:
        yield f"and {len(rows) - _MAX_ROWS:,} more (--format json has them)"
    yield ""


def _listed_paths(title: str, listed: Iterable[tuple[str, str]], count: int) -> Iterator[str]:
    if not count:
        return
    yield f"{title}:"
    shown = list(listed)[:_MAX_PATHS]
    for path, reason in shown:
        said = reason if reason.startswith(path) else f"{path}: {reason}"
        yield f"  {visible(said)}"
    if count > len(shown):
        yield f"  and {count - len(shown):,} more (--format json has up to {MAX_LISTED:,})"
    yield ""


def _new_lines(new: Difference) -> Iterator[str]:
    count = new.findings.total()
    if count:
        yield f"new: {new_of(new)}"
        for item in new.listed[:_MAX_PATHS]:
            said = f"{item['severity']}[{item['rule']}] {item['message']}"
            yield "  " + visible(f"{item['path']}: {item['place']}: {said}")
        if count > _MAX_PATHS:
            yield f"  and {count - _MAX_PATHS:,} more (--format json has up to {MAX_LISTED:,})"
    else:
        yield "new: no findings"
    yield f"gone: {counted(new.gone.total(), 'finding')}; models: {new.new_models:,} new, {new.gone_models:,} removed"
    yield ""


def new_of(new: Difference) -> str:
    """Return the numbers of new findings: `2 errors, 1 note in 3 models`."""
    found = ", ".join(counted(new.findings[level], level) for level in LEVELS if new.findings[level])
    return f"{found or 'no findings'} in {counted(new.models, 'model')}"
