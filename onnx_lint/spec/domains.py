# SPDX-License-Identifier: Apache-2.0
"""The form of domains: reverse domain names such as `org.example.vision`."""

from __future__ import annotations

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


def shown_domain(domain: str) -> str:
    """Return the domain for messages: the default one as `ai.onnx`."""
    return normalized_domain(domain) or "ai.onnx"
