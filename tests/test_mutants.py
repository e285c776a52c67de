# SPDX-License-Identifier: Apache-2.0
"""The mutants of a file."""

from __future__ import annotations

from tools.mutants import mutants_of

SOURCE = '''
if TYPE_CHECKING:
    from typing import Literal
def f(x: Literal[1], y: int) -> Literal[2]:
    """Nothing."""
    return x + 3 if x < 100 and y is not None else -y
'''


def test_each_mutant_is_one_change_that_runs():
    found = [(each.line, each.what) for each in mutants_of("f.py", SOURCE)]
    assert sorted(found) == [(6, "3 to 4"), (6, "add to sub"), (6, "and to or"), (6, "isnot to is"), (6, "lt to lte")]


def test_a_mutant_has_no_other_change():
    texts = {each.what: each.text for each in mutants_of("f.py", "x = a < 1 < b")}
    assert texts == {"lt to lte": "x = a < 1 <= b", "1 to 2": "x = a < 2 < b"}
