# SPDX-License-Identifier: Apache-2.0
"""What a configuration file turns off."""

from __future__ import annotations

from onnx_lint.cli.weakened import without_unused
from onnx_lint.report.totals import Weakening


def test_only_suppressions_that_suppressed_nothing_are_left_out():
    first, second = (f"onnx-lint.toml, suppress[{number}]" for number in range(2))
    keys = [f'suppress."{entry}".rule' for entry in (first, second)]
    weakened = [
        Weakening("onnx-lint.toml", (("ignore", ["cycle"]), *((key, "cycle") for key in keys)), is_found=True),
        Weakening("zoo/onnx-lint.toml", ((keys[0], "cycle"),)),
        Weakening("other.toml", (("fail-on", "never"),)),
    ]
    assert without_unused(weakened, [f"{second}: a reason: with a colon"]) == (
        Weakening("onnx-lint.toml", (("ignore", ["cycle"]), (keys[1], "cycle")), is_found=True),
        Weakening("other.toml", (("fail-on", "never"),)),
    )
