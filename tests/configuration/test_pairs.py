# SPDX-License-Identifier: Apache-2.0
"""Options that take pairs: each takes several in one text, and refuses what is no pair."""

from __future__ import annotations

import re
from typing import Any

import pytest

from onnx_lint.configuration.errors import RequestError
from onnx_lint.configuration.pairs import from_mapping, from_texts
from onnx_lint.configuration.settings import Request


@pytest.mark.parametrize(
    ("field", "texts", "values"),
    [
        ("opset_imports", ["17"], {"": 17}),
        ("opset_imports", ["ai.onnx=17,ai.onnx.ml=3"], {"": 17, "ai.onnx.ml": 3}),
        ("opset_imports", ["17, ai.onnx.ml=3", "com.acme=1"], {"": 17, "ai.onnx.ml": 3, "com.acme": 1}),
        ("opset_imports", ["17", "ai.onnx=18"], {"": 18}),
        ("limits", ["memory=4GiB, findings=1"], {"memory": "4GiB", "findings": "1"}),
        ("severities", ["cycle=note,undefined-name=warning"], {"cycle": "note", "undefined-name": "warning"}),
    ],
)
def test_each_option_takes_several_pairs(field: str, texts: list[str], values: dict[str, Any]):
    assert from_texts(Request.settings[field], texts) == values


@pytest.mark.parametrize(
    ("field", "text", "said"),
    [
        ("opset_imports", "", "--opset-import expects [DOMAIN=]N, not ''"),
        ("opset_imports", "17,", "--opset-import expects [DOMAIN=]N, not ''"),
        ("opset_imports", "ai.onnx", "--opset-import expects [DOMAIN=]N, not 'ai.onnx'"),
        ("opset_imports", "a=b=3", "--opset-import expects [DOMAIN=]N, not 'a=b=3'"),
        ("limits", "memory", "--limit expects NAME=VALUE, not 'memory'"),
        ("severities", "cycle", "--severity expects RULE=LEVEL, not 'cycle'"),
        ("severities", "cycle=eror", "unknown severity 'eror'; the severities are error, warning, note"),
    ],
)
def test_what_is_no_pair_is_refused(field: str, text: str, said: str):
    with pytest.raises(RequestError, match=f"^{re.escape(said)}$"):
        from_texts(Request.settings[field], [text])


def test_a_comma_or_equals_sign_in_a_mapping_begins_no_other_pair():
    assert from_mapping(Request.settings["limits"], {"memory": "1,fields=2"}) == {"memory": "1,fields=2"}
    for domain in ("ai.onnx=17,ai.onnx.ml", "a,b", "a=b"):
        with pytest.raises(RequestError, match=re.escape(f"not '{domain}=3'")):
            from_mapping(Request.settings["opset_imports"], {domain: 3})
