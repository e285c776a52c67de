# SPDX-License-Identifier: Apache-2.0
"""The form of domains: reverse domain names such as `org.example.vision`."""

from __future__ import annotations

import re
from typing import Final

from onnx_lint.spec.releases import normalized_domain

_LABEL: Final = r"\w(?:[\w-]*\w)?"
_REVERSE_DOMAIN_NAME: Final = rf"{_LABEL}(?:\.{_LABEL})+"
_MAX_CHARACTERS: Final = 255
"""The most that a domain name can have (RFC 1035, section 2.3.4); a stranger's may have a hundred million."""


def is_reverse_domain_name(name: str) -> bool:
    """Whether `name` has the form of a reverse domain name: two or more labels separated by single dots.

    A label is made of letters, digits, underscores and, between these, hyphens. The specification names the convention
    of Java packages without a grammar, so letters of any script and digits at the front are let pass. Whose domain it
    is nobody can tell from the file.
    """
    return len(name) <= _MAX_CHARACTERS and re.fullmatch(_REVERSE_DOMAIN_NAME, name) is not None


def shown_domain(domain: str) -> str:
    """The domain as messages write it: the default one as `ai.onnx`."""
    return normalized_domain(domain) or "ai.onnx"
