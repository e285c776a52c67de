# SPDX-License-Identifier: Apache-2.0
"""The registry: finds the rules, those that come with onnx-lint and those of plugins."""

from __future__ import annotations

import functools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from importlib import import_module
from types import ModuleType
from typing import Any, Final

from onnx_lint.common import package_data
from onnx_lint.common.cached import cached_property
from onnx_lint.common.record import Record, replace
from onnx_lint.engine import plugins
from onnx_lint.engine.plugins import RegistryError as RegistryError
from onnx_lint.ir.documents.kinds import NEEDS, Need
from onnx_lint.rule import Rule, RuleSubject
from onnx_lint.spec.clauses import Clause, declare, specified_clauses

_OWN_RULES = "onnx_lint.rules"

INDEX: Final = "index.json"
"""The file beside the built-in rules with the facts about each that are needed before it is imported."""

PAGES: Final = "documentation.json"
"""The file beside them with the documentation of each, for reports."""


class RuleFacts(Record):
    """The facts about a rule that are needed before it is imported. The index has those of the built-in rules."""

    chapter: str
    clauses: Sequence[str]
    """The ids of the clauses that the rule checks."""
    needs: Need
    """The parts that a document must have for the rule to check it."""
    about: RuleSubject | None
    """What is false or empty for a model if the rule finds nothing; None if the rule always runs."""
    flag: Sequence[str] | None = None
    """An option of the command line, and the option of the rule that it turns on; None if there is none."""
    security: Sequence[str] = ()
    """The vulnerabilities that a model that breaks the rule exploits."""
    by_default: str | None = None
    """How its findings are reported with the default settings: `listed`, `counted`, or `none` for not at all; None if
    the clauses must be asked.
    """


class Registered:
    """A rule with its source and the facts about it.

    The file of the rule is imported when the rule is used. There are more than a hundred such files, and most rules
    have nothing to check in most models (docs/performance.md: rules-asked).
    """

    def __init__(self, id: str, module: str, plugin: str | None, facts: RuleFacts) -> None:
        self.id = id
        self.module = module
        self.plugin = plugin
        """The name of the distribution with the rule; None for built-in rules."""
        self.chapter = facts.chapter
        self.clauses = tuple(facts.clauses)
        self.needs = facts.needs
        self.about = facts.about
        self.flag = facts.flag
        self.security = tuple(facts.security)
        self.by_default = facts.by_default

    @property
    def documentation(self) -> str:
        """The documentation of the rule. That of a built-in rule is known without importing the rule."""
        return _pages().get(self.id) or self.rule.documentation

    @property
    def summary(self) -> str:
        """The first line of the documentation: what is wrong, in one sentence."""
        return self.documentation.partition("\n")[0]

    @property
    def first_step(self) -> str:
        """The first sentence of the section "How to fix"; empty if the section begins with a list or a command."""
        import re  # late, as few runs need it

        paragraph = self.documentation.partition("### How to fix\n\n")[2].partition("\n\n")[0]
        found = re.match(r"[^`\s-].*?\.(?= [A-Z`]|\Z)", " ".join(paragraph.split()))
        return found.group() if found is not None else ""

    @cached_property
    def rule(self) -> Rule:
        """The rule itself. Raises RegistryError if the file does not hold exactly this rule."""
        found = list(rules_in(import_module(self.module)))
        if len(found) != 1 or found[0].id != self.id:
            raise RegistryError(f"{self.module} does not hold the one rule {self.id!r}")
        return found[0]


def rules_in(module: ModuleType) -> Iterator[Rule]:
    """Yield the rules that a module defines."""
    for value in vars(module).values():
        if isinstance(value, Rule) and value.check.__module__ == module.__name__:
            yield value


def _chapter(module: str) -> str:
    return module.rpartition(".")[0].rpartition(".")[2].replace("_", "-")


def _own_rules() -> Iterator[Registered]:
    """Yield the rules of the index. `python -m tools.catalogue` writes it."""
    for name, entry in _by_rule(INDEX).items():
        module = f"{_OWN_RULES}.{entry['chapter']}.{name}".replace("-", "_")
        yield Registered(name, module, None, RuleFacts(**entry))


