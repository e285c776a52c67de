# SPDX-License-Identifier: Apache-2.0
"""The operator set versions for which each decision of docs/operator_checks.md holds.

`python docs/generate/version_ranges.py` writes them into the tables of the page: the fixture that shows a decision is
linted with every version of the operator set that its node uses.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from itertools import groupby
from pathlib import Path
from typing import Final

DOCS: Final = Path(__file__).parent.parent
PAGE: Final = DOCS / "operator_checks.md"
if __name__ == "__main__":
    sys.path[:0] = [str(DOCS.parent), str(DOCS.parent / "tests")]

from support.project.fixture_files import Fixture, diagnostics_of, fixtures_of  # noqa: E402 - see the line above

from onnx_lint.common.record import replace  # noqa: E402
from onnx_lint.engine.lint import lint_source  # noqa: E402
from onnx_lint.input.source import BytesSource  # noqa: E402
from onnx_lint.report import Diagnostic  # noqa: E402
from onnx_lint.spec.releases import newest_opset_version, normalized_domain  # noqa: E402

_IMPORT: Final = re.compile(r'(opset_import\s*\{(?:\s*domain:\s*"([^"]*)")?\s*version:\s*)\d+')
_SHOWN: Final = re.compile(r"`([a-z0-9-]+)/invalid/(\w+)`")


def with_ranges(page: str) -> str:
    """The page with the versions as third column in each table of decisions."""
    return "".join(f"{_row(line)}\n" for line in page.splitlines())


def _row(line: str) -> str:
    if not line.startswith("| "):
        return "|---|---|---|" if line == "|---|---|" else line
    question, decision, *others = line.strip("| ").split(" | ")
    if len(others) > 1:  # of the list that operator_sentences.py writes
        return line
    if question == "Question":
        return f"| {question} | {decision} | Versions |"
    holds: dict[str, set[int]] = {}
    for rule, name in _SHOWN.findall(decision):
        domain, versions = versions_of(rule, name)
        holds.setdefault(domain or "ai.onnx", set()).update(versions)
    ranges = [f"{domain} {', '.join(_spans(sorted(versions)))}" for domain, versions in holds.items() if versions]
    return f"| {question} | {decision} | {'; '.join(ranges) or '-'} |"


def versions_of(rule: str, name: str) -> tuple[str, list[int]]:
    """The domain, and the operator set versions with which the fixture has its finding; none if no version decides."""
    fixture = next(each for each in fixtures_of(rule) if each.path.stem == name and not each.is_valid)
    found = next(item for item in diagnostics_of(fixture) if item.rule == rule)
    imported = (
        sorted({normalized_domain(given) for _, given in _IMPORT.findall(fixture.text)}) if fixture.is_text else []
    )
    domain = normalized_domain(found.operator.rpartition("::")[0]) if found.operator else "".join(imported[-1:])
    newest = newest_opset_version(domain)
    if newest is None or domain not in imported:
        return domain, []
    return domain, [version for version in range(1, newest + 1) if _is_found(fixture, domain, version, found)]


def _is_found(fixture: Fixture, domain: str, version: int, wanted: Diagnostic) -> bool:
    def at_version(match: re.Match[str]) -> str:
        return f"{match[1]}{version}" if normalized_domain(match[2] or "") == domain else match[0]

    data = BytesSource(_IMPORT.sub(at_version, fixture.text).encode())
    settings = replace(fixture.settings, external_data=False, proto=fixture.proto)
    file = lint_source(data, fixture.path.name, settings)
    return any((item.rule, item.clause) == (wanted.rule, wanted.clause) for item in file.diagnostics)


def _spans(versions: list[int]) -> Iterator[str]:
    """The versions as ranges: each run of numbers has one difference from its positions."""
    for _, run in groupby(enumerate(versions), key=lambda pair: pair[1] - pair[0]):
        first, *others = [version for _, version in run]
        yield f"{first}-{others[-1]}" if others else str(first)


if __name__ == "__main__":
    PAGE.write_text(with_ranges(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
