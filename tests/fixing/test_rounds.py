# SPDX-License-Identifier: Apache-2.0
"""Fixes are made in rounds, what overlaps waits, and what does more harm than good is not made."""

from __future__ import annotations

from collections.abc import Callable

from support.fixes.case import RELU, Case, graph

from onnx_lint.common.record import replace
from onnx_lint.fixing.rounds import MAX_ROUNDS, FixOutcome, fix_in_rounds
from onnx_lint.input.source import BytesSource, Source
from onnx_lint.ir.places.edits import Assign, Delete, Edit, Fix
from onnx_lint.ir.places.place import ROOT, Place
from onnx_lint.loader import load
from onnx_lint.model import Model
from onnx_lint.report.file_report import FileReport
from onnx_lint.report.findings import Advice, CitedClause, Diagnostic, Folding
from onnx_lint.report.folding import fold
from onnx_lint.schema import wire
from onnx_lint.spec.clauses import Severity

KEYS = b"".join(bytes([0x72, 3, 0x0A, 1, key]) for key in b"abcdefghijklmnop")
"""A model that is a list of metadata with the keys a, b, c and so on."""


def _keys(source: Source) -> str:
    data = source.read_at(0, source.size)
    return "".join(chr(data[value + 2]) for _, _, _, value, _ in wire.records(BytesSource(data), 0, len(data)))


def _entry(index: int) -> Place:
    return ROOT.at("metadata_props", index)


def _found(rule: str, *edits: Edit, safe: bool = True) -> Diagnostic:
    place = edits[0].place if edits else ROOT
    fix = Fix(f"fix {rule}", edits, safe) if edits else None
    cited = CitedClause("C-1", "MUST", "", "")
    return Diagnostic(place, rule, Severity.ERROR, f"wrong {rule}", cited, advice=Advice(edits=fix))


def _not_asked(source: Source) -> Model:
    raise AssertionError("only findings about values are compared in the models")


def _mended(judge: Callable[[str], list[Diagnostic]], *, unsafe: bool = False) -> tuple[str, FixOutcome]:
    """Return what becomes of the keys, where `judge` is the linter."""

    def lint(source: Source) -> FileReport:
        return FileReport("m.onnx", source.size, tuple(judge(_keys(source))))

    source = BytesSource(KEYS)
    done = fix_in_rounds(source, lint(source), lint, _not_asked, unsafe=unsafe)
    return _keys(done.source), done


def test_a_fix_after_which_a_suppressed_finding_is_gone_is_not_made():
    """No fix that both findings share shows it before."""

    def lint(source: Source) -> FileReport:
        keys = _keys(source)
        found = (_found("no-a", Delete(_entry(keys.index("a")))),) if "a" in keys else ()
        return FileReport("m.onnx", source.size, found, suppressed=(_found("known"),) if "a" in keys else ())

    source = BytesSource(KEYS)
    done = fix_in_rounds(source, lint(source), lint, _not_asked, unsafe=False)
    assert done.rounds == ()
    assert done.repair.not_made == ("no-a: the fix was not made: it would also fix what is suppressed",)


def test_findings_folded_into_one_of_another_rule_count_under_their_own():
    """The fix of a folded finding is made, and leaves the one that represents its cause."""
    folding = Folding("cause", is_shared=True)

    def lint(keys: str) -> list[Diagnostic]:
        found = [_found("kept"), _found("mended", Delete(_entry(1)))] if "b" in keys else [_found("kept")]
        return list(fold(replace(each, folding=folding) for each in found))

    keys, done = _mended(lint)
    assert keys == "acdefghijklmnop"
    assert (done.repair.fixed, done.repair.revealed, done.repair.not_made) == ((("mended", 1),), (), ())


def test_rounds_end_when_nothing_is_left():
    keys, done = _mended(
        lambda keys: [_found(f"no-{key}", Delete(_entry(keys.index(key)))) for key in "ac" if key in keys]
    )
    assert keys == "bdefghijklmnop"
    assert len(done.rounds) == 1
    assert done.repair.fixed == (("no-a", 1), ("no-c", 1))


def test_of_two_fixes_of_the_same_bytes_one_waits_for_the_next_round():
    def judge(keys: str) -> list[Diagnostic]:
        pairs = [("x", "ab"), ("y", "bc")]
        return [
            _found(rule, *(Delete(_entry(keys.index(key))) for key in pair if key in keys))
            for rule, pair in pairs
            if any(key in keys for key in pair)
        ]

    keys, done = _mended(judge)
    assert keys == "defghijklmnop"
    assert [len(made.edits) for made in done.rounds] == [2, 1]