@functools.cache
def _pages() -> dict[str, str]:
    """Return the documentation of the built-in rules by rule id."""
    return _by_rule(PAGES)


def _by_rule(name: str) -> dict[str, Any]:
    """Return what a file beside the built-in rules has of each."""
    found: dict[str, Any] = package_data.read_json(_OWN_RULES, name)
    return found


def index_entry(rule: Rule) -> dict[str, Any]:
    """Return the entry of a rule in the index, without its chapter."""
    found = {"clauses": rule.clauses, "needs": rule.needs, "about": rule.about}
    more = {"flag": rule.flag, "security": rule.security}
    return found | {name: value for name, value in more.items() if value}


def entry_of(rule: Rule, chapter: str, module: str, plugin: str | None) -> Registered:
    """Return the entry of a rule whose file is imported."""
    entry = Registered(rule.id, module, plugin, RuleFacts(chapter, **index_entry(rule)))
    entry.rule = rule
    return entry


def _own_clauses(entries: Iterable[Registered]) -> dict[str, Clause]:
    """Return the clauses that the rules of plugins declare, by their ids. Raises RegistryError if an id is taken."""
    specified = specified_clauses()
    prefixes = {name.partition("-")[0] for name in specified}
    found: dict[str, Clause] = {}
    for entry in entries:
        for clause in entry.rule.own_clauses if entry.plugin is not None else ():
            where = f"rule {entry.id!r} in {entry.module}: clause {clause.id!r}"
            clause = replace(clause, declared_by=entry.plugin)
            if clause.id in specified or found.setdefault(clause.id, clause) != clause:
                raise RegistryError(f"{where} is declared already")
            if (prefix := clause.id.partition("-")[0]) in prefixes:
                raise RegistryError(f"{where}: the prefix {prefix!r} belongs to the specification")
    return found


def registered(found: Iterable[Registered]) -> _Registry:
    """Return the registry of these rules. Raises RegistryError as `registry` does."""
    rules: dict[str, Registered] = {}
    for entry in found:
        other = rules.get(entry.id)
        if other is not None:
            raise RegistryError(f"rule {entry.id!r} is in {other.module} and in {entry.module}")
        if entry.needs not in NEEDS:
            raise RegistryError(f"rule {entry.id!r} in {entry.module} needs {entry.needs!r}, which no document has")
        rules[entry.id] = entry
    own = _own_clauses(rules.values())
    known = {*own, *specified_clauses()}
    for entry in rules.values():
        unknown = [clause for clause in entry.clauses if clause not in known]
        if unknown:
            where = f"rule {entry.id!r} in {entry.module}"
            raise RegistryError(f"{where} cites clause {unknown[0]!r}, which does not exist")
    return _Registry(dict(sorted(rules.items())), own)


def registry() -> Mapping[str, Registered]:
    """Return every rule by its id, in order: those of onnx-lint, of installed plugins and of the plugin files in use.

    Raises RegistryError if a plugin cannot be loaded, two rules share an id, or a rule cites an unknown clause or needs
    what no document has.
    """
    try:
        found = _registry_with(plugins.files_in_use())
        declare(found.own_clauses)
        return found.entries
    except RegistryError:
        plugins.use_files(())  # a file that cannot be used must not spoil what comes after the error
        raise


class _Registry(Record):
    """The rules by their ids, and the clauses that plugins declare by theirs."""

    entries: Mapping[str, Registered]
    own_clauses: Mapping[str, Clause]


@functools.cache
def _registry_with(files: tuple[str, ...]) -> _Registry:
    found = list(_own_rules())
    for name, module in plugins.modules(files):
        chapter = plugins.chapter_of_file(module.__name__) if module.__name__ in files else _chapter(module.__name__)
        rules = [entry_of(rule, chapter, module.__name__, name) for rule in rules_in(module)]
        if not rules and module.__name__ in files:
            raise RegistryError(f"plugin {module.__name__} has no rule", module.__name__)
        found += rules
    return registered(found)
