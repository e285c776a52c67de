# SPDX-License-Identifier: Apache-2.0
"""Baselines of real models: a fault at another place is new, and new names bring nothing back."""

from __future__ import annotations

import itertools
import random
from collections import Counter
from collections.abc import Callable, Iterable

import onnx
import pytest
from support.baselines.changes import CHANGES, RENAMES, TWO_PLACES, rename_nodes
from support.baselines.exchanged import (
    are_exchanged,
    are_exchanged_inside,
    exchanged_rules,
    is_at_another_element,
    is_in_a_place_of,
    pairs_of,
    with_one_more,
)
from support.baselines.measure import copy_of, false_new, five_faults, new_in, report_on
from support.fixes.plants import PLANTS, planted, small_models

from onnx_lint.configuration.baselines.entries import entries_of
from onnx_lint.configuration.baselines.known_findings import suppress_known
from onnx_lint.report.file_report import FileReport
from onnx_lint.report.findings import Diagnostic
from onnx_lint.report.folding import unfold
from onnx_lint.spec.clauses import Severity

pytestmark = pytest.mark.slow


def _errors(found: Iterable[Diagnostic]) -> set[tuple[str, str]]:
    return {(item.pointer, item.message) for item in unfold(found) if item.severity is Severity.ERROR}


def test_a_fault_that_takes_the_place_of_another_one_is_new():
    choose, paths, pairs = random.Random(50), small_models(), 0
    kinds = [kind for kind in PLANTS if kind != "order"]  # two disorders may have the same late uses
    while pairs < 100:
        kind, path = choose.choice(kinds), choose.choice(paths)
        where = choose.randrange(4)
        first, second = planted(path, kind, choose, where), planted(path, kind, choose, where)
        if first is None or second is None:
            continue
        clean, known, now = (report_on(data) for data in (first[0], first[1], second[1]))
        before = {place for place, _ in _errors(known.diagnostics)}
        exchanged = {each for each in _errors(now.diagnostics) - _errors(clean.diagnostics) if each[0] not in before}
        if exchanged:
            pairs += 1
            assert _errors(suppress_known(now, entries_of(known.diagnostics)).diagnostics), (kind, path, exchanged)


@pytest.mark.parametrize(
    ("kind", "are_a_pair", "least"),
    [("twin", are_exchanged, 200), ("inner", are_exchanged, 50), ("inner", are_exchanged_inside, 20)],
    ids=["twin", "inner", "in the message"],
)
def test_a_fault_of_any_rule_at_another_value_or_inside_it_is_new(
    kind: str, are_a_pair: Callable[[str, FileReport, FileReport], bool], least: int
):
    """Of fixtures: in one of two equal parts, then in the other; or in a list inside of a value, in another order."""
    found: dict[str, bool] = {}
    for rule in exchanged_rules():
        of_rule = 0
        for pair in pairs_of(rule, kind):
            first, second = report_on(pair.first, pair.settings), report_on(pair.second, pair.settings)
            if not are_a_pair(rule, first, second):
                continue
            found[pair.name] = any(item.rule == rule for item in new_in(first, second))
            of_rule += 1
            if of_rule == 4:
                break
    assert len(found) > least
    assert [name for name, is_new in found.items() if not is_new] == []


OF_ALL_ELEMENTS = {
    "contradictory-declared-shape/invalid/elements_with_other_columns_than_declared": "an element of a sequence",
    "impossible-attribute-value/invalid/membership_without_members": "no members, whichever node tests them",
    "impossible-operator-extent/invalid/parts_that_do_not_add_up_until_opset_12": "the sum of the parts",
    "ineffective-node/invalid/constants_in_a_function": "a tensor whose elements are all 0 or 1",
    "ineffective-node/invalid/each_operator_that_keeps_the_shape": "the same shape as before",
    "ineffective-node/invalid/integers": "a tensor whose elements are all 0 or 1",
    "invalid-tensor-shape/invalid/the_product_of_the_dimensions_overflows": "the product of the dimensions",
    "malformed-sparse-indices/invalid/the_indices_have_too_few_coordinates": "the whole shape",
    "mismatched-decoder/invalid/a_mask_for_more_words_than_the_decoder_has": "whichever output the logits are",
    "mismatched-decoder/invalid/a_vocabulary_larger_than_the_logits": "whichever output the logits are",
    "mismatched-decoder/invalid/more_words_to_keep_than_there_are": "whichever output the logits are",
    "unordered-sparse-indices/invalid/coordinates_stand_twice": "both coordinates of an index",
    "unsupported-operand-value/invalid/parts_of_a_sequence_that_do_not_add_up": "the sum of the parts",
    "unsupported-operand-value/invalid/parts_that_do_not_add_up": "the sum of the parts",
}
"""The fixtures whose fault any element of a list can mend, and what the fault is."""


