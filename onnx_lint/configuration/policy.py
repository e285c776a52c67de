# SPDX-License-Identifier: Apache-2.0
"""The table `policy`: what the user requires of models, as options of the rules that check it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from onnx_lint.common.record import EMPTY, Record
from onnx_lint.configuration.values import SetValue, SetValues
from onnx_lint.engine.value_kinds import Path
from onnx_lint.input.limits import parse_size
from onnx_lint.spec.clauses import clauses
from onnx_lint.spec.domains import misspelled_domain, shown_domain
from onnx_lint.spec.releases import is_onnx_domain, normalized_domain
from onnx_lint.wording import suggestion

_CLAUSES: Final = {
    "operators": "POL-1",
    "domains": "POL-2",
    "opsets": "POL-3",
    "element-types": "POL-4",
    "ir-version": "POL-5",
    "metadata": "POL-6",
    "weight-types": "POL-4",
    "producers": "POL-6",
    "inputs": "POL-7",
    "outputs": "POL-7",
    "only-listed": "POL-7",
    "max-size": "POL-8",
    "max-nodes": "POL-8",
    "max-parameters": "POL-8",
}
"""The clause of each entry of the table."""

_TABLES: Final = frozenset({"operators", "domains", "element-types"})
"""The entries whose keys are options of the rule. Every other entry is one option."""


class Policy(Record):
    """A policy, as options of rules."""

    options: Mapping[str, Mapping[str, Any]] = EMPTY
    """The options by rule id. The rules are those that the policy turns on."""
    files: Mapping[str, str] = EMPTY
    """The file of each entry, such as `operators.forbid`."""


def policy_in(values: SetValues) -> Policy:
    """Return the policy in the values of a configuration."""
    options: dict[str, dict[str, Any]] = {}
    files: dict[str, str] = {}
    for path, value in values.items():
        rule = rule_of(path) if path[0] == "policy" else None
        if rule is None or (len(path) == 2 and value.value == {}):  # a table without keys requires nothing
            continue
        _, entry, *names = path
        if path[2:]:
            _check_names(entry, path, value)
        option = [] if entry in _TABLES else [entry.replace("-", "_")]
        found = options.setdefault(rule, {})
        *outer, last = [*option, *names]
        for name in outer:
            found = found.setdefault(name, {})
        found[last] = _plain(entry, value.value)
        # An input has entries of its own, and a finding is about all of them.
        files.setdefault(".".join([entry, *names[:1]]), value.origin.shown)
        if names[1:] == ["shape"]:
            _check_has_shape(path, value, values.get((*path[:-1], "type")))
    _check_has_lists(values)
    return Policy(options, files)


_ONLY_LISTED: Final = ("policy", "only-listed")


def _check_has_lists(values: SetValues) -> None:
    """Raise ConfigurationError if only listed inputs or outputs are allowed, and there is no such list."""
    listed = values.get(_ONLY_LISTED)
    if listed is None:
        return
    tables = {path[1] for path in values if path[0] == "policy"}
    for each in listed.value:
        if each not in tables:
            message = (
                f"{each!r} requires a table [policy.{each}] with the names; an empty one, {each} = {{}}, allows none"
            )
            raise listed.error(_ONLY_LISTED, message)


def _check_has_shape(path: Path, value: SetValue, kind: SetValue | None) -> None:
    """Raise ConfigurationError for a shape of a value whose type has none, such as a sequence."""
    if kind is not None and kind.value.startswith(("seq(", "optional(", "map(", "opaque(")):
        raise value.error(path, f"requires a tensor, but 'type' is {kind.value!r}, which has no shape")


def rule_of(path: Path) -> str | None:
    """Return the rule that checks an entry of the policy; None for the empty table."""
    return clauses()[_CLAUSES[path[1]]].rules[0] if len(path) > 1 else None


def check_domains(path: Path, value: SetValue) -> None:
    """Raise ConfigurationError for a misspelled domain in a list of registered domains, and for one of ONNX."""
    _check_names("domains", path, value)
    for domain in value.value:
        if is_onnx_domain(normalized_domain(domain)):
            raise value.error(path, f"{domain!r} is a domain of ONNX, whose operators need no registration")


def check_option(path: Path, value: SetValue) -> None:
    """Raise ConfigurationError for a misspelled domain or operator in an option of a rule that a policy also sets."""
    for entry in ("operators", "domains"):
        if rule_of(("policy", entry)) == path[1]:
            _check_names(entry, path, value)


def _check_names(entry: str, path: Path, value: SetValue) -> None:
    """Raise ConfigurationError for a misspelled domain, or for an operator that its domain does not have."""
    names = {"operators": value.value, "domains": value.value, "opsets": [path[-1]]}.get(entry)
    if names is None:
        return
    from onnx_lint.spec.operators import known_domains

    domains = [shown_domain(domain) for domain in known_domains()]
    for name in names:
        domain, _, operator = name.rpartition("::") if entry == "operators" else (name, "", "")
        domain = shown_domain(domain)
        if entry == "domains" and "=" in domain:
            raise value.error(path, f"{domain!r} is no domain; [policy.opsets] has the versions of domains")
        if domain not in domains:
            _check_domain(domain, domains, path, value)
        elif operator:
            _check_operator(operator, domain, path, value, is_qualified="::" in name)


def _check_domain(domain: str, known: Sequence[str], path: Path, value: SetValue) -> None:
    """Raise ConfigurationError for a misspelled domain. One that resembles no other may be the user's own."""
    near = misspelled_domain(domain, known) if _WILDCARDS.isdisjoint(domain) else None
    if near is not None:
        raise value.error(path, f"unknown domain {domain!r}; did you mean {near!r}?")


def _check_operator(operator: str, domain: str, path: Path, value: SetValue, *, is_qualified: bool) -> None:
    """Raise ConfigurationError for an operator that a known domain does not have, or a pattern that matches none.

    A domain that ONNX does not define, such as `com.microsoft`, may have newer operators: there only a misspelled name
    is an error. `is_qualified`: whether the domain is written; otherwise a pattern may match names of other domains.
    """
    from onnx_lint.spec.operators import onnxruntime_default_domain, operator_names
    from onnx_lint.spec.operators.history import REMOVED_EXPERIMENTAL

    removed = (*REMOVED_EXPERIMENTAL, *onnxruntime_default_domain())
    known = operator_names(domain) + (() if normalized_domain(domain) else removed)
    is_onnx = is_onnx_domain(normalized_domain(domain))
    if not _WILDCARDS.isdisjoint(operator):
        from fnmatch import fnmatchcase

        if is_qualified and is_onnx and not any(fnmatchcase(each, operator) for each in known):
            raise value.error(path, f"{domain} has no operator that matches {operator!r}")
        return
    if operator in known:
        return
    more = suggestion(operator, known)
    if is_onnx or more:
        raise value.error(path, f"{domain} has no operator {operator!r}{more}")


_WILDCARDS: Final = frozenset("*?[")
"""The characters that make a name a pattern, as in fnmatch."""


def _plain(entry: str, value: Any) -> Any:
    if entry == "max-size" and isinstance(value, str):
        return parse_size(value)
    return str(value) if entry in {"opsets", "ir-version"} else value
