# SPDX-License-Identifier: Apache-2.0
"""The registry: finds the rules, those that come with onnx-lint and those of plugins."""

from __future__ import annotations

import functools
import importlib
import pkgutil
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from types import ModuleType

from onnx_lint.rule import Rule
from onnx_lint.spec.clauses import clauses

ENTRY_POINT_GROUP = "onnx_lint.rules"
"""Third parties name a package of rule files under this entry-point group."""

_OWN_RULES = "onnx_lint.rules"


class RegistryError(Exception):
    """A rule that cannot be registered: a plugin is broken, or two rules share an id."""


@dataclass(frozen=True, slots=True)
class Registered:
    """A rule, where it comes from, and its chapter."""

    rule: Rule
    chapter: str
    module: str
    plugin: str | None
    """The name of the distribution that brings it; None for onnx-lint's own."""


def _modules(package: ModuleType) -> Iterator[ModuleType]:
    for info in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
        if not info.ispkg:
            yield importlib.import_module(info.name)


def _rules_of(package: ModuleType, plugin: str | None) -> Iterator[Registered]:
    for module in _modules(package):
        for value in vars(module).values():
            if isinstance(value, Rule) and value.check.__module__ == module.__name__:
                chapter = module.__name__.rpartition(".")[0].rpartition(".")[2].replace("_", "-")
                yield Registered(value, chapter, module.__name__, plugin)


def _plugins() -> Iterator[tuple[str, ModuleType]]:
    from importlib.metadata import entry_points

    for entry_point in entry_points(group=ENTRY_POINT_GROUP):
        name = entry_point.dist.name if entry_point.dist else entry_point.name
        try:
            package = entry_point.load()
        except Exception as error:
            raise RegistryError(f"plugin {name}: {type(error).__name__}: {error}") from error
        if not isinstance(package, ModuleType) or not hasattr(package, "__path__"):
            raise RegistryError(f"plugin {name}: entry point {entry_point.value!r} is not a package of rule files")
        yield name, package


def _register(found: Iterable[Registered]) -> dict[str, Registered]:
    registered: dict[str, Registered] = {}
    known = clauses()
    for entry in found:
        other = registered.get(entry.rule.id)
        if other is not None:
            raise RegistryError(f"rule {entry.rule.id!r} is in {other.module} and in {entry.module}")
        for clause in entry.rule.clauses:
            if clause not in known:
                raise RegistryError(
                    f"rule {entry.rule.id!r} in {entry.module} cites clause {clause!r}, which does not exist"
                )
        registered[entry.rule.id] = entry
    return dict(sorted(registered.items()))


@functools.cache
def registry() -> Mapping[str, Registered]:
    """Every rule by its id, plugins included, in the order of their ids.

    Raises RegistryError when a plugin cannot be loaded, two rules share an id, or a rule cites an unknown clause.
    """
    found = list(_rules_of(importlib.import_module(_OWN_RULES), None))
    for name, package in _plugins():
        try:
            found.extend(_rules_of(package, name))
        except Exception as error:
            raise RegistryError(f"plugin {name}: {type(error).__name__}: {error}") from error
    return _register(found)
