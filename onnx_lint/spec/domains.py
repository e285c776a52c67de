# SPDX-License-Identifier: Apache-2.0
"""The form of domains: reverse domain names such as `org.example.vision`."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from onnx_lint.spec.releases import normalized_domain

_MAX_CHARACTERS: Final = 255
"""The most characters of a domain name (RFC 1035, section 2.3.4). A hostile file may have a much longer one."""


def is_reverse_domain_name(name: str) -> bool:
    """Return whether `name` has the form of a reverse domain name: two or more labels separated by single dots.

    A label consists of letters, digits, underscores and, between these, hyphens. The specification refers to the
    convention of Java packages without a grammar, so letters of any script and leading digits are allowed. A file does
    not show who owns the domain.
    """
    labels = name.split(".") if len(name) <= _MAX_CHARACTERS else []
    return len(labels) > 1 and all(map(_is_label, labels))


def _is_label(text: str) -> bool:
    return text.strip("-") == text and text.replace("-", "_").replace("_", "a").isalnum()


def misspelled_domain(name: str, known: Iterable[str]) -> str | None:
    """Return the known domain that differs from a name in the case of letters, or in one character that is added,
    missing, changed or exchanged with the next; None if there is none.

    Many real domains resemble known ones, such as `ai.onnx.contrib`. None of them is this near.
    """
    return next((each for each in known if each != name and _is_one_slip(name.lower(), each)), None)


def _is_one_slip(text: str, wanted: str) -> bool:
    differing = (index for index, pair in enumerate(zip(text, wanted, strict=False)) if pair[0] != pair[1])
    start = next(differing, min(len(text), len(wanted)))
    text, wanted = text[start:], wanted[start:]
    is_exchanged = text[:2] == wanted[1::-1] and text[2:] == wanted[2:]
    return text == wanted[1:] or text[1:] in (wanted, wanted[1:]) or is_exchanged


def shown_domain(domain: str) -> str:
    """Return the domain for messages: the default one as `ai.onnx`."""
    return normalized_domain(domain) or "ai.onnx"
