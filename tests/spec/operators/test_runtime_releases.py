# SPDX-License-Identifier: Apache-2.0
"""The signatures of ONNX Runtime's operators by release."""

from __future__ import annotations

from itertools import pairwise

from onnx_lint.common.record import replace
from onnx_lint.spec.operators import BUILT_IN
from onnx_lint.spec.operators.runtime_releases import (
    CHANGED,
    FailingRun,
    RefusedAttribute,
    failing_runs,
    refused_attributes,
    signature_in,
)
from onnx_lint.spec.operators.schema import OperatorSchema
from onnx_lint.spec.operators.store import ONNXRUNTIME
from onnx_lint.spec.products import product_release

RELEASES = ("1.17.3", "1.20.1", "1.23.2", "1.32.0")


def _changed() -> list[tuple[str, str]]:
    return [(domain, name) for domain in CHANGED.domains for name, _ in CHANGED.first_versions(domain)]


def test_the_releases_are_those_that_a_target_knows_and_the_last_is_the_one_of_the_signatures() -> None:
    assert tuple(CHANGED.header["releases"]) == RELEASES
    assert [product_release(f"onnxruntime={each}").version for each in RELEASES] == [*RELEASES]
    assert RELEASES[-1] == ONNXRUNTIME.header["version"]


def test_the_last_signature_is_the_one_that_the_other_file_has() -> None:
    assert len(_changed()) > 20
    for domain, name in _changed():
        assert signature_in(RELEASES[-1], domain, name) == BUILT_IN.find(domain, name, 1), name


def test_a_release_has_the_operators_that_its_data_list() -> None:
    for domain, name in _changed():
        for release in RELEASES:
            has_it = product_release(f"onnxruntime={release}").has_own(domain, name)
            assert has_it is (signature_in(release, domain, name) is not None), (name, release)


def test_an_operator_that_no_release_changed_has_one_signature() -> None:
    assert signature_in("1.17.3", "com.microsoft", "QuickGelu") is None
    assert signature_in("1.18.1", "com.microsoft", "MatMulNBits") is None
    assert signature_in("1.17.3", "com.acme", "MatMulNBits") is None


def test_each_change_is_more_than_an_order() -> None:
    for domain, name in _changed():
        found = [CHANGED.schema(domain, name, since) for since in CHANGED.versions(domain, name)]
        alike: list[OperatorSchema] = [replace(each, since_version=1) for each in found if each is not None]
        assert len(alike) == len(found)
        assert all(one != other for one, other in pairwise(alike)), name


def test_what_the_newest_signature_refuses_the_older_ones_refuse() -> None:
    """So a finding of the rules on signatures is refused by each release (the case `contributed` of clauses)."""
    for domain, name in _changed():
        newest = signature_in(RELEASES[-1], domain, name)
        assert newest is not None
        for release in RELEASES[:-1]:
            older = signature_in(release, domain, name)
            if older is not None:
                assert older.attributes.keys() <= newest.attributes.keys(), name
                assert older.max_input <= newest.max_input, name
                assert older.max_output <= newest.max_output, name
                assert {each for each, one in newest.attributes.items() if one.required} <= older.attributes.keys()


def test_what_makes_each_run_fail_is_said_in_words() -> None:
    rank: dict[str, int | None] = {"input": 3, "weights": 2}
    assert [*failing_runs("1.23.2", "Attention", {}, rank)] == [FailingRun("no input 'bias'")]
    assert not [*failing_runs("1.32.0", "Attention", {}, rank)]
    rank |= {"bias": 1, "mask_index": 4}
    assert [*failing_runs("1.32.0", "Attention", {"do_rotary": "1"}, rank)] == [
        FailingRun("attribute 'do_rotary' with the value 1"),
        FailingRun("input 'mask_index' with 4 dimensions", "elements"),
    ]
    assert not [*failing_runs("1.32.0", "Attention", {}, rank, extents=["items"])]
    ranks: dict[str, int | None] = {"input": 3, "weight": 2, "mask_index": 4}
    (failing,) = failing_runs("1.32.0", "QAttention", {}, ranks, extents=["items"])
    assert failing == FailingRun("input 'mask_index' with 4 dimensions", "items")
    assert not [*failing_runs("1.32.0", "Attention", {}, {**rank, "mask_index": None})]
    assert [*failing_runs("1.32.0", "MultiHeadAttention", {}, {"query": 3, "key": 5})] == [
        FailingRun("input 'key' and no input 'value'")
    ]
    assert not [*failing_runs("0.1", "Attention", {}, {})]
    assert not [*failing_runs("1.32.0", "NoSuchOperator", {}, {})]


def test_a_value_may_be_refused_for_the_number_of_outputs() -> None:
    refused = [RefusedAttribute("mask_index_type", "0 and 2 outputs")]
    assert refused_attributes("1.23.2", "EmbedLayerNormalization", {"mask_index_type": "0", "outputs": "2"}) == refused
    for release, outputs in (("1.23.2", "3"), ("1.32.0", "2")):
        values = {"mask_index_type": "0", "outputs": outputs}
        assert not refused_attributes(release, "EmbedLayerNormalization", values)
