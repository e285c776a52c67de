# SPDX-License-Identifier: Apache-2.0
"""Faults of the attributes of LabelEncoder, LinearClassifier and TfIdfVectorizer."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import pairwise
from typing import Final

from onnx_lint.schema import Proto
from onnx_lint.spec.element_types import ELEMENT_TYPES
from onnx_lint.wording import counted, describe_shape

ValueFault = tuple[str, str, str, str | None] | tuple[str, str, str, str | None, int]
"""The attribute, the fault, what is allowed, the attribute that it contradicts, and the index of a wrong element."""

_VALUES: Final = {"values_int64s": "int64", "values_floats": "float", "values_strings": "string"}


def encoder_faults(given: Mapping[str, Proto]) -> Iterator[ValueFault]:
    """Yield tensors of LabelEncoder that are not lists, and wrong defaults.

    A default must have one element, and the type of the values.
    """
    for name in ("keys_tensor", "values_tensor"):
        if name in given and len(given[name].t.dims) != 1:
            yield (
                name,
                f"has {counted(len(given[name].t.dims), 'dimension')}, but must have 1",
                "a tensor of 1 dimension",
                None,
            )
    default = given.get("default_tensor")
    if default is None or default.t.data_type not in ELEMENT_TYPES:
        return
    if list(default.t.dims) != [1]:
        shape = describe_shape(default.t.dims)
        yield "default_tensor", f"is {shape}, but must be [1]", "the shape [1]", None
        return
    kinds = {name: kind for name, kind in _VALUES.items() if name in given}
    if "values_tensor" in given and given["values_tensor"].t.data_type in ELEMENT_TYPES:
        kinds["values_tensor"] = ELEMENT_TYPES[given["values_tensor"].t.data_type].name
    own = ELEMENT_TYPES[default.t.data_type].name
    if len(kinds) != 1:
        return  # another rule reports two lists of values
    for name, kind in kinds.items():
        if kind != own:
            yield "default_tensor", f"is a tensor of {own}, but '{name}' holds {kind}", f"a tensor of {kind}", name


# --- LinearClassifier


def linear_classifier_faults(given: Mapping[str, Proto]) -> Iterator[ValueFault]:
    """Labels and coefficients that do not go with the intercepts: one for each model, and each class has a score."""
    models = len(given["intercepts"].floats) if "intercepts" in given else 0
    if not models:
        return
    counts = {
        name: count
        for name, field in (("classlabels_ints", "ints"), ("classlabels_strings", "strings"))
        if (count := len(getattr(given[name], field)) if name in given else 0)
    }
    if len(counts) == 1:  # two lists of labels have a finding of their own
        name, labels = counts.popitem()
        wanted = 2 if models == 1 else models
        if labels != wanted:
            allowed = f"{wanted} elements, " + ("for a single model" if models == 1 else "as many as 'intercepts'")
            needed = f"a classifier with {counted(models, 'intercept')} needs {wanted}"
            yield name, f"has {counted(labels, 'label')}, but {needed}", allowed, "intercepts"
    numbers = len(given["coefficients"].floats) if "coefficients" in given else 0
    if numbers % models:
        what = f"has {counted(numbers, 'element')}, which is not a multiple of the {models} of 'intercepts'"
        yield "coefficients", what, f"a multiple of {models}, one for each feature and model", "intercepts"


# --- TfIdfVectorizer


def n_gram_faults(given: Mapping[str, Proto]) -> Iterator[ValueFault]:
    """Yield contradictory numbers of TfIdfVectorizer: n-gram lengths, begins in the pool, and output indexes."""
    starts = list(given["ngram_counts"].ints) if "ngram_counts" in given else []
    least, greatest = (given[name].i if name in given else None for name in ("min_gram_length", "max_gram_length"))
    if least is not None and greatest is not None and least > greatest:
        yield (
            "min_gram_length",
            f"is {least}, but 'max_gram_length' is {greatest}",
            "at most 'max_gram_length'",
            "max_gram_length",
        )
        return
    if starts and greatest is not None and greatest > len(starts):
        what = f"is {greatest}, but 'ngram_counts' has {counted(len(starts), 'element')}"
        yield "max_gram_length", what, f"at most {len(starts)}, or more elements of 'ngram_counts'", "ngram_counts"
    pools = {
        name: size
        for name, field in (("pool_int64s", "ints"), ("pool_strings", "strings"))
        if (size := len(getattr(given[name], field)) if name in given else 0)
    }
    if len(pools) == 1 and starts and min(starts) >= 0:
        yield from _pool_faults(given, starts, *pools.popitem())


def _pool_faults(given: Mapping[str, Proto], starts: list[int], pool: str, size: int) -> Iterator[ValueFault]:
    n_grams = 0
    for n, (start, end) in enumerate(pairwise([*starts, size]), 1):
        if start > end:
            after = f"element {n} is {end}" if n < len(starts) else f"'{pool}' has {counted(size, 'element')}"
            yield (
                "ngram_counts",
                f"is {start}, but {after}",
                f"ascending numbers up to {size}",
                pool,
                n - 1,
            )
            return
        if (end - start) % n:
            what = f"leaves {counted(end - start, 'element')} of '{pool}' to n-grams of length {n}, no multiple of {n}"
            yield "ngram_counts", what, f"a multiple of {n} elements for them", pool, n - 1
            return
        n_grams += (end - start) // n
    count = len(given["ngram_indexes"].ints) if "ngram_indexes" in given else 0
    if count and count != n_grams:
        what = f"has {counted(count, 'element')}, but '{pool}' has {n_grams} n-grams"
        yield "ngram_indexes", what, f"{n_grams}, one for each n-gram", pool
