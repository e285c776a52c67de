# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Iterator, Sequence

from onnx_lint.model import Model, salted_text
from onnx_lint.rule import Finding, Related, rule
from onnx_lint.wording import quote


@rule(clause="VAL-4b", since="0.1.0", needs="value")
def duplicate_map_key(model: Model) -> Iterator[Finding]:
    """A serialized map has a key twice.

    ### How to fix

    Write one entry for each key. `onnx.numpy_helper.from_dict` writes a dictionary, which has no key twice.

    ### Example

    ```
    # proto: MapProto
    key_type: 7 keys: [1, 1]
    values { elem_type: 1
             tensor_values { data_type: 1 float_data: 0.5 } tensor_values { data_type: 1 float_data: 0.25 } }
    ```

    Corrected:

    ```
    # proto: MapProto
    key_type: 7 keys: [1, 2]
    values { elem_type: 1
             tensor_values { data_type: 1 float_data: 0.5 } tensor_values { data_type: 1 float_data: 0.25 } }
    ```

    ### Why it matters

    The reader decides which of the two values the key has.

    ### Details

    - The specification calls a map an associative table and says no more. A reader that makes a dictionary of it keeps
      one of the two values.
    - In each map, only the first repeated key is reported.
    """
    for value, place in model.values.of("MapProto"):
        for field in ("keys", "string_keys"):
            keys: Sequence[int | bytes] = getattr(value, field)
            texts = [salted_text(key) for key in keys]
            if len(set(texts)) == len(texts):
                continue
            first: dict[str, int] = {}
            index = next(index for index, text in enumerate(texts) if first.setdefault(text, index) != index)
            key = keys[index]
            shown = quote(key.decode("utf-8", "surrogateescape")) if isinstance(key, bytes) else str(key)
            yield Finding(
                place.at(field, index),
                f"key {shown} of the map is listed twice",
                related=(Related(place.at(field, first[texts[index]]), "the first"),),
                allowed="each key once",
                subject=shown,
            )
