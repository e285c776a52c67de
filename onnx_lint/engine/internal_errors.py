# SPDX-License-Identifier: Apache-2.0
"""Collects the bugs that are met while a model is judged, so that each is reported once."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from onnx_lint.common.cached import exceptions_of, property_of
from onnx_lint.common.record import replace
from onnx_lint.input.source import ReadError
from onnx_lint.ir.crashes import crash_of, is_bug
from onnx_lint.model import Model
from onnx_lint.report import OWN_ERRORS, InternalError

_Part = TypeVar("_Part")
_Instead = TypeVar("_Instead")


class InternalErrors:
    """The bugs that were met with one model. Two exceptions of one type that one line raised are one bug."""

    def __init__(self, model: Model) -> None:
        self._model = model
        self._errors: dict[object, InternalError] = {}
        """The errors outside of the analyses that take note of bugs themselves, by what tells one bug from another."""

    @property
    def are_any(self) -> bool:
        """Whether any bug was met so far."""
        return bool(self._errors or len(self._model.crashes) or exceptions_of(self._model))

    def note(self, error: Exception, work: str | None = None, rule: str = OWN_ERRORS) -> None:
        """Note an exception in a rule, or else in some work. Raise it again where the file has no verdict then.

        An exception that a shared property raised is that of the property; rules that meet it have not been run.
        """
        if isinstance(error, (ReadError, MemoryError)):
            raise error
        key = crash_of(error).origin if is_bug(error) else id(error)
        not_run = (rule,) if rule != OWN_ERRORS else ()
        known = self._errors.get(key)
        source = property_of(error)
        if known is not None:
            self._errors[key] = replace(known, not_run=(*known.not_run, *not_run))
        elif source is not None and is_bug(error):
            self._errors[key] = replace(InternalError.of(error), work=f"computing {source}", not_run=not_run)
        else:
            self._errors[key] = replace(InternalError.of(error, rule), work=work)

    def unless_it_crashes(self, make: Callable[[], _Part], otherwise: _Instead, work: str) -> _Part | _Instead:
        """Return what `make` returns, or else `otherwise`; a bug there is noted."""
        try:
            return make()
        except Exception as error:
            self.note(error, work)
            return otherwise

    def all(self) -> tuple[InternalError, ...]:
        """Return the errors. One that was met at nodes, or in a part of the model, names these."""
        errors = dict(self._errors)
        for error in exceptions_of(self._model):
            if is_bug(error) and crash_of(error).origin not in errors:
                # No rule has met it.
                found = replace(InternalError.of(error), work=f"computing {property_of(error)}")
                errors[crash_of(error).origin] = found
        placed: list[InternalError] = []
        for site in self._model.crashes:
            elsewhere = errors.pop(site.crash.origin, None)
            found = InternalError.at(site)
            placed.append(found if elsewhere is None else replace(found, not_run=_rules_of(elsewhere)))
        return (*errors.values(), *placed)


def _rules_of(error: InternalError) -> tuple[str, ...]:
    """Return the rules that met a bug."""
    return error.not_run if error.rule == OWN_ERRORS else (error.rule, *error.not_run)
