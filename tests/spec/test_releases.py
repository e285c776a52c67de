# SPDX-License-Identifier: Apache-2.0
"""The table of releases, and what an edition knows by it."""

from __future__ import annotations

import pytest

from onnx_lint.spec.releases import RELEASES, release_named, release_of_edition
from onnx_lint.spec.standard import EDITIONS


@pytest.mark.parametrize(
    ("edition", "ir_version", "versions"),
    [
        ("1.9", 7, {"": 14, "ai.onnx.ml": 2, "ai.onnx.preview.training": 1, "ai.onnx.preview": 0}),
        ("1.16", 10, {"": 21, "ai.onnx.ml": 5, "ai.onnx.preview.training": 1, "ai.onnx.preview": 0}),
        ("1.21", 13, {"": 26, "ai.onnx.ml": 5, "ai.onnx.preview.training": 1, "ai.onnx.preview": 0}),
        ("1.23", 14, {"": 28, "ai.onnx.ml": 5, "ai.onnx.preview.training": 1, "ai.onnx.preview": 1}),
    ],
)
def test_what_an_edition_knows(edition: str, ir_version: int, versions: dict[str, int]):
    release = release_of_edition(edition)
    assert release.ir_version == ir_version
    assert {domain: release.opset_version(domain) for domain in versions} == versions


def test_each_edition_has_a_release_and_the_newest_the_last():
    assert [release_of_edition(edition).onnx.rsplit(".", 1)[0] for edition in EDITIONS] == list(EDITIONS)
    assert release_of_edition(EDITIONS[-1]) is RELEASES[-1]


@pytest.mark.parametrize("edition", ["1", "1.1.", "2.0", "", "1.2.0"])
def test_an_edition_that_no_release_published(edition: str):
    with pytest.raises(ValueError, match="no release published edition"):
        release_of_edition(edition)


@pytest.mark.parametrize(
    ("name", "release"),
    [
        ("1.14.1", "1.14.1"),
        ("1.14", "1.14.0"),
        ("1.4", "1.4.1"),
        ("1.1", "1.1"),
        ("1", None),
        ("1.4.", None),
        ("", None),
    ],
)
def test_a_release_is_found_by_its_number(name: str, release: str | None):
    found = release_named(name)
    assert (found and found.onnx) == release


def test_no_number_falls_from_one_release_to_the_next():
    for field in ("ir_version", "ai_onnx", "ai_onnx_ml", "ai_onnx_training", "ai_onnx_preview"):
        numbers = [getattr(release, field) for release in RELEASES]
        assert numbers == sorted(numbers)
