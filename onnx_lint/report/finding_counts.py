# SPDX-License-Identifier: Apache-2.0
"""The numbers of findings, in a file or in a run, in words."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from onnx_lint.common.visible import visible
from onnx_lint.spec.clauses import Severity
from onnx_lint.wording import counted

if TYPE_CHECKING:
    from onnx_lint.report.file_report import Counted


def findings_in_words(counts: Mapping[tuple[str | None, Severity], int]) -> str:
    """Return numbers of findings by plugin and severity, those under ONNX's clauses (None) first; empty for none.

    `2 errors, 1 warning; house_rules.py: 1 warning`
    """
    by_plugin: dict[str | None, Counter[Severity]] = {None: Counter()}
    for (plugin, severity), count in counts.items():
        by_plugin.setdefault(plugin, Counter())[severity] += count
    of_onnx = _severities_in_words(by_plugin.pop(None))
    others = [f"{visible(str(plugin))}: {_severities_in_words(found)}" for plugin, found in by_plugin.items()]
    return "; ".join([of_onnx, *others] if of_onnx else others)


def _severities_in_words(counts: Mapping[Severity, int]) -> str:
    """Return numbers of findings, errors first: `1 error, 2 warnings`; empty for none."""
    return ", ".join(counted(counts[each], each.label) for each in reversed(Severity) if counts.get(each))


def fixable_in_words(counts: Counter[bool]) -> str:
    """Return numbers of fixable findings: `2 fixable with --fix, 1 fixable with --fix --unsafe-fixes`; empty for none.

    `counts`: the number of findings by whether their fix is safe.
    """
    found = [(counts[True], "--fix"), (counts[False], "--fix --unsafe-fixes")]
    return ", ".join(f"{count:,} fixable with {option}" for count, option in found if count)


def suppressed_in_words(counts: Counter[str]) -> list[str]:
    """Return the numbers of suppressed findings, such as `3 suppressed by the baseline`."""
    return [
        f"{counts[source]:,} suppressed by the {source}" for source in ("baseline", "configuration") if counts[source]
    ]


def counted_in_words(found: Iterable[Counted]) -> str:
    """Return the findings that are only counted: `215 names are not C90 identifiers: --pedantic lists them`."""
    found = tuple(found)
    numbers = ", ".join(item.describe() for item in found)
    them = "it" if sum(item.count for item in found) == 1 else "them"
    return f"{numbers}: --pedantic lists {them}" if numbers else ""
