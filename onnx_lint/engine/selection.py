# SPDX-License-Identifier: Apache-2.0
"""The rules that the settings of a run select."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from itertools import compress
from operator import attrgetter
from typing import Any, Final

from onnx_lint.common.cached import Memory
from onnx_lint.engine.census import Census
from onnx_lint.engine.registry import Registered, registry
from onnx_lint.engine.settings import ALL, SelectionError, Settings
from onnx_lint.ir.documents.kinds import KINDS
from onnx_lint.model import Model
from onnx_lint.spec.clauses import DEFAULT_EDITION, Clause, Severity, clauses, severity


def _matches(entry: Registered, keyword: str, names: Sequence[str]) -> bool:
    return bool(names) and not {ALL, entry.id, entry.chapter, keyword.upper()}.isdisjoint(names)


def presence(entry: Registered, clause: Clause, settings: Settings) -> str | None:
    """How what the rule finds against the clause, which the edition has, is there: `listed`, `counted`, or not (None).

    What is asked for by name, by `--pedantic` or by a severity of its own is listed, and so are errors.
    """
    keyword = clause.keyword[settings.standard.edition]
    if _matches(entry, keyword, settings.ignore):
        return None
    if _matches(entry, keyword, settings.extend_select):
        return "listed"
    if _matches(entry, keyword, settings.set_aside):
        return None
    if settings.select:
        return "listed" if _matches(entry, keyword, settings.select) else None
    level = severity(clause, settings.standard.edition)
    if settings.target.is_refused(clause):
        return "listed"
    if settings.pedantic or level is Severity.ERROR:
        return "listed"
    if clause.presence == "counted" and entry.id in settings.severities:
        return "listed"
    return None if clause.presence == "pedantic" else clause.presence


def applies(entry: Registered, settings: Settings) -> bool:
    """Whether any clause of the rule is in the edition and selected."""
    table = clauses()
    edition = settings.standard.edition
    return any(
        edition in table[name].keyword and presence(entry, table[name], settings) is not None for name in entry.clauses
    )


def _is_default(settings: Settings) -> bool:
    """Whether nothing is said of rules, severities or consumers: then the index tells which rules apply
    (docs/performance.md: default-rules).
    """
    names = settings.select or settings.ignore or settings.extend_select or settings.set_aside
    levels = settings.pedantic or settings.severities or settings.target.consumers
    return not names and not levels and settings.standard.edition == DEFAULT_EDITION


def selected_rules(settings: Settings) -> tuple[str, ...]:
    """The ids of the rules that a run with `settings` holds a model against."""
    return tuple(entry.id for entry in selection_of(settings).entries)


def check_selection(settings: Settings) -> None:
    """Raise SelectionError when no rule is left: a run without rules would call every model conforming."""
    if (settings.select or settings.ignore or settings.set_aside) and not selected_rules(settings):
        raise SelectionError(f"the selection leaves no rule of edition {settings.standard.edition}")


_Look = Callable[[Model], tuple[Any, ...]]
"""Gets several properties of a model, behind two others, as one alone would be no tuple."""


class Selection:
    """The rules that apply under some settings, and those of them that have something to look at in a model."""

    def __init__(self, settings: Settings, rules: Mapping[str, Registered]) -> None:
        self.settings = settings
        self.rules = rules
        is_default = _is_default(settings)
        self.entries = [
            entry
            for entry in rules.values()
            if (entry.default if is_default and entry.default is not None else applies(entry, settings))
        ]
        self._judging: dict[tuple[str, bool], list[Registered]] = {}
        self._open: dict[tuple[str, bool, frozenset[str]], tuple[list[Registered], tuple[str, ...], _Look]] = {}
        """The rules that judge a kind of file whose elements are settled or not, and what they are about, each once."""
        self._asked: dict[tuple[object, ...], list[Registered]] = {}
        self._census = Census()

    def judging(self, model: Model) -> list[Registered]:
        """The rules that a file of its kind is held against."""
        key = (model.kind, model.loaded)
        if key not in self._judging:
            held = KINDS[model.kind].holds if model.loaded else {"file"}
            self._judging[key] = [entry for entry in self.entries if entry.needs in held]
        return self._judging[key]

    def settled(self, model: Model) -> frozenset[str]:
        """The kinds of elements of which the model has none but such as earlier models had as well, and rightly."""
        return self._census.settled(model)

    def asked(self, model: Model, settled: frozenset[str] = frozenset()) -> list[Registered]:
        """Those of them that have something to look at in it; of the others no file needs to be imported.

        `settled`: the kinds of elements that need not be looked at.
        """
        key = (model.kind, model.loaded, settled)
        found = self._open.get(key)
        if found is None:
            judging = [entry for entry in self.judging(model) if entry.of not in settled]
            matters = tuple({entry.about: None for entry in judging if entry.about is not None})
            found = self._open[key] = judging, matters, attrgetter("kind", "loaded", *matters)
        judging, matters, look = found
        try:
            # All at once: to ask for one is more work than most answers are (docs/performance.md: asked-at-once).
            there = tuple(map(bool, look(model)[2:]))
        except Exception:
            there = tuple([_has(model, about) for about in matters])
        asked = self._asked.get((key, there))
        if asked is None:
            wanted = {None, *compress(matters, there)}
            asked = self._asked[key, there] = [entry for entry in judging if entry.about in wanted]
        return asked

    def note(self, model: Model, settled: Set[str], asked: Iterable[Registered], found: Set[str]) -> None:
        """Take note of a model: of the rules that were asked those of these ids had something to say, or crashed."""
        self._census.note(model, settled, asked, found)


def _has(model: Model, about: str) -> bool:
    """Whether the model has anything of what rules are about; so too where that cannot be told.

    Then the rules meet the same error, which is reported as theirs.
    """
    try:
        return bool(getattr(model, about))
    except Exception:
        return True


_kept: Final[Memory[int, Selection]] = Memory(1)
"""The last selection, under the identity of its settings, which it holds."""


def selection_of(settings: Settings) -> Selection:
    """The rules that apply under `settings`.

    The last answer is kept: a run over two thousand small models asks with the same settings each time
    (docs/performance.md: selection-kept).
    """
    rules = registry()
    found = _kept.get(id(settings))
    if found is None or found.settings is not settings or found.rules is not rules:
        found = _kept.keep(id(settings), Selection(settings, rules))
    return found
