# SPDX-License-Identifier: Apache-2.0
"""The registry: finds the rules, those that come with onnx-lint and those of plugins."""

from __future__ import annotations

import functools
import importlib
import os
import sys
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from types import ModuleType

from onnx_lint.cached import cached_property
from onnx_lint.model import Model
from onnx_lint.rule import Rule
from onnx_lint.spec.clauses import clauses

ENTRY_POINT_GROUP = "onnx_lint.rules"
"""Third parties name a package of rule files under this entry-point group."""

_OWN_RULES = "onnx_lint.rules"


class RegistryError(Exception):
    """A rule that cannot be registered: a plugin is broken, or two rules share an id."""


class Registered:
    """A rule, where it comes from, and its chapter. The file of the rule is imported when the rule is asked for.

    There are more than a hundred such files, to import them all takes longer than to lint a small model, and most
    chapters concern few models.
    """

    def __init__(self, id: str, chapter: str, clauses: tuple[str, ...], module: str, plugin: str | None) -> None:
        self.id = id
        self.chapter = chapter
        self.clauses = clauses
        """The ids of the clauses that the rule decides."""
        self.module = module
        self.package = module.rpartition(".")[0]
        self.plugin = plugin
        """The name of the distribution that brings it; None for onnx-lint's own."""

    @cached_property
    def rule(self) -> Rule:
        """The rule itself. Raises RegistryError when the file does not hold it as it should."""
        found = list(_rules_in(importlib.import_module(self.module)))
        if len(found) != 1 or found[0].id != self.id:
            raise RegistryError(f"{self.module} does not hold the one rule {self.id!r}")
        return found[0]

    @property
    def of_file(self) -> bool:
        """Whether the rule judges the file's bytes; of onnx-lint's own, those of the chapter `file` may."""
        return (self.plugin is not None or self.chapter == "file") and self.rule.of_file

    @property
    def of_run(self) -> bool:
        """Whether the rule judges what the other rules left out, and so comes last."""
        return self.of_file and self.rule.of_run


Concern = bool | frozenset[str]
"""Whether a chapter has anything to say about a model, or the ids of the rules that do."""


def concern_of(package: str, model: Model) -> Concern:
    """Whether `model` has anything that the chapter with this package is about.

    The package says so with a function `concerns`; one that has none concerns every model.
    """
    concerns = _concerns(package)
    if concerns is None:
        return True
    found = concerns(model)
    return found if isinstance(found, bool) else frozenset(found)


@functools.cache
def _concerns(package: str) -> Callable[[Model], bool | Collection[str]] | None:
    found: Callable[[Model], bool | Collection[str]] | None
    found = getattr(importlib.import_module(package), "concerns", None)
    return found


def _rules_in(module: ModuleType) -> Iterator[Rule]:
    for value in vars(module).values():
        if isinstance(value, Rule) and value.check.__module__ == module.__name__:
            yield value


def _chapter(module: str) -> str:
    return module.rpartition(".")[0].rpartition(".")[2].replace("_", "-")


def _own_rules() -> Iterator[Registered]:
    """One rule for each file of the chapters, with the clauses that name it; a test holds that the rule agrees."""
    cited: dict[str, list[str]] = {}
    for clause in clauses().values():
        for rule in clause.rules:
            cited.setdefault(rule, []).append(clause.id)
    (root,) = importlib.import_module(_OWN_RULES).__path__
    for chapter, is_package in _modules_in(root):
        if is_package:
            for module, _ in _modules_in(os.path.join(root, chapter)):
                name = module.replace("_", "-")
                path = f"{_OWN_RULES}.{chapter}.{module}"
                yield Registered(name, chapter.replace("_", "-"), tuple(cited.get(name, ())), path, None)


def _modules_in(folder: str) -> Iterator[tuple[str, bool]]:
    """The modules and packages in a folder, in the order of their names, and which are packages."""
    try:
        names = sorted(os.listdir(folder))
    except NotADirectoryError:
        import pkgutil

        # In a zip file, or whatever else holds packages.
        yield from ((info.name, info.ispkg) for info in pkgutil.iter_modules([folder]))
        return
    for name in names:
        stem, dot, suffix = name.partition(".")
        if stem.isidentifier() and stem.strip("_") == stem and (not dot or suffix == "py"):
            yield stem, not dot


def _rules_of_plugin(package: ModuleType, plugin: str) -> Iterator[Registered]:
    import pkgutil

    for info in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
        if info.ispkg:
            continue
        module = importlib.import_module(info.name)
        for rule in _rules_in(module):
            yield Registered(rule.id, _chapter(info.name), rule.clauses, info.name, plugin)


def _has_plugins() -> bool:
    """Whether an installed distribution may declare the entry-point group.

    importlib.metadata takes 20 ms to import and to ask, a tenth of a run on a small model, and few installations have
    a plugin. Where the answer cannot be told by looking into folders, as for a zipped path, it is yes.
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
    known = clauses()
    for entry in found:
        other = registered.get(entry.id)
        if other is not None:
            raise RegistryError(f"rule {entry.id!r} is in {other.module} and in {entry.module}")
        for clause in entry.clauses:
            if clause not in known:
                cited = f"cites clause {clause!r}, which does not exist"
                raise RegistryError(f"rule {entry.id!r} in {entry.module} {cited}")
        registered[entry.id] = entry
    return dict(sorted(registered.items()))


@functools.cache
def registry() -> Mapping[str, Registered]:
    """Every rule by its id, plugins included, in the order of their ids.

    Raises RegistryError when a plugin cannot be loaded, two rules share an id, or a rule cites an unknown clause.
    """
    found = list(_own_rules())
    for name, package in _plugins():
        try:
            found.extend(_rules_of_plugin(package, name))
        except Exception as error:
            raise RegistryError(f"plugin {name}: {type(error).__name__}: {error}") from error
    return _register(found)
