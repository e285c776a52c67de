# SPDX-License-Identifier: Apache-2.0
"""A decorator for a test of many small cases: one test runs them all, in a tenth of the time of a test for each."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Collection, Iterable
from typing import Any

from support.project.sampled import one_in as with_step

Decorator = Callable[[Callable[..., None]], Callable[..., None]]


def each_case(
    names: str | tuple[str, ...],
    cases: Collection[Any],
    ids: Callable[[Any], object] | Iterable[object] = repr,
    one_in: int = 1,
) -> Decorator:
    """Call the test with each case; if any fail, raise all their exceptions, each with a note that names its case.

    `names` and `cases` are those of `pytest.mark.parametrize`. All cases get the same fixtures.
    The default run takes one case in `one_in`, and the slow tests take all.
    """
    arguments = names.replace(",", " ").split() if isinstance(names, str) else names
    named = [*zip(cases, map(ids, cases) if callable(ids) else ids, strict=True)]
    assert named, "the list of cases is empty"

    def decorated(test: Callable[..., None]) -> Callable[..., None]:
        @functools.wraps(test)
        def test_each(*self: object, step: int = 1, **fixtures: object) -> None:
            failed: dict[str, Exception] = {}
            for case, name in named[::step]:
                values = case if len(arguments) > 1 else (case,)
                try:
                    test(*self, **fixtures, **dict(zip(arguments, values, strict=True)))
                except Exception as error:
                    error.add_note(f"case: {name}")
                    failed[str(name)] = error
            if failed:
                raise ExceptionGroup(f"{len(failed)} of {len(cases)} cases: {', '.join(failed)}", [*failed.values()])

        signature = inspect.signature(test)
        left = [parameter for name, parameter in signature.parameters.items() if name not in arguments]
        if one_in > 1:
            left.append(inspect.Parameter("step", inspect.Parameter.KEYWORD_ONLY))
        test_each.__signature__ = signature.replace(parameters=left)  # type: ignore[attr-defined]
        return with_step(one_in)(test_each) if one_in > 1 else test_each

    return decorated
