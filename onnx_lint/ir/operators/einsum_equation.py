# SPDX-License-Identifier: Apache-2.0
"""The equations of Einsum: terms of letters, one for each input, and perhaps an arrow and a term for the output."""

from __future__ import annotations

import re
from typing import Final

from onnx_lint.wording import counted, quote

_ARROW: Final = "->"
_ELLIPSIS: Final = "..."
_STRANGE: Final = re.compile(r"[^A-Za-z. ,]")


def equation_fault(equation: str, input_count: int) -> str | None:
    """Return the fault of an equation for that many inputs, to follow its name; None if it has none.

    Letters of either case are labels: descriptions before version 28 mention lower case only, and all consumers accept
    both. The labels after the arrow are the dimensions of the output, so none is repeated there.
    """
    # Spaces have no meaning, and onnx skips them anywhere but inside an ellipsis.
    left, arrow, right = equation.replace(" ", "").partition(_ARROW)
    if _ARROW in right:
        return f"has more than one {_ARROW!r}"
    terms = left.split(",")
    for term in (*terms, right):
        fault = _term_fault(term)
        if fault is not None:
            return fault
    if "," in right:
        return f"has more than one term after {_ARROW!r}"
    if len(terms) != input_count:
        return f"has {counted(len(terms), 'term')}, but the node has {counted(input_count, 'input')}"
    return _output_fault(left, right) if arrow else None


def _output_fault(left: str, right: str) -> str | None:
    """Return the fault of the labels after the arrow: each is there once, and before the arrow as well."""
    labels = right.replace(".", "")
    for label in labels:
        if labels.count(label) > 1:
            return f"has label {label!r} twice after {_ARROW!r}"
    missing = next((label for label in labels if label not in left), None)
    return f"has label {missing!r} after {_ARROW!r}, but not before it" if missing is not None else None


def terms_of(equation: str) -> tuple[list[str], str]:
    """Return the terms of the inputs, and that of the output: without an arrow the labels that occur once, in order."""
    left, arrow, right = equation.replace(" ", "").partition(_ARROW)
    if not arrow:
        labels = left.replace(",", "").replace(".", "")
        once = sorted(label for label in set(labels) if labels.count(label) == 1)
        right = "".join([_ELLIPSIS if _ELLIPSIS in left else "", *once])
    return left.split(","), right


def lacks_ellipsis(equation: bytes) -> bool:
    """Return whether an equation has an arrow, an ellipsis before it, and none after it."""
    left, arrow, right = equation.partition(b"->")
    return bool(arrow) and b"..." in left and b"..." not in right


def _term_fault(term: str) -> str | None:
    strange = _STRANGE.search(term)
    if strange is not None:
        return f"contains {quote(strange.group())}, which is not a letter"
    if term.count(_ELLIPSIS) > 1:
        return f"has two ellipses in the term '{term[:40]}'"
    return f"has dots in the term '{term[:40]}' that are no ellipsis" if "." in term.replace(_ELLIPSIS, "") else None
