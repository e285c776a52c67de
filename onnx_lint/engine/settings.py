# SPDX-License-Identifier: Apache-2.0
"""The settings of a run: the edition, the rules, and their options."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterable, Mapping, Set
from typing import TYPE_CHECKING, Any, Final

from onnx_lint.common.record import EMPTY, Record
from onnx_lint.engine.plugins import use_files
from onnx_lint.engine.registry import registry
from onnx_lint.input.limits import DEFAULT_LIMITS, Limits
from onnx_lint.ir.documents.kinds import kind_of
from onnx_lint.rule import Rule
from onnx_lint.spec.clauses import KEYWORDS, Severity, clauses
from onnx_lint.spec.operators import BUILT_IN, OperatorSchemas
from onnx_lint.spec.releases import check_opset_version
from onnx_lint.spec.standard import DEFAULT_STANDARD, Standard
from onnx_lint.spec.target import NO_TARGET, Target
from onnx_lint.wording import quote, quote_some, suggestion

if TYPE_CHECKING:
    from onnx_lint.engine.suppressions import Suppression

ALL = "ALL"
"""The selector of every rule, including pedantic findings."""


PARTS: Final = ("counts", "edits", "operators")
"""The parts of a file's report that only some formats show: how many findings are only counted, the edits of fixes with
their bytes, and how often the file uses each operator."""


SEVERITY_NAMES: Final = frozenset(level.label for level in Severity)
"""Selectors of clauses by the severity of their keyword in the edition."""


class SelectionError(ValueError):
    """A name in a selection that is not a rule, chapter or severity. The text suggests the nearest."""


class OptionError(SelectionError):
    """A value that an option of a rule does not allow."""

    def __init__(self, rule: str, path: tuple[str, ...], reason: str) -> None:
        super().__init__(f"option {'.'.join(path)!r} of rule {rule!r} {reason}")
        self.path = path
        """The option and, in its tables, the keys below it."""
        self.reason = reason


class Settings(Record):
    """The settings of a check: the edition, the rules, and their options."""

    standard: Standard = DEFAULT_STANDARD
    select: tuple[str, ...] = ()
    """Rule ids, chapters, severities or `ALL`; empty for the default set."""
    ignore: tuple[str, ...] = ()
    pedantic: bool = False
    """True to check also the clauses that nearly every real model violates and nobody can act on."""
    options: Mapping[str, Mapping[str, Any]] = EMPTY
    """Options by rule id."""
    external_data: bool = True
    """True to look up the files of external data."""
    follow_links: bool = False
    """True to follow links to external data inside the folder of the model; by `fix` also a link to the model."""
    external_data_roots: tuple[str, ...] = ()
    """Further folders into which links to external data are followed."""
    extend_select: tuple[str, ...] = ()
    """Selectors to report in addition to `select` or the default set."""
    severities: Mapping[str, Severity] = EMPTY
    """Severities by rule id, in place of those of the clauses."""
    opset_schemas: tuple[str, ...] = ()
    """Paths of schema files, which describe the operators of further domains."""
    limits: Limits = DEFAULT_LIMITS
    """The limits on files and on reports."""
    set_aside: tuple[str, ...] = ()
    """Selectors not to report unless `extend_select` names them: those that a configuration ignores."""
    target: Target = NO_TARGET
    """The intended consumer of the models."""
    target_gate: str = "violations"
    """What of a program of the target fails a run, one of `onnx_lint.spec.target.TARGET_GATES`."""
    proto: str | None = None
    """The message that the files hold, such as `TensorProto`; None to recognize it by the content."""
    opset_imports: Mapping[str, int] = EMPTY
    """Operator set versions by domain, for graphs and nodes without a model that imports them."""
    plugins: tuple[str, ...] = ()
    """The absolute paths of plugin files, whose rules run beside the others."""
    policy_files: Mapping[str, str] = EMPTY
    """The file of each entry of the policy, such as `operators.forbid`. Its values are in `options`."""
    suppressions: tuple[Suppression, ...] = ()
    """The findings to suppress. None of them has expired."""
    has_baseline: bool = False
    """True to identify each finding also by what is around it (`BaselineIdentity`)."""
    parts: tuple[str, ...] = PARTS
    """Those of `PARTS` that a report of the run shows. The others are not computed."""

    def __post_init__(self) -> None:
        """Check the settings, wherever they are made, also in another process: so each holder can rely on them.

        Plugin files are loaded, and schema files are read. Raises SelectionError and other ValueErrors, and OSError.
        """
        if self.plugins:  # the names below may be those of their rules, also where settings are unpickled
            use_files(self.plugins)
        for name in (*self.select, *self.ignore, *self.extend_select, *self.set_aside):
            check_selector(name)
        for rule in self.severities:
            check_rule(rule)
        for rule, options in self.options.items():
            check_options(rule, options)
        schemas_of(self)
        for folder in self.external_data_roots:
            if not os.path.isdir(folder):
                raise NotADirectoryError(errno.ENOTDIR, "is not a directory", folder)
        if self.proto is not None:
            kind_of(self.proto)
        for domain, version in self.opset_imports.items():
            check_opset_version(domain, version)


def selectors() -> set[str]:
    """Return every name that a selection may contain."""
    entries = registry().values()
    return {entry.id for entry in entries} | {entry.chapter for entry in entries} | SEVERITY_NAMES | {ALL}


def names_of(values: Iterable[str]) -> tuple[str, ...]:
    """Return the names in comma-separated lists, in the spelling of a selector if only the case differs."""
    names = [name.strip() for value in values for name in value.split(",")]
    known = selectors() if names else set()
    return tuple(dict.fromkeys(_spelled(name, known) for name in names if name))


def _spelled(name: str, known: Set[str]) -> str:
    """Return the name in the case in which it is known; the name itself if it is unknown."""
    for spelling in (name, name.upper(), name.lower()):
        if spelling in known:
            return spelling
    return name


def check_rule(name: str) -> None:
    """Raise SelectionError unless `name` is a rule id."""
    if name in registry():
        return
    if name in selectors():
        kind = "a chapter" if name not in SEVERITY_NAMES | {ALL} else "a name for several"
        raise SelectionError(f"requires the id of a rule; {name!r} is {kind}")
    raise SelectionError(f"unknown rule {name!r}{_hint_for_rule(name, registry())}")


def check_selector(name: str) -> None:
    """Raise SelectionError unless `name` is a rule id, a chapter, a severity or ALL."""
    known = selectors()
    if name not in known:
        raise SelectionError(f"unknown rule {name!r}{_hint_for_rule(name, known)}")


def check_options(rule: str, options: Mapping[str, Any]) -> None:
    """Raise SelectionError unless the rule exists, and has these options, of these types."""
    check_rule(rule)
    from onnx_lint.common.option_types import OptionTypeError, as_option

    known = registry()[rule].rule.option_types
    for name, value in options.items():
        if name not in known:
            others = f"; its options are {', '.join(known)}" if known else "; it has none"
            raise SelectionError(f"rule {rule!r} has no option {name!r}{suggestion(name, known) or others}")
        _check_kind(rule, name, value)
        try:
            as_option(value, known[name])
        except OptionTypeError as error:
            raise OptionError(rule, (name,), str(error)) from error


def _check_kind(rule: str, option: str, value: Any) -> None:
    """Raise SelectionError for a value that is not of the kind that the rule names for its option."""
    kinds = registry()[rule].rule.kinds
    if option not in kinds:
        return
    from onnx_lint.engine.checked_values import ValueKindError, checked_values
    from onnx_lint.engine.option_kinds import OPTION_KINDS

    kind = OPTION_KINDS.get(kinds[option])
    if kind is None:
        others = f"the kinds are {', '.join(OPTION_KINDS)}"
        raise OptionError(rule, (option,), f"names the unknown kind {kinds[option]!r} in the rule itself; {others}")
    try:
        list(checked_values((option,), _plain(value), kind))
    except ValueKindError as error:
        raise OptionError(rule, error.path, str(error)) from error


def _plain(value: Any) -> Any:
    """Return a value as TOML has it: lists in place of tuples and sets."""
    if isinstance(value, Mapping):
        return {name: _plain(item) for name, item in value.items()}
    return [_plain(item) for item in value] if isinstance(value, list | tuple | set | frozenset) else value


def options_of(rule: Rule, settings: Settings) -> dict[str, Any]:
    """Return the options of the rule with the types of its parameters: a list of TOML may have to become a tuple."""
    given = settings.options.get(rule.id)
    if not given:
        return {}
    from onnx_lint.common.option_types import as_option

    wanted = rule.option_types
    return {name: as_option(value, wanted[name]) for name, value in given.items()}


def schemas_of(settings: Settings) -> OperatorSchemas:
    """Return the known operators. Raises OSError or SchemaFileError (a ValueError) for a faulty schema file."""
    if not settings.opset_schemas:
        return BUILT_IN
    from onnx_lint.spec.operators.schema_file import operator_schemas

    return operator_schemas(settings.opset_schemas)


def trusted_folders(directory: str | None, settings: Settings) -> tuple[str, ...]:
    """Return the folders into which links to external data are followed, for a model in a directory."""
    roots = settings.external_data_roots
    return (directory, *roots) if settings.follow_links and directory is not None else roots


def _hint_for_rule(name: str, known: Iterable[str]) -> str:
    """Return the hint after `unknown rule NAME`; `known` are the allowed names.

    For a clause it names the rules that check it, and for a keyword its severity.
    """
    known = list(known)
    clause = clauses().get(name.upper())
    if clause is not None:
        return f"; it is a clause, which {_checked_by(clause.rules)}"
    level = next((level for word, level in KEYWORDS.items() if word.lower() == name.strip().lower()), None)
    if level is not None:
        return f"; it is a keyword, whose clauses {quote(level.label)} selects"
    spelling = name.strip().lower().replace("_", "-").replace(" ", "-")
    same = next((other for other in known if other.lower() == spelling and other != name), None)
    if same is not None:
        return f"; did you mean {quote(same)}?"
    return suggestion(name, known) or "; 'onnx-lint rules' lists the rules and chapters"


def _checked_by(rules: tuple[str, ...]) -> str:
    if not rules:
        return "no rule checks"
    return f"{quote_some(rules, 5)} {'checks' if len(rules) == 1 else 'check'}"
