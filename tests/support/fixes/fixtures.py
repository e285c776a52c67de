# SPDX-License-Identifier: Apache-2.0
"""The fixtures whose findings have fixes, as files with their settings."""

from __future__ import annotations

import functools
from collections.abc import Collection, Iterator

from google.protobuf import text_format

from onnx_lint import schema
from onnx_lint.common.record import replace
from onnx_lint.engine.settings import Settings
from support.project.checkout import ROOT
from support.project.fixture_files import FIXTURES, read_fixture


@functools.cache
def rules_with_fixes() -> tuple[str, ...]:
    """Return the ids of the rules that propose fixes."""
    sources = sorted((ROOT / "rules").rglob("*.py"))
    return tuple(path.stem.replace("_", "-") for path in sources if "fix=" in path.read_text(encoding="utf-8"))


def faulty_files(
    *, rules: Collection[str] = (), of_all_rules: bool = False, one_in: int = 1
) -> Iterator[tuple[str, bytes, Settings]]:
    """Yield the name, the binary form and the settings of each fixture with a fault. The chapter hygiene is selected.

    `rules`: the rules whose fixtures are yielded, by default all with fixes. `of_all_rules`: whether to yield fixtures
    of rules without fixes too; they have findings of other rules. `one_in`: one of so many is yielded.
    """
    paths = sorted(FIXTURES.glob("*/invalid/*.*"))
    if not of_all_rules:
        chosen = rules or rules_with_fixes()
        paths = [path for path in paths if path.parts[-3] in chosen]
    for path in paths[::one_in]:
        fixture = read_fixture(path)
        settings = fixture.settings
        if not settings.select:
            settings = replace(settings, extend_select=("hygiene",))
        data = fixture.data
        if fixture.is_text:
            model = fixture.model()
            if not model.loaded:
                continue
            proto = text_format.Parse(fixture.text, schema.message(model.kind)(), descriptor_pool=schema.pool())
            data = proto.SerializePartialToString(deterministic=True)
        yield fixture.id, data, settings
