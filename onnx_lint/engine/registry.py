# SPDX-License-Identifier: Apache-2.0
"""The registry: finds the rules, those that come with onnx-lint and those of plugins."""

from __future__ import annotations

import functools
import importlib
import json
import os
import pkgutil
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from types import ModuleType
from typing import Any, Final

import onnx_lint
from onnx_lint.common import package_data
from onnx_lint.common.cached import cached_property
from onnx_lint.ir.documents.kinds import NEEDS, Need
from onnx_lint.rule import Rule
from onnx_lint.spec.clauses import clauses

ENTRY_POINT_GROUP = "onnx_lint.rules"
"""Third parties name a package of rule files under this entry-point group."""

_OWN_RULES = "onnx_lint.rules"

INDEX: Final = "index.json"
"""The file beside onnx-lint's own rules that tells what has to be known of each before its file is imported."""


class RegistryError(Exception):
    """A rule that cannot be registered: a plugin is broken, or two rules share an id."""


class Registered:
    """A rule, where it comes from, its chapter and its clauses, and what it is about.

    The file of the rule is imported when the rule is asked for. There are more than a hundred such files, and most
    rules have nothing to look at in most models (docs/performance.md: rules-asked).
    """

    def __init__(
        self,
        id: str,
        chapter: str,
        module: str,
        plugin: str | None,
        *,
        clauses: Iterable[str],
        needs: Need,
        about: str | None,
        flag: Sequence[str] | None = None,
    ) -> None:
        self.id = id
        self.chapter = chapter
        self.module = module
        self.plugin = plugin
        """The name of the distribution that brings it; None for onnx-lint's own."""
        self.clauses = tuple(clauses)
        """The ids of the clauses that the rule decides."""
        self.needs = needs
        """What a document has to hold for the rule to judge it."""
        self.about = about
        """The property of a model that is false or empty where the rule finds nothing; None where it always looks."""
        self.flag = flag
        """An option of the command line, and the option of the rule that it turns on; None where there is none."""

    @cached_property
    def rule(self) -> Rule:
        """The rule itself. Raises RegistryError when the file does not hold it as it should."""
        found = list(_rules_in(importlib.import_module(self.module)))
        if len(found) != 1 or found[0].id != self.id:
            raise RegistryError(f"{self.module} does not hold the one rule {self.id!r}")
        return found[0]


def _rules_in(module: ModuleType) -> Iterator[Rule]:
    for value in vars(module).values():
        if isinstance(value, Rule) and value.check.__module__ == module.__name__:
            yield value


def _chapter(module: str) -> str:
    return module.rpartition(".")[0].rpartition(".")[2].replace("_", "-")


def _own_rules() -> Iterator[Registered]:
    """One rule for each file of the chapters; of one that the index does not tell, the file is imported.

    In an installation the index tells all; only in a checkout a rule may have come since.
    """
    package = importlib.import_module(_OWN_RULES)
    told = _index()
    if told and len(onnx_lint.__path__) == 1:
        yield from (_told(name, entry) for name, entry in told.items())
        return
    (root,) = package.__path__
    for chapter, is_package in _modules_in(root):
        if not is_package:
            continue
        for module, _ in _modules_in(os.path.join(root, chapter)):
            name = module.replace("_", "-")
            if name in told:
                yield _told(name, told[name])
            else:
                yield from _entries(f"{_OWN_RULES}.{chapter}.{module}", None)


def _told(name: str, entry: Mapping[str, Any]) -> Registered:
    module = f"{_OWN_RULES}.{entry['chapter']}.{name}".replace("-", "_")
    return Registered(name, module=module, plugin=None, **entry)


def _index() -> dict[str, dict[str, Any]]:
    """What the index tells of each rule, by its id; nothing where there is no index."""
    try:
        data = package_data.read(_OWN_RULES, INDEX)
    except FileNotFoundError:
        return {}
    found: dict[str, dict[str, Any]] = json.loads(data)
    return found


def index_entry(rule: Rule) -> dict[str, Any]:
    """What the index tells of a rule."""
    told: dict[str, Any] = {"clauses": rule.clauses, "needs": rule.needs, "about": rule.about}
    return told if rule.flag is None else told | {"flag": rule.flag}


def _entries(module: str, plugin: str | None) -> Iterator[Registered]:
    """The rules in the file of a module, which is imported."""
    for rule in _rules_in(importlib.import_module(module)):
        yield Registered(rule.id, _chapter(module), module, plugin, **index_entry(rule))


def _modules_in(folder: str) -> Iterator[tuple[str, bool]]:
    """The modules and packages in a folder, in the order of their names, and which are packages."""
    try:
        names = sorted(os.listdir(folder))
    except NotADirectoryError:
        # In a zip file, or whatever else holds packages.
        yield from ((info.name, info.ispkg) for info in pkgutil.iter_modules([folder]))
        return
    for name in names:
        stem, dot, suffix = name.partition(".")
        if stem.isidentifier() and stem.strip("_") == stem and (not dot or suffix == "py"):
            yield stem, not dot


def _rules_of_plugin(package: ModuleType, plugin: str) -> Iterator[Registered]:
    for info in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
        if info.ispkg:
            continue
        yield from _entries(info.name, plugin)


def _has_plugins() -> bool:
    """Whether an installed distribution may declare the entry-point group.

    Few installations have a plugin, for which importlib.metadata has to be imported and asked (docs/performance.md:
    entry-points). Where the answer cannot be told by looking into folders, as for a zipped path, it is yes.
    """
    for folder in dict.fromkeys(sys.path):
        try:
            names = os.listdir(folder or ".")
        except NotADirectoryError:
            return True
        except OSError:
            continue  # what does not exist holds no distribution
        for name in names:
            if name.endswith((".dist-info", ".egg-info")) and _declares_plugins(os.path.join(folder, name)):
                return True
    return False


def _declares_plugins(folder: str) -> bool:
    try:
        with open(os.path.join(folder, "entry_points.txt"), "rb", buffering=0) as file:
            return ENTRY_POINT_GROUP.encode() in file.read()
    except (FileNotFoundError, NotADirectoryError):
        return False
    except OSError:
        return True


def _plugins() -> Iterator[tuple[str, ModuleType]]:
    if not _has_plugins():
        return
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
    for entry in found:
        other = registered.get(entry.id)
        if other is not None:
            raise RegistryError(f"rule {entry.id!r} is in {other.module} and in {entry.module}")
        for clause in entry.clauses:
            if clause not in clauses():
                cited = f"cites clause {clause!r}, which does not exist"
                raise RegistryError(f"rule {entry.id!r} in {entry.module} {cited}")
        if entry.needs not in NEEDS:
            raise RegistryError(f"rule {entry.id!r} in {entry.module} needs {entry.needs!r}, which no document has")
        registered[entry.id] = entry
    return dict(sorted(registered.items()))


@functools.cache
def registry() -> Mapping[str, Registered]:
    """Every rule by its id, plugins included, in the order of their ids.

    Raises RegistryError when a plugin cannot be loaded, two rules share an id, or a rule cites an unknown clause or
    needs what no document has.
    """
    found = list(_own_rules())
    for name, package in _plugins():
        try:
            found.extend(_rules_of_plugin(package, name))
        except Exception as error:
            raise RegistryError(f"plugin {name}: {type(error).__name__}: {error}") from error
    return _register(found)
