# SPDX-License-Identifier: Apache-2.0
"""Converts the values of settings that consist of pairs, such as `memory=4GiB,findings=100`."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final

from onnx_lint.configuration.errors import RequestError
from onnx_lint.configuration.settings import LEVELS, Setting
from onnx_lint.spec.releases import normalized_domain

Pair = tuple[str, str]
"""A name, and its value as it was written."""


def from_texts(setting: Setting, texts: Iterable[str]) -> dict[str, Any]:
    """Return the values by name for texts of comma-separated pairs; of several pairs of one name, the last counts.

    Raises RequestError for a text that is no pair of the setting.
    """
    return _CONVERSIONS[setting.field](
        setting, [_pair(setting, part.strip()) for text in texts for part in text.split(",")]
    )


def from_mapping(setting: Setting, values: Mapping[Any, Any]) -> dict[str, Any]:
    """Return the values by name for a mapping from Python, in which a comma does not begin another pair."""
    return _CONVERSIONS[setting.field](setting, [(str(name), str(value)) for name, value in values.items()])


def _pair(setting: Setting, text: str) -> Pair:
    name, separator, value = text.partition("=")
    if separator:
        return name, value
    if setting.field == "opset_imports":
        return "", text  # the version of the default domain
    raise _unexpected(setting, text)


def _levels(_: Setting, pairs: Iterable[Pair]) -> dict[str, str]:
    levels = dict(pairs)
    for level in levels.values():
        if level not in LEVELS:
            raise RequestError(f"unknown severity {level!r}; the severities are {', '.join(LEVELS)}")
    return levels


def _limits(_: Setting, pairs: Iterable[Pair]) -> dict[str, str]:
    return dict(pairs)  # they are checked with those of the configuration


def _opset_versions(setting: Setting, pairs: Iterable[Pair]) -> dict[str, int]:
    """Return the versions by domain. A mapping could have a domain that the option cannot name."""
    versions: dict[str, int] = {}
    for domain, number in pairs:
        try:
            versions[normalized_domain(domain.strip())] = int(number)
        except ValueError:
            raise _unexpected(setting, f"{domain}={number}" if domain else number) from None
        if "=" in domain or "," in domain:
            raise _unexpected(setting, f"{domain}={number}")
    return versions


def _unexpected(setting: Setting, text: str) -> RequestError:
    return RequestError(f"{setting.option} expects {setting.metavar}, not {text!r}")


_CONVERSIONS: Final[Mapping[str, Callable[[Setting, Iterable[Pair]], dict[str, Any]]]] = {
    "severities": _levels,
    "limits": _limits,
    "opset_imports": _opset_versions,
}
"""The conversions of pairs, by the field of `Request`."""
