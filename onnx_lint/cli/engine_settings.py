# SPDX-License-Identifier: Apache-2.0
"""Makes the settings of the engine from a request."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, Final

from onnx_lint.configuration.errors import RequestError, RunError
from onnx_lint.engine.registry import registry
from onnx_lint.engine.selection import check_selection
from onnx_lint.engine.settings import Settings, names_of
from onnx_lint.input.limits import DEFAULT_LIMITS
from onnx_lint.spec.clauses import Severity
from onnx_lint.spec.operators import SchemaFileError
from onnx_lint.spec.standard import Standard
from onnx_lint.spec.target import Target, target_of

if TYPE_CHECKING:
    from onnx_lint.configuration.settings import Request
    from onnx_lint.engine.suppressions import Suppression
    from onnx_lint.input.limits import Limits

WITH_BASELINE: Final = {"findings_per_rule": 100_000, "findings": 1_000_000}
"""The limits on findings if there is a baseline. With lower limits, findings beyond them would appear as new later."""


def engine_settings(request: Request, plugins: tuple[str, ...], parts: tuple[str, ...]) -> Settings:
    """Return the checked settings of the engine for a request.

    `plugins`: the absolute paths of the plugin files of the run. `parts`: what the reports show besides findings.
    Raises RunError for a faulty schema file, and RequestError for names and values that do not exist.
    """
    try:
        target = target_of(request.targets, request.registered)
        changes: dict[str, Any] = {
            "standard": Standard(request.edition, target.variant),
            "select": names_of(request.select),
            "ignore": names_of(request.ignore),
            "extend_select": (*names_of(request.extend_select), *_turned_on(request, target)),
            "severities": {rule: Severity.of(word) for rule, word in request.severities.items()},
            "options": _rule_options(request),
            "limits": _limits(request),
            "set_aside": names_of(request.set_aside),
            "target": target,
            "plugins": plugins,
            "policy_files": request.policy_files,
            "suppressions": _suppressions(request),
            "has_baseline": has_baseline(request),
            "parts": parts,
        }
        settings = Settings(**request.carried(Settings) | changes)
        check_selection(settings)
        return settings
    except OSError as error:
        raise RunError(f"{error.filename}: {error.strerror}") from error
    except SchemaFileError as error:
        raise RunError(str(error)) from error
    except ValueError as error:
        raise RequestError(str(error)) from error


def has_baseline(request: Request) -> bool:
    """Return whether findings are compared with a baseline, or written to one."""
    return request.baseline is not None or request.write_baseline is not None


def _rule_options(request: Request) -> dict[str, Mapping[str, Any]]:
    """Return the options of rules, with those that flags of the command line turn on."""
    rule_options: dict[str, Mapping[str, Any]] = {rule: dict(given) for rule, given in request.rule_options.items()}
    for entry in registry().values():
        if entry.flag is None:
            continue
        flag, option = entry.flag
        # For the flag of a plugin's rule there is no such field.
        if getattr(request, flag.removeprefix("--").replace("-", "_"), False):
            rule_options[entry.id] = {**rule_options.get(entry.id, {}), option: True}
    return rule_options


def _suppressions(request: Request) -> tuple[Suppression, ...]:
    """Return the suppressions that have not expired."""
    if not request.suppressions:
        return ()
    import datetime

    today = datetime.date.today()
    return tuple(entry for entry in request.suppressions if not entry.is_expired(today))


def _turned_on(request: Request, target: Target) -> Iterator[str]:
    """Yield the rules that the policy and the targets select. With `--select`, a configuration selects none of them."""
    rules = {"policy": request.policy, "targets": ("target",) if target.releases else ()}
    for field, names in rules.items():
        if field in request.given or "select" not in request.given:
            yield from names


def _limits(request: Request) -> Limits:
    return DEFAULT_LIMITS.with_values({**(WITH_BASELINE if has_baseline(request) else {}), **request.limits})
