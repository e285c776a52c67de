# SPDX-License-Identifier: Apache-2.0
"""The resolution of the names of node inputs, and cycles of nodes."""

from __future__ import annotations

import pytest
from support.models.model_samples import from_text
from support.project.sampled import one_in


def _names(text: str) -> dict[str, list[str]]:
    resolution = from_text(text).resolution
    return {
        "undefined": [f"{found.uses(1)[0].place} {found.name}" for found in resolution.undefined],
        "unordered": [f"{late.use.place} {late.use.name} {late.producer.index}" for late in resolution.unordered],
        "cycles": [" ".join(cycle.values) for cycle in resolution.cycles],
    }


@pytest.mark.parametrize(
    ("nodes", "undefined", "unordered", "cycles"),
    [
        ('node { input: "x" output: "a" } node { input: "a" output: "b" }', [], [], []),
        ('node { input: "z" output: "a" }', ["graph.node[0].input[0] z"], [], []),
        ('node { input: "b" output: "a" } node { input: "x" output: "b" }', [], ["graph.node[0].input[0] b 1"], []),
        ('node { input: "b" output: "a" } node { input: "a" output: "b" }', [], [], ["a b"]),
        ('node { input: "a" output: "a" }', [], [], ["a"]),
        (
            'node { input: "d" output: "a" } node { input: "c" output: "b" } node { input: "b" output: "c" } '
            'node { input: "x" output: "d" }',
            [],
            ["graph.node[0].input[0] d 3"],
            ["b c"],
        ),
        ('node { input: "" output: "" } node { input: "x" input: "" output: "a" }', [], [], []),
    ],
)
def test_names_resolve(nodes: str, undefined: list[str], unordered: list[str], cycles: list[str]):
    text = f'graph {{ input {{ name: "x" }} {nodes} }}'
    assert _names(text) == {"undefined": undefined, "unordered": unordered, "cycles": cycles}


@one_in(4)
def test_a_long_cycle_is_named_whole_and_quickly(step: int):
    count = 20_000 // step
    nodes = "".join(f'node {{ input: "v{(index - 1) % count}" output: "v{index}" }}\n' for index in range(count))
    resolution = from_text(f"graph {{ {nodes} }}").resolution
    (cycle,) = resolution.cycles
    assert cycle.values == tuple(f"v{index}" for index in range(count))
    assert (list(resolution.undefined), list(resolution.unordered)) == ([], [])
