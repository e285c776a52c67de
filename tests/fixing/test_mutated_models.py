# SPDX-License-Identifier: Apache-2.0
"""All fixes of all fixtures and their mutants: no byte outside of the edits changes, and onnx reads the result."""

from __future__ import annotations

import random
from collections import Counter
from itertools import chain

import onnx
import pytest
from support.fixes.case import Case
from support.fixes.fixed import check_bytes, check_difference, fixed_model
from support.fixes.safe import SAFE
from support.fixes.unsafe import UNSAFE
from support.models.mutated_models import SEED, candidates, mutate, parsed
from support.wire.odd_encodings import oddly_encoded

from onnx_lint import schema
from onnx_lint.engine.settings import Settings
from onnx_lint.input.source import BytesSource

pytestmark = pytest.mark.slow

SETTINGS = Settings(select=("ALL",))
FEW = 120
"""The number of models in the default run; `-m corpus` takes all."""


def _check(data: bytes) -> Counter[str]:
    outcome = fixed_model(BytesSource(data), SETTINGS, unsafe=True)
    check_bytes(outcome)
    check_difference(outcome, SETTINGS)
    if outcome.rounds:
        onnx.load_model_from_string(outcome.source.read_at(0, outcome.source.size))
    again = fixed_model(outcome.source, SETTINGS, unsafe=True)
    assert again.rounds == ()
    return Counter(dict(outcome.repair.fixed))


def _mutants(count: int | None) -> Counter[str]:
    choose = random.Random(SEED)
    everything = list(candidates())
    found: Counter[str] = Counter()
    chosen = everything if count is None else choose.sample(everything, count)
    for name, model in chain.from_iterable(map(parsed, chosen)):
        for number in range(2):
            if number:
                mutate(model, choose)
            try:
                found += _check(model.SerializeToString())
            except (AssertionError, UnicodeDecodeError) as error:
                raise AssertionError(f"{name}, mutant {number}") from error
    return found


def test_every_byte_outside_of_the_edits_stays():
    assert len(_mutants(FEW)) > 7


CASES = [case for case in (*SAFE, *UNSAFE) if not case.files and not case.first[0]]


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.rule}{': ' if case.id else ''}{case.id}")
def test_unknown_fields_and_odd_encodings_stay(case: Case):
    choose = random.Random(SEED)
    old, new = case.models()
    for share, more in ((0, ""), (0.02, ""), (0.1, ""), (0.3, ""), (0.1, "long-encoding")):
        source = BytesSource(oddly_encoded(old, "ModelProto", choose, share))
        settings = Settings(select=(case.rule, *filter(None, [more])), options={case.rule: case.options})
        outcome = fixed_model(source, settings, unsafe=True)
        check_bytes(outcome)
        check_difference(outcome, settings)
        message = schema.message("ModelProto").FromString(outcome.source.read_at(0, outcome.source.size))
        message.DiscardUnknownFields()
        assert message == schema.message("ModelProto").FromString(new)


@pytest.mark.corpus
def test_every_byte_outside_of_the_edits_stays_in_all_models():
    assert len(_mutants(None)) > 15