def test_nothing_reads_a_name_that_another_fix_removes():
    def judge(keys: str) -> list[Diagnostic]:
        reads = [_found("r", Assign(_entry(keys.index("a")).at("key"), "q"))] if "a" in keys else []
        removes = [_found("s", Delete(_entry(keys.index("b"))))] if "b" in keys else []
        own = [each.advice.edits.edits for each in removes if each.advice.edits is not None]
        fixes = [Fix("remove", edits, removes=frozenset("q")) for edits in own]
        return [*reads, *(each.with_advice(edits=fix) for each, fix in zip(removes, fixes, strict=True))]

    source = BytesSource(KEYS)

    def lint(source: Source) -> FileReport:
        return FileReport("m.onnx", source.size, tuple(judge(_keys(source))))

    done = fix_in_rounds(source, lint(source), lint, lambda each: load(each, "m.onnx"), unsafe=False)
    assert _keys(done.source) == "qcdefghijklmnop"
    assert [len(made.edits) for made in done.rounds] == [1, 1]


def test_a_fix_that_leaves_a_name_undefined_is_not_made():
    data = Case("", graph(RELU), "").models()[0]
    wrong = Fix("delete", (Delete(ROOT.at("graph").at("node", 0)),), removes=frozenset("a"))

    def lint(source: Source) -> FileReport:
        found = _found("r", *wrong.edits).with_advice(edits=wrong)
        return FileReport("m.onnx", source.size, (found,) if source.size == len(data) else ())

    done = fix_in_rounds(
        BytesSource(data), lint(BytesSource(data)), lint, lambda source: load(source, "m.onnx"), unsafe=False
    )
    assert done.rounds == ()
    assert done.repair.not_made == ("r: the fix was not made: a name would mean another value, or none",)


def test_there_are_fifteen_rounds_at_most():
    keys, done = _mended(lambda keys: [_found("none", Delete(_entry(0))), *[_found("none") for _ in keys]])
    assert len(done.rounds) == MAX_ROUNDS
    assert keys == "abcdefghijklmnop"[MAX_ROUNDS:]


def test_unsafe_fixes_are_made_on_demand():
    def judge(keys: str) -> list[Diagnostic]:
        return [_found("no-a", Delete(_entry(0)), safe=False)] if "a" in keys else []

    assert _mended(judge)[0] == "abcdefghijklmnop"
    assert _mended(judge, unsafe=True)[0] == "bcdefghijklmnop"


def test_a_fix_that_brings_another_finding_is_not_made_and_the_others_are():
    def judge(keys: str) -> list[Diagnostic]:
        found = [_found(f"no-{key}", Delete(_entry(keys.index(key)))) for key in "ac" if key in keys]
        return found if "a" in keys else [*found, _found("wants-a")]

    keys, done = _mended(judge)
    assert keys == "abdefghijklmnop"
    (why,) = done.repair.not_made
    assert why == (
        "no-a: the fix was not made: it would cause a new finding of 'wants-a'"
        " (wrong wants-a); --select no-a makes the fix nevertheless"
    )


def test_a_fix_that_brings_a_finding_of_its_own_rule_has_no_advice():
    """A selection of the rule would have the new finding too."""

    def judge(keys: str) -> list[Diagnostic]:
        return [_found("r", Delete(_entry(0)))] if "a" in keys else [_found("r"), _found("r")]

    keys, done = _mended(judge)
    assert keys == "abcdefghijklmnop"
    (why,) = done.repair.not_made
    assert why == "r: the fix was not made: it would cause a new finding of 'r'"


def test_the_advice_of_an_unsafe_fix_has_the_option_for_unsafe_fixes():
    def judge(keys: str) -> list[Diagnostic]:
        return [_found("r", Delete(_entry(0)), safe=False)] if "a" in keys else [_found("s")]

    (why,) = _mended(judge, unsafe=True)[1].repair.not_made
    assert why.endswith("; --select r --unsafe-fixes makes the fix nevertheless")


def test_a_fix_that_leaves_the_finding_is_not_made():
    keys, done = _mended(lambda _: [_found("no-a", Delete(_entry(3)))])
    assert keys == "abcdefghijklmnop"
    assert done.repair.not_made == ("no-a: the fix was not made: the finding would still be there",)


def test_a_fix_of_what_is_not_there_is_not_made():
    keys, done = _mended(lambda _: [_found("no-z", Delete(_entry(30)))])
    assert keys == "abcdefghijklmnop"
    assert done.repair.not_made == ("no-z: the fix cannot be made: there is no metadata_props[30]",)


def test_a_fix_after_which_the_file_cannot_be_checked_is_not_made():
    def lint(source: Source) -> FileReport:
        if source.size < len(KEYS):
            return FileReport("m.onnx", source.size, not_judged="too large")
        return FileReport("m.onnx", source.size, (_found("no-a", Delete(_entry(0))),))

    source = BytesSource(KEYS)
    done = fix_in_rounds(source, lint(source), lint, _not_asked, unsafe=False)
    assert (done.rounds, len(done.repair.not_made)) == ((), 1)
