# SPDX-License-Identifier: Apache-2.0
"""Collects the bugs met while a model is checked, each once, and the work that was skipped because numpy is missing."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from onnx_lint.common.cached import exceptions_of, property_of
from onnx_lint.common.record import replace
from onnx_lint.input.source import ReadError
from onnx_lint.ir.crashes import crash_of, is_bug, is_lack_of_numpy
from onnx_lint.model import Model
from onnx_lint.report.file_report import OWN_ERRORS, InternalError
from onnx_lint.rule import RuleError
from onnx_lint.wording import quote, report_name

_Result = TypeVar("_Result")
_Default = TypeVar("_Default")


class InternalErrors:
    """The bugs with one model. Two exceptions of one type from the same line are one bug."""

    def __init__(self, model: Model) -> None:
        self._model = model
        self._errors: dict[object, InternalError] = {}
        """The errors in rules and in the engine, by `_key_of`. Analyses record theirs in `Model.crashes`."""
        self._without_numpy: dict[str, None] = {}
        """What rules and the engine could not do without numpy, in order."""

    def note(self, error: Exception, work: str | None = None, rule: str = OWN_ERRORS) -> None:
        """Record an exception in a rule, or in some other work.

        Raises ReadError and MemoryError again: they end the check of the file. An exception from a shared property
        counts as one of the property; rules that use it have not been run.
        """
        if isinstance(error, (ReadError, MemoryError)):
            raise error
        if is_lack_of_numpy(error):
            part = f"rule {quote(rule)}" if rule != OWN_ERRORS else work
            self._without_numpy[part or "the whole file"] = None
            return
        key = _key_of(error)
        known = self._errors.get(key)
        if known is None:
            self._errors[key] = _described(error, work, rule)
        elif rule not in (OWN_ERRORS, *_rules_of(known)):
            self._errors[key] = replace(known, not_run=(*known.not_run, rule))

    def unless_it_crashes(self, make: Callable[[], _Result], default: _Default, work: str) -> _Result | _Default:
        """Return the result of `make`; if it has a bug, record that and return the default."""
        try:
            return make()
        except Exception as error:
            self.note(error, work)
            return default

    def all(self) -> tuple[InternalError, ...]:
        """Return the errors, with the nodes or the part of the model at which they occurred."""
        errors = dict(self._errors)
        for error in exceptions_of(self._model):
            if is_bug(error) and not is_lack_of_numpy(error) and crash_of(error).origin not in errors:
                # Only code outside of rules has used the property.
                found = replace(InternalError.from_exception(error), work=f"computing {property_of(error)}")
                errors[crash_of(error).origin] = found
        placed: list[InternalError] = []
        for site in self._model.crashes:
            if site.crash.lacks_numpy:
                continue
            elsewhere = errors.pop(site.crash.origin, None)
            found = InternalError.from_crash_site(site)
            placed.append(found if elsewhere is None else replace(found, not_run=_rules_of(elsewhere)))
        return (*errors.values(), *placed)

    def without_numpy(self) -> tuple[str, ...]:
        """Return what was not verified because numpy, which it needs, cannot be imported. Usually that is nothing."""
        parts = dict(self._without_numpy)
        for site in self._model.crashes:
            if site.crash.lacks_numpy:
                parts[site.work if site.operator is None else f"{site.work} of {report_name(site.operator)}"] = None
        return tuple(f"{part} (it needs numpy, which is not installed)" for part in parts)


def _key_of(error: Exception) -> object:
    """Return the identity of the bug that raised an exception."""
    if isinstance(error, RuleError):
        return str(error)  # one line of onnx-lint raises those of all rules
    if is_bug(error):
        return crash_of(error).origin
    return type(error), str(error)  # a lack of memory that is no MemoryError


def _described(error: Exception, work: str | None, rule: str) -> InternalError:
    source = property_of(error)
    if source is not None and is_bug(error):
        not_run = (rule,) if rule != OWN_ERRORS else ()
        return replace(InternalError.from_exception(error), work=f"computing {source}", not_run=not_run)
    return replace(InternalError.from_exception(error, rule), work=work)


def _rules_of(error: InternalError) -> tuple[str, ...]:
    """Return the rules that a bug has stopped."""
    return error.not_run if error.rule == OWN_ERRORS else (error.rule, *error.not_run)
