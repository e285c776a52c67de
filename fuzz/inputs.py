# SPDX-License-Identifier: Apache-2.0
"""The inputs of a run: which kind input `number` is of, and how it is made from the seed and the number alone."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import replace
from random import Random

from . import grammar, lists, truncation
from .corpus import BINARY, Seed, seeds_of
from .fields import FIELDS
from .mutation import BYTES
from .texts import TEXT, balanced
from .tree import parse, root_of, serialize
from .twins import rewritten

MAX_BYTES = 1 << 17
"""Most inputs stay small, so that there are many. tests/end_to_end/test_hostile.py tests large files."""

_LIST_BYTES = (*(1 << 10, 1 << 11, 1 << 12) * 6, *(1 << 13,) * 3, 1 << 14, 1 << 17)
"""The bytes that a long list may take up. The largest lists cost as much time as all others together."""


def edited_message(rng: Random, turn: int) -> Seed:
    """A serialized message some of whose fields, or bytes, or both, were edited."""
    start = rng.choice(seeds_of(is_text=False))
    fields = parse(start.data, start.message)
    data = start.data
    if fields is not None and rng.random() < 0.9:
        for _ in range(rng.choice((1, 1, 2, 4, 8))):
            rng.choice(FIELDS)(rng, root_of(fields, start.message))
        data = serialize(fields)
        if rng.random() < 0.1:
            data = rewritten(data, start.message, rng)
    # Edits of bytes mostly give what does not parse, and then no rule but those of the file sees it.
    if fields is None or rng.random() < 0.25:
        data = _edited(rng, data, BYTES)
    return replace(start, data=data)


def edited_text(rng: Random, turn: int) -> Seed:
    """A model in text form, or in JSON, in which words, bytes, or something long were put."""
    start = rng.choice(seeds_of(is_text=True))
    if rng.random() < 0.1:
        return replace(start, data=balanced(rng, start.data, start.suffix))
    return replace(start, data=_edited(rng, start.data, (*TEXT, *BYTES[:7])))


def cut_list(rng: Random, turn: int) -> Seed:
    """A model with a long list that ends too early; turns in a row are cuts in a row."""
    name, data = truncation.cut(turn)
    return Seed(name, data)


def cut_message(rng: Random, turn: int) -> Seed:
    """A message of the corpus that ends too early."""
    start = rng.choice(seeds_of(is_text=False))
    return replace(start, data=start.data[: rng.randrange(len(start.data) + 1)])


def long_list(rng: Random, turn: int) -> Seed:
    """A message of the corpus, or a small model, with a long list, sometimes with edits as well."""
    start = rng.choice(seeds_of(is_text=False))
    most = rng.choice(_LIST_BYTES)
    if rng.random() < 0.2:
        start = Seed("a small model", lists.carried(rng, most))
    else:
        start = replace(start, data=lists.grown(rng, start.data, start.message, most))
    if rng.random() < 0.3:
        start = replace(start, data=_edited(rng, start.data, BYTES))
    return replace(start, name=f"{start.name} with a long list")


def made(rng: Random, turn: int) -> Seed:
    """A model made by the grammar, sometimes with edits."""
    data = grammar.model(rng)
    return Seed("the grammar", _edited(rng, data, BYTES) if rng.random() < 0.2 else data, BINARY)


KINDS: tuple[Callable[[Random, int], Seed], ...] = (
    *(edited_message,) * 9,
    *(edited_text,) * 2,
    cut_list,
    cut_message,
    long_list,
    *(made,) * 2,
)
"""The kinds of inputs, which take turns by the number of the input. A kind that occurs often gets more inputs."""


def input_of(seed: int, number: int) -> Seed:
    """Return input `number` of the run with `seed`, with the name of its origin."""
    rng = random.Random(f"{seed}:{number}")
    # Half of the cuts lie between where two seeds begin, so that two runs go through all of them soon.
    turn = number // len(KINDS) + seed * truncation.count() // 2
    given = KINDS[number % len(KINDS)](rng, turn)
    return replace(given, data=given.data[:MAX_BYTES])


def _edited(rng: Random, data: bytes, edits: Sequence[Callable[[Random, bytes], bytes]]) -> bytes:
    for _ in range(rng.choice((1, 1, 2, 3))):
        data = rng.choice(edits)(rng, data)[:MAX_BYTES]
    return data
