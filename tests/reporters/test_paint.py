# SPDX-License-Identifier: Apache-2.0
"""Lines for a terminal are wrapped between words."""

from __future__ import annotations

import io

from support.project.each_case import each_case

from onnx_lint.reporters.paint import painter, plain


@each_case("width", range(30, 60))
def test_no_line_ends_between_a_count_and_what_is_counted(width: int):
    stream = io.StringIO()
    painter(stream, color=False, width=width)(
        plain("a/model.onnx: 1,672 errors, 3 warnings; 2 nodes in 1 graph; input 0 'x'")
    )
    lines = stream.getvalue().splitlines()
    assert max(map(len, lines)) <= width
    assert not any(line.endswith(("1,672", "3", "2", "1")) for line in lines)
