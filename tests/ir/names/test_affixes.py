# SPDX-License-Identifier: Apache-2.0
"""One prefix or suffix that several wrong names lack, or have too much."""

from __future__ import annotations

import pytest

from onnx_lint.ir.names.affixes import common_affix


@pytest.mark.parametrize(
    ("names", "known", "words"),
    [
        (["a", "b"], ["m/a", "m/b", "z"], "2 names lack the prefix 'm/'"),
        (["a", "b"], ["a_1", "b_1"], "2 names lack the suffix '_1'"),
        (["m/a", "m/b"], ["a", "b"], "2 names have the prefix 'm/' too much"),
        (["a_q", "b_q"], ["a", "b"], "2 names have the suffix '_q' too much"),
        (["old/a", "old/b"], ["new/a", "new/b"], "2 names begin with 'old' in place of 'new'"),
        (["a.old", "b.old"], ["a.new", "b.new"], "2 names end with 'old' in place of 'new'"),
        # One name alone, one without a partner, and two with the same one.
        (["a"], ["m/a"], None),
        (["a", "b"], ["m/a", "n/b"], None),
        (["a", "m/a"], ["m/a"], None),
        # Two prefixes do it.
        (["a", "b"], ["m/a", "m/b", "n/a", "n/b"], None),
        (["a", "b"], ["c", "d"], None),
    ],
)
def test_an_affix_is_certain_or_not_there(names: list[str], known: list[str], words: str | None):
    affix = common_affix(names, known, lambda _, right: right in known)
    assert (None if affix is None else affix.describe(len(names))) == words


def test_a_name_that_is_nothing_but_the_affix_stays():
    affix = common_affix(["m/a", "m/b"], ["a", "b"], lambda *_: True)
    assert affix is not None
    assert (affix.corrected("m/c"), affix.corrected("m/"), affix.corrected("n/c")) == ("c", None, None)
