# SPDX-License-Identifier: Apache-2.0
"""The patterns for the places of suppressions."""

from __future__ import annotations

import os
import random
import re

import pytest

from onnx_lint.engine import suppressions
from onnx_lint.engine.suppressions import PlacePatterns, Suppression
from onnx_lint.input.globs import matches
from onnx_lint.ir.places.enclosing_names import EnclosingNames

PATTERNS = ["*", "a*", "*b", "a*b", "*x*y*", "ab*ab", "**", "abab", "", "a*a*b*b", "x*", "[a]?*", "a.b[1]"]
TEXTS = ["", "ab", "abab", "axyb", "aabb", "ba", "aab", "xy\n", "abxab", "[a]?", "a.b[1]", "ab1"]


def _is_like(text: str, pattern: str) -> bool:
    """Return whether the text matches, by a regular expression."""
    expression = ".*".join(map(re.escape, pattern.split("*")))
    return not pattern or re.fullmatch(expression, text, re.DOTALL) is not None


@pytest.mark.parametrize("pattern", PATTERNS)
def test_a_pattern_matches_what_the_regular_expression_does(pattern: str) -> None:
    places = PlacePatterns([Suppression("w", "r", "reason", pattern)])
    for text in TEXTS:
        found = places.first(text, None, EnclosingNames())
        assert (found is not None) == _is_like(text, pattern), (pattern, text)


def test_the_first_entry_that_matches_any_name_is_found() -> None:
    """Whatever the order of the kinds of patterns is, and whichever of the four names matches."""
    chance = random.Random(61)
    for _ in range(2_000):
        patterns = chance.choices(PATTERNS, k=chance.randrange(5))
        place, subject, node, first, last = chance.choices(TEXTS, k=5)
        entries = [Suppression(str(number), "r", "reason", each) for number, each in enumerate(patterns)]
        around = EnclosingNames(node=chance.choice([node, None]), scope=(first, last, ""))
        innermost = last or first or None
        names = [each for each in (place, subject, around.node, innermost) if each is not None]
        expected = [entry for entry in entries if any(_is_like(name, entry.place) for name in names)]
        assert PlacePatterns(entries).first(place, subject, around) == next(iter(expected), None), (patterns, names)


FILES = [
    "m.onnx",
    "./m.onnx",
    "zoo/m.onnx",
    "../m.onnx",
    "*.onnx",
    "[m].onnx",
    "zoo",
    "/srv/zoo/m.onnx",
    "s3://b/m.onnx",
]
GLOBS = ["zoo/**", "zoo/", "**/m.onnx", "../zoo/[mn].onnx", "m.onn?", "s3://b/*/m.onnx", ".."]


@pytest.mark.parametrize("pattern", [*FILES, *GLOBS])
def test_a_pattern_for_files_is_that_of_globs(pattern: str) -> None:
    """Although most files are left out by their name alone."""
    for path in [*FILES, "/srv/m.onnx", "zoo//m.onnx", "zoo/../m.onnx", "-"]:
        for folder in ("/srv", "/srv/zoo", os.getcwd()):
            entry = Suppression("w", "r", "reason", file=pattern, directory=folder)
            assert entry.is_for(path) == matches(pattern, path, folder), (path, folder)


def test_a_finding_is_compared_with_few_of_many_entries(monkeypatch: pytest.MonkeyPatch) -> None:
    """Only with those whose pattern has a `*` before its end and a text in a name, up to the first that matches."""
    compared = 0
    real = suppressions._is_like

    def counting(text: str, texts: list[str]) -> bool:
        nonlocal compared
        compared += 1
        return real(text, texts)

    monkeypatch.setattr(suppressions, "_is_like", counting)
    patterns = [f"layer_{number}{end}" for number in range(1_000) for end in ("", "/*")]
    patterns += ["other*x", "layer_999/x", "*inner*"]
    places = PlacePatterns([Suppression("w", "r", "reason", pattern) for pattern in patterns])
    for name, count, pattern in [
        ("layer_7", 0, "layer_7"),
        ("layer_7/op", 0, "layer_7/*"),
        ("none", 0, None),
        ("other y", 1, None),
        ("an inner one", 1, "*inner*"),
        ("another inner x", 2, "*inner*"),
        ("layer_999/x", 0, "layer_999/*"),
    ]:
        compared = 0
        found = places.first(name, None, EnclosingNames())
        assert (found.place if found is not None else None, compared) == (pattern, count)
