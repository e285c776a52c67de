# SPDX-License-Identifier: Apache-2.0
"""Shows the inferred types and shapes of a model's values."""

from __future__ import annotations

import sys
from contextlib import closing
from itertools import chain
from typing import Final

from onnx_lint.cli import exit_codes
from onnx_lint.cli.failures import print_internal_errors, print_unreadable
from onnx_lint.cli.plan import Plan
from onnx_lint.cli.request import refuse_ambiguous_input
from onnx_lint.cli.streams import print_lines, standard_output
from onnx_lint.cli.weakened import print_weakenings, weakenings
from onnx_lint.common.deadline import alarms
from onnx_lint.common.distribution import NAME
from onnx_lint.configuration.settings import Request
from onnx_lint.engine.facts import why_not_judged
from onnx_lint.engine.lint import load_source, opened
from onnx_lint.engine.settings import Settings
from onnx_lint.inference.flow.provenance import Provenance
from onnx_lint.input.locations import shown_location
from onnx_lint.input.source import ReadError, SourceError
from onnx_lint.ir.documents.kinds import MODEL_KIND
from onnx_lint.loader.limits.not_checked import NotCheckedError, within_time
from onnx_lint.model import Model
from onnx_lint.report.file_report import InternalError
from onnx_lint.report.remarks import NOT_VERIFIED
from onnx_lint.reporters.escape import shown_path
from onnx_lint.reporters.shape_records import document, graph_parts
from onnx_lint.reporters.shape_wording import graph_title, table
from onnx_lint.version import __version__

_HOW_TO_GO_ON: Final = "To go on: only the values that depend on the crash are unknown; the others are as shown.\n"


def run_shapes(path: str, request: Request, format_name: str) -> int:
    """Show the values of the model in the file, and return the exit code.

    Raises RequestError and RunError as `cli.run.run` does.
    """
    refuse_ambiguous_input(request.paths)
    shown = shown_location(path)
    plan = Plan(request)
    settings = plan.settings_for(shown)
    if plan.configurations_of([shown]).are_any:
        print_weakenings(weakenings(plan, [shown]))
    try:
        with alarms(), within_time(settings.limits):
            return _show(path, shown, settings, format_name)
    except NotCheckedError as error:
        print_unreadable(shown, f"{shown}: {error}")
        return exit_codes.NOT_CHECKED


def _show(location: str, path: str, settings: Settings, format_name: str) -> int:
    """Show the values of the model at a location, and return the exit code. `path`: how messages name it."""
    loaded = _load(location, path, settings)
    if loaded is None:
        return exit_codes.NOT_CHECKED
    _show_values(path, loaded.provenance, format_name)
    bugs = [site for site in loaded.crashes if not site.crash.lacks_numpy]
    if len(bugs) < len(loaded.crashes):
        sys.stderr.write(f"{NOT_VERIFIED}: some shapes are unknown, since numpy is not installed\n")
    print_internal_errors([(path, InternalError.from_crash_site(site)) for site in bugs], _HOW_TO_GO_ON)
    return exit_codes.INTERNAL_ERROR if bugs else exit_codes.CLEAN


def _load(path: str, shown: str, settings: Settings) -> Model | None:
    """Return the model in the file. If there is none, print why on standard error, as a run does, and return None."""
    try:
        opening = closing(opened(path, settings))
    except (SourceError, OSError) as error:
        print_unreadable(shown, str(error))
        return None
    try:
        with opening as source:
            model = load_source(source, shown, settings, is_file=path != "-")
            # Reading is complete: nothing below looks at the data of tensors.
            problem = why_not_judged(model)
            if problem is None and model.kind != MODEL_KIND:
                problem = f"the file holds the message {model.kind}, not a model"
            if problem is None:
                _ = model.provenance
                return model
            problem = f"{shown}: {problem}"
    except ReadError as error:
        problem = f"{shown}: {error}"
    print_unreadable(shown, problem)
    return None


def _show_values(path: str, provenance: Provenance, format_name: str) -> None:
    walks = provenance.walks()
    values = sum(len(walked.graph.positions) for walked in walks)
    unknown = sum(len(walked.unknown) for walked in walks)
    if format_name == "json":
        tool, file = {"name": NAME, "version": __version__}, shown_path(path) if path == "-" else path
        head = {"version": 1, "tool": tool, "file": file, "values": values, "unknown": unknown}
        with standard_output() as stream:
            stream.writelines(document(head, "graphs", (graph_parts(provenance, walked) for walked in walks)))
        return
    tables = (chain(("", graph_title(walked)), table(provenance, walked)) for walked in walks)
    title = f"{shown_path(path)}: {values:,} values, {values - unknown:,} of known shape"
    print_lines(chain([title], chain.from_iterable(tables)))
