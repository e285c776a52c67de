# SPDX-License-Identifier: Apache-2.0
"""Makes one edit in a parsed message, to show what it changes there."""

from __future__ import annotations

from onnx_lint.ir.places.edits import Assign, Delete, Edit, Insert
from onnx_lint.ir.places.place import PlaceKey
from onnx_lint.schema import Proto


def edited(message: Proto, edit: Edit, rest: PlaceKey) -> Proto:
    """Return a copy of the message with an edit; `rest` are the steps from the message to the place of the edit.

    An edit of the whole message changes nothing here. Nor does an edit of an element that was not loaded, such as one
    of the numbers of a large tensor.
    """
    if not rest:
        return message
    copy = type(message)()
    copy.CopyFrom(message)
    *around, (field, index) = rest
    inner = copy
    for name, number in around:
        inner = getattr(inner, name) if number is None else getattr(inner, name)[number]
    if index is None:
        _edit_field(inner, edit, field)
    elif index <= len(getattr(inner, field)):
        _edit_list(getattr(inner, field), edit, index)
    return copy


def _edit_field(message: Proto, edit: Edit, field: str) -> None:
    if isinstance(edit, Delete) and edit.keeps_last:
        return
    message.ClearField(field)
    if isinstance(edit, Assign):
        message.MergeFrom(type(message)(**{field: edit.value}))


def _edit_list(items: Proto, edit: Edit, index: int) -> None:
    if isinstance(edit, Assign | Delete):
        del items[index : index + 1]
    if isinstance(edit, Assign | Insert):
        items.insert(index, edit.value)
