# SPDX-License-Identifier: Apache-2.0
"""Baselines in a run: what is suppressed, what is stale, and the files that are written."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection
from typing import TYPE_CHECKING

from onnx_lint.baseline import (
    Baseline,
    BaselineError,
    entries_of,
    file_key,
    living,
    read_baseline,
    size,
    split,
    written,
)
from onnx_lint.cli.errors import RequestError, RunError
from onnx_lint.cli.streams import report_file
from onnx_lint.record import replace
from onnx_lint.reporters.escape import STANDARD_INPUT, visible

if TYPE_CHECKING:
    from onnx_lint.cli.choices import Plan
    from onnx_lint.report import FileReport, Report

RulesOf = Callable[["FileReport"], Collection[str]]
"""Tells which rules a file was held against."""


def with_baselines(report: Report, plan: Plan) -> Report:
    """The report as `--write-baseline`, or the baselines of its files, leave it.

    Raises RunError for a baseline that cannot be used or written, and RequestError where there is none to prune.
    """
    rules = report.rules

    def rules_of(file: FileReport) -> Collection[str]:
        return rules if file.rules is None else file.rules

    if plan.request.write_baseline is not None:
        return write_baseline(report, plan.request.write_baseline, rules_of)
    paths: dict[str, list[str]] = {}
    for file in report.files:
        baseline = plan.of(file.path).baseline
        if baseline is not None:
            paths.setdefault(baseline, []).append(file.path)
    prune = plan.request.prune_baseline
    if prune and not paths:
        raise RequestError("--prune-baseline wants a --baseline")
    for baseline, own in paths.items():
        report = apply_baseline(report, baseline, frozenset(own), rules_of, prune=prune)
    return report


def read(path: str) -> Baseline:
    """The baseline at `path`; raises RunError when it is none."""
    try:
        return read_baseline(path)
    except BaselineError as error:
        raise RunError(visible(str(error))) from error


def write_baseline(report: Report, path: str, rules_of: RulesOf) -> Report:
    """List all findings of the report in the file at `path`, and return the report with all of them suppressed.

    What the file says of files and rules that this run was not about stays. Raises RunError when it cannot be
    written, or holds something else than a baseline.
    """
    old = read(path) if os.path.lexists(path) else {}
    known: dict[str, FileReport] = {}
    new = {name: entries for name, entries in old.items() if _may_be_there(name, path)}
    for file in report.files:
        name = file_key(file.path, path)
        known[name] = replace(file, diagnostics=(), suppressed=file.diagnostics)
        new[name] = {**living(known[name], old.get(name, {}), rules_of(file)), **entries_of(file.diagnostics)}
    _write(path, new)
    return replace(report, files=tuple(known[file_key(file.path, path)] for file in report.files))


def apply_baseline(report: Report, path: str, paths: Collection[str], rules_of: RulesOf, *, prune: bool) -> Report:
    """The report with what the baseline at `path` lists suppressed in the files at `paths`, and the rest of it counted.

    `prune`: whether to take that rest out of the file. Raises RunError when the file cannot be used or written.
    """
    baseline = read(path)
    alive = {name: entries for name, entries in baseline.items() if _may_be_there(name, path)}
    files = []
    for file in report.files:
        if file.path not in paths:
            files.append(file)
            continue
        name = file_key(file.path, path)
        entries = baseline.get(name, {})
        files.append(split(file, entries))
        alive[name] = living(files[-1], entries, rules_of(file))
    stale = size(baseline) - size(alive)
    if prune and stale:
        _write(path, alive)
    return replace(report, files=tuple(files), stale=report.stale + stale)


def _may_be_there(name: str, baseline: str) -> bool:
    """Whether the file that the baseline calls `name` still exists; what came by standard input always may."""
    folder = os.path.dirname(os.path.abspath(baseline))
    return name == STANDARD_INPUT or os.path.lexists(os.path.join(folder, name))


def _write(path: str, baseline: Baseline) -> None:
    with report_file(path) as stream:
        stream.write(written(baseline))
