# SPDX-License-Identifier: Apache-2.0
"""Checks one model without a change, with the imports that it needs, and with single changes."""

from __future__ import annotations

from collections.abc import Sequence

from onnx_lint import schema
from onnx_lint.common.cached import cached_property
from onnx_lint.engine.trials.budget import TrialBudget, most_trials
from onnx_lint.engine.trials.compared_findings import ComparedFinding, ComparedFindings, compared_findings
from onnx_lint.engine.trials.import_trial import MAX_CHECKS, ImportTrial, import_trial
from onnx_lint.engine.trials.result import Trial, TrialResult
from onnx_lint.input.patched_source import unpatched
from onnx_lint.input.source import BytesSource, ReadError, Source
from onnx_lint.ir.operators.proposals import Proposal
from onnx_lint.ir.places.edits import Edit
from onnx_lint.ir.places.place import Place
from onnx_lint.ir.places.splices import EditError, Splicer
from onnx_lint.loader import load
from onnx_lint.model import Model
from onnx_lint.model.model import reloaded


class ChangedModels:
    """One model without a change, with the imports that it needs, and with single changes, within a budget."""

    def __init__(self, model: Model) -> None:
        self._model = model
        self._time = TrialBudget()
        self._model_with_imports: Model | None = None

    def release(self) -> None:
        """Release the model with other imports, if it was checked."""
        if self._model_with_imports is not None:
            self._model_with_imports.release()

    @cached_property
    def budget(self) -> TrialBudget:
        """The budget, shared between the rules that propose changes.

        Rules that are not selected have a share as well: the selection of rules does not change a hint.
        """
        if self.unchanged is not None:
            checks_of_imports = MAX_CHECKS if self.unchanged.proposed.imports else 0
            self._time.share(self._most_trials - checks_of_imports, self.unchanged.proposed.rules)
        return self._time

    @cached_property
    def unchanged(self) -> ComparedFindings | None:
        """The findings in the model without a change; None if they have too many causes."""
        return compared_findings(self._model)

    @cached_property
    def with_imports(self) -> ImportTrial | None:
        """What is known of the model with the imports that it needs; None if it needs none or there are no trials."""
        found = self.unchanged
        if found is None or not found.proposed.imports or not self._most_trials:
            return None
        trial = None  # if the time is over, or after a crash
        with self._time.time_limit(), self._model.crashes.at("trying an import"):
            trial = import_trial(found, self._model.operators, self._changed_model, self._most_trials)
        self._model_with_imports = None if trial is None else trial.model
        return trial

    def uncovered_errors_at(self, place: Place) -> Sequence[str]:
        """Return the messages of the errors that the node around a place has with the imports that the model needs."""
        if self.unchanged is None or self.with_imports is None:
            return ()
        node = self.unchanged.nodes.key_at(place)
        return () if node is None else self.with_imports.uncovered_errors.get(node, ())

    def try_change(self, proposal: Proposal, finding: ComparedFinding) -> TrialResult | None:
        """Return what a change fixes, and charge the budget.

        None if the change does not fix the finding, or causes another one; also if the time is over, or after a crash.
        """
        self.budget.charge(finding.rule)
        before = self._before  # before the time limit starts: imports are checked within one of their own
        with self.budget.time_limit(), self._model.crashes.at("trying a change"):
            return self._check_changed_model(proposal, finding, before)
        return None  # the time is over, or after a crash

    @property
    def _before(self) -> ComparedFindings | None:
        """The findings before a change: those of the model with the imports that it needs."""
        return self.unchanged if self.with_imports is None else self.with_imports.findings

    @cached_property
    def _most_trials(self) -> int:
        return 0 if self.unchanged is None else most_trials(self._model, len(self.unchanged.items))

    def _check_changed_model(
        self, proposal: Proposal, finding: ComparedFinding, before: ComparedFindings | None
    ) -> TrialResult | None:
        imports = () if self.with_imports is None else self.with_imports.edits
        edits = [*imports, *proposal.edits(self._model.operators)]
        changed = self._changed_model(edits)
        if changed is None:
            return None
        try:
            after = compared_findings(changed) if changed.loaded else None
            if before is None or after is None:
                return None
            return Trial(proposal, edits, finding, before, after).result()
        finally:
            changed.release()

    def _changed_model(self, edits: Sequence[Edit]) -> Model | None:
        """Return the model after a change; None if it cannot be made."""
        try:
            splices = self._splicer.splices_of(edits)
            patches = [each.patch for each in self._splicer.with_lengths(splices)]
            return reloaded(self._model, load, unpatched(self._source).patched(patches))
        except (EditError, ReadError):
            return None

    @cached_property
    def _source(self) -> Source:
        """The serialized document."""
        model = self._model
        return model.source if model.form == "binary" else BytesSource(schema.serialized(model.document))

    @cached_property
    def _splicer(self) -> Splicer:
        return Splicer(self._source, self._model.kind)
