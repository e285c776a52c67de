# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial

from onnx_lint.model import Model, Place, salted_text
from onnx_lint.rule import Finding, Related, on_elements, rule
from onnx_lint.wording import and_others, quote


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
    - There is one finding for each map; it names the first repeated key and the number of others.
    """
    for value, place in model.values.of("MapProto"):
        for field in ("keys", "string_keys"):
            keys: Sequence[int | bytes] = getattr(value, field)
            texts = [salted_text(key) for key in keys]
            if len(set(texts)) == len(texts):
                continue
            first: dict[str, int] = {}
            repeated = [index for index, text in enumerate(texts) if first.setdefault(text, index) != index]
            finding = partial(_finding, place, field, keys, {index: first[texts[index]] for index in repeated})
            yield on_elements(finding, repeated[0], len(repeated), repeated)


def _finding(
    place: Place, field: str, keys: Sequence[int | bytes], first: Mapping[int, int], index: int, count: int
) -> Finding:
    key = keys[index]
    shown = quote(key.decode("utf-8", "surrogateescape")) if isinstance(key, bytes) else str(key)
    return Finding(
        place.at(field, index),
        f"key {shown} of the map is listed twice{and_others(count)}",
        related=(Related(place.at(field, first[index]), "the first"),),
        allowed="each key once",
        subject=shown,
    )
