# SPDX-License-Identifier: Apache-2.0
"""Models as text, in unusual layouts."""

from __future__ import annotations

import random
import re
from itertools import pairwise

from google.protobuf import json_format, text_format

from onnx_lint import schema
from onnx_lint.schema import Proto
from support.wire.wire_bytes import is_repeated

_TOKENS = re.compile(r'"(?:[^"\\]|\\.)*"|[-+.\w]+|[][{}<>:,]')
_COMMENTS = ("  # käse } { \" '\n", "\n# x: [\n")


def written(proto: Proto, form: str, choose: random.Random) -> str:
    """Return the message as text, in one of the ways in which the library writes it."""
    if form == "json":
        keeps_names = choose.random() < 0.3
        return json_format.MessageToJson(proto, preserving_proto_field_name=keeps_names, descriptor_pool=schema.pool())
    if choose.random() < 0.4:
        return _in_brackets(proto, choose)
    return text_format.MessageToString(
        proto,
        as_utf8=choose.random() < 0.5,
        use_short_repeated_primitives=choose.random() < 0.3,
        pointy_brackets=choose.random() < 0.3,
    )


def _in_brackets(proto: Proto, choose: random.Random) -> str:
    """Return the message as text with some lists of messages and strings in brackets, on one line or several."""
    parts = []
    for field, value in proto.ListFields():
        items = value if is_repeated(field) else [value]
        if field.message_type is not None:
            elements = [f"{{ {_in_brackets(item, choose)} }}" for item in items]
        else:
            elements = [text_format.MessageToString(_only(proto, field.name, item)) for item in items]
            elements = [element.partition(": ")[2].strip() for element in elements]
        if is_repeated(field) and choose.random() < 0.7:
            gap = choose.choice([", ", ",\n", "\n, "])
            edge = choose.choice(["", "\n"])
            parts.append(f"{field.name}: [{edge}{gap.join(elements)}{edge}]")
        else:
            parts += [f"{field.name}: {element}" for element in elements]
    return choose.choice([" ", "\n"]).join(parts)


def _only(proto: Proto, name: str, item: object) -> Proto:
    """Return a message of the same kind with one value."""
    found = type(proto)()
    if is_repeated(found.DESCRIPTOR.fields_by_name[name]):
        getattr(found, name).append(item)
    else:
        setattr(found, name, item)
    return found


def parsed(text: str, form: str) -> Proto:
    """Return the message in a text."""
    parse = json_format.Parse if form == "json" else text_format.Parse
    return parse(text.removeprefix("\ufeff"), schema.message("ModelProto")(), descriptor_pool=schema.pool())


def laid_out(text: str, form: str, choose: random.Random) -> str:
    """Return the text with other space, comments and separators between its tokens."""
    if choose.random() < 0.2:
        return text
    pieces = [choose.choice(["", "\ufeff"])]
    for token, following in pairwise([*_TOKENS.findall(text), ""]):
        is_separate = re.match(r'[\w"][-+.\w"]', token[-1] + following[:1]) is None
        space = choose.choice([" ", "\n", "\n  ", "\t", " \n\n ", "\r\n", *([""] if is_separate else [])])
        if form != "json" and choose.random() < 0.1:
            space = choose.choice(_COMMENTS)
        elif form != "json" and choose.random() < 0.1 and token in ("}", ">") and following not in ("", ",", "]"):
            space = choose.choice([", ", "; ", ";\n"])
        pieces += [token, space]
    return "".join(pieces)