def test_a_fault_at_another_element_of_a_list_is_new_also_if_the_reports_do_not_say_which_it_is():
    count, swallowed = 0, set()
    for rule in exchanged_rules():
        known: dict[bytes, FileReport] = {}
        for pair in pairs_of(rule, "inner"):
            data = pair.first.SerializeToString()
            if data not in known:
                known[data] = report_on(data, pair.settings)
            first = known[data]
            if not is_in_a_place_of(rule, first, pair):
                continue
            second = report_on(pair.second, pair.settings)
            if {item.pointer for item in first.diagnostics} != {item.pointer for item in second.diagnostics}:
                continue
            count += 1
            is_new = any(item.rule == rule for item in new_in(first, second))
            if not is_new and is_at_another_element(rule, pair):
                swallowed.add(pair.name.partition(".")[0])
    assert count > 300
    assert swallowed == OF_ALL_ELEMENTS.keys()


OF_MANY_USES = {"undefined-name", "non-c90-name"}
"""The rules of whose faults one more is known: the uses of one name, and the names of a summary."""


def test_one_more_faulty_element_of_a_value_is_new():
    """The faulty element takes the place of another one as well."""
    count, swallowed = 0, []
    for rule in exchanged_rules():
        for name, known, now in itertools.islice(with_one_more(rule), 40):
            count += 1
            if rule not in OF_MANY_USES and not any(item.rule == rule for item in new_in(known, now)):
                swallowed.append(name)
    assert count > 400
    assert swallowed == []


MAX_NEW = {"nodes: next number": 0.01, "next number": 0.01, "node in the middle, next number": 0.05}
"""The most findings that are new although the faults have not changed, where this is not zero.

With a node in the middle, all that are new are about nodes without names.
"""

MAX_NEW_AFTER_TWO = 0.02


def test_a_change_brings_few_findings_back():
    """With `-s` it prints the table; ONNX_LINT_TEST_MODELS names a folder with more models."""
    findings, new, five, new_of_five = 0, Counter[str](), 0, Counter[str]()
    for path in small_models():
        if "node" in path.parts:
            continue  # of a single node
        model, choose = onnx.load(path, load_external_data=False), random.Random(path.name)
        known = report_on(model)
        count = sum(1 for _ in unfold(known.diagnostics))
        findings += count
        for name, change in CHANGES.items() if count else ():
            changed = copy_of(model)
            change(changed)
            new[name] += len(false_new(known, report_on(changed)))
        for name, rename in RENAMES.items():
            faulty = copy_of(model)
            faults = five_faults(faulty, choose)
            if not faults:
                break
            known = report_on(faulty)
            five += sum(1 for _ in unfold(known.diagnostics))
            changed = copy_of(faulty)
            choose.choice(faults)(changed)
            rename_nodes(changed, rename)
            new_of_five[name] += len(false_new(known, report_on(changed)))
    print(f"\n{findings} findings; {five} with five equal faults, one of which is mended")
    for name in CHANGES:
        print(f"{name:40} {new[name]:4} {new[name] / findings:6.1%}")
    for name in RENAMES:
        print(f"one of five mended, {name:20} {new_of_five[name]:4} {new_of_five[name] / five:6.1%}")
    assert findings > 100
    assert five > 100
    for name in CHANGES.keys() - TWO_PLACES:
        most = MAX_NEW.get(name, MAX_NEW_AFTER_TWO if "," in name else 0)
        assert new[name] <= most * findings, name
    for name in RENAMES:
        assert new_of_five[name] <= MAX_NEW_AFTER_TWO * five, name
