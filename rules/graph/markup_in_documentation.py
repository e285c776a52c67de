# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import re
from collections.abc import Iterator

from onnx_lint.model import Model, documentation_of, is_documented
from onnx_lint.rule import Finding, rule
from onnx_lint.wording import quote

_PAIRED = (
    "a|b|i|p|u|em|h[1-6]|li|ul|ol|dl|dt|dd|td|th|tr|div|pre|sub|sup|code|span|font|html|body|head|table|strong|script|"
    "style|details|summary|center|blockquote"
)
_LONE = "br|hr|img|a|p|div|span|font|table"
_TAG = re.compile(rf"</(?:{_PAIRED})\s*>|<(?:{_LONE})(?:\s[^<>]*)?/?>", re.IGNORECASE)
"""A closing tag of an element, or an opening one of those that stand alone or are hardly anything else."""


@rule(clause="GRA-7", since="0.1.0", about=is_documented, needs="metadata")
def markup_in_documentation(model: Model) -> Iterator[Finding]:
    """A documentation string contains HTML.

    ### How to fix

    Write plain text or Markdown, or delete the text: `onnx.helper.strip_doc_string` empties all of them
    (with onnx 1.23 it needs a version of protobuf before 7).

    ### Example

    ```
    graph { name: "g" doc_string: "A classifier.<br>See <a href='x'>the paper</a>." }
    ```

    Corrected:

    ```
    graph { name: "g" doc_string: "A classifier. See [the paper](x)." }
    ```

    ### Why it matters

    Tools show documentation as plain text or Markdown, some of them in a browser. Tags show up as text, or are
    interpreted where no one expects it.

    ### Details

    - Every `doc_string` is checked: of models, operator sets and their operators, graphs,
      functions, nodes, attributes, values and tensors.
    - Only tags that HTML defines are reported. Other text in angle brackets is accepted, for example `<module>` and
      `<lambda>` in a stack trace, or `Tensor<float>`.
    - It is a warning, because the English text says that markup "may not" be used, which RFC 2119 does not define.
    - In edition 1.21 it is an error, because its Russian text forbids it.
    """
    for text, place, thing in documentation_of(model, lambda text: "<" in text):
        tag = _TAG.search(text)
        if tag is not None:
            yield Finding(
                place.at("doc_string"),
                f"documentation of {thing} holds the tag {quote(tag[0])}",
                allowed="plain text or Markdown",
            )
