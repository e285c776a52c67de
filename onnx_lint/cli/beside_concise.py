# SPDX-License-Identifier: Apache-2.0
"""What is printed on standard error beside a concise report, which has nothing but findings."""

from __future__ import annotations

import sys

from onnx_lint.report.totals import Report
from onnx_lint.report.verdict import interruption_in_words, verdict_lines
from onnx_lint.reporters.statistics import statistics_lines
from onnx_lint.reporters.wording import weakenings_in_words


def print_beside_concise(report: Report, *, quiet: bool, statistics: bool, has_verdict: bool) -> None:
    """Print the statistics that were asked for, the verdict with what follows it, and settings that weaken it.

    `quiet`: whether to print only that the run was interrupted, and the settings of a configuration that was found.
    `has_verdict`: False to leave out the line of the verdict.
    """
    lines = [*statistics_lines(report)] if statistics else []
    if not quiet and report.totals.files:
        lines += [*verdict_lines(report, shows_reasons=True)][not has_verdict :]
    elif report.not_linted:
        lines.append(interruption_in_words(report))
    lines += weakenings_in_words(report.weakened, quiet=quiet)
    sys.stderr.writelines(f"{line}\n" for line in lines)
