# SPDX-License-Identifier: Apache-2.0
"""The idioms that tools/english.py counts: each pattern finds its idiom, and leaves plain sentences alone."""

from __future__ import annotations

import pytest

from tools.english import IDIOMS, added_in

_IDIOMATIC = {
    "riddle": '"""What is known of the values."""',
    "tell": "It is told as not verified.",
    "tell in a name": "def tell_usage() -> None:",
    "hand on": "An output that two branches hand on.",
    "hold against": "The rules that a file is held against.",
    "stand for": "It stands for the type.",
    "have to do with": "A clause that it has nothing to do with.",
    "let go": "The memory is let go.",
    "go by": "The limit goes by the clock.",
    "be to be had": "It is not to be had.",
    "of which": "An output of which nothing follows.",
    "none but": "None but the first.",
    "as far as": "It conforms as far as rules can see.",
    "by and large": "Its memory, by and large.",
    "is known of": "What is known of it.",
    "give a type": "The declaration gives its type.",
    "no X that": "A name that is no rule.",
}
_PLAIN = (
    '"""Return the facts about the values."""',
    "The tensor is not a scalar; the report says which clause it violates.",
)


def test_every_idiom_has_an_example() -> None:
    assert _IDIOMATIC.keys() == IDIOMS.keys()


@pytest.mark.parametrize("name", IDIOMS)
def test_an_idiom_is_found(name: str) -> None:
    assert IDIOMS[name].pattern.search(_IDIOMATIC[name])


def test_plain_sentences_are_left_alone() -> None:
    found = {(name, line) for line in _PLAIN for name, idiom in IDIOMS.items() if idiom.pattern.search(line)}
    assert not found


_DIFF = """\
diff --git a/one.py b/one.py
--- a/one.py
+++ b/one.py
@@ -3,2 +3 @@
--- a line that starts with two dashes
-    moved
+++ a line that starts with two pluses
diff --git a/two.py b/two.py
--- /dev/null
+++ b/two.py
@@ -0,0 +1,2 @@
+moved
+added
"""


def test_moved_lines_are_not_added_lines() -> None:
    assert list(added_in(_DIFF)) == [("one.py", 3, "++ a line that starts with two pluses"), ("two.py", 2, "added")]
