# SPDX-License-Identifier: Apache-2.0
"""Judges a model by the programs and versions that `--target` names.

Changes the severity of findings and adds a line about each program to them (`effects`), and yields the verdict for each
program and version (`program_verdicts`, `version_verdicts`). The target does not change whether a model conforms to
ONNX. The selection of rules (`selection.presence`) and a few rules, such as `linked-external-file`, read the target as
well.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

from onnx_lint.engine.settings import Settings
from onnx_lint.engine.targets.effects import with_effects
from onnx_lint.engine.targets.neighbours import with_errors_if_neighbours_refuse
from onnx_lint.engine.targets.program_verdicts import program_verdicts
from onnx_lint.engine.targets.row_exceptions import RowExceptions
from onnx_lint.engine.targets.version_verdicts import version_verdicts
from onnx_lint.model import Model
from onnx_lint.report.file_report import TargetVerdict
from onnx_lint.report.findings import Diagnostic


class TargetJudge:
    """Judges a model by the target of the settings. Looks up facts about the model once, for findings and verdicts."""

    def __init__(self, model: Model, settings: Settings) -> None:
        self._exceptions = RowExceptions(model)
        self._settings = settings

    def with_target(self, found: list[Diagnostic]) -> list[Diagnostic]:
        """Return the findings with a line about each program, and with the severity for the target."""
        if not self._settings.target.programs:
            return found
        judged = [with_effects(item, self._exceptions, self._settings) for item in found]
        return with_errors_if_neighbours_refuse(judged, self._exceptions, self._settings)

    def verdicts(
        self, found: Sequence[Diagnostic], rules: Collection[str], left_out: Sequence[str], unjudged: Sequence[str]
    ) -> Iterator[TargetVerdict]:
        """Yield the verdict for each program, and for each version of the target.

        `found`: all findings in the file. `rules`: those that checked it. `left_out`: what the settings left out, in
        words. `unjudged`: what else was not judged.
        """
        not_checked = (*left_out, *unjudged)
        yield from program_verdicts(self._exceptions, self._settings, found, rules=rules, not_checked=not_checked)
        yield from version_verdicts(self._exceptions.model, self._settings, found, rules=rules, unjudged=unjudged)
