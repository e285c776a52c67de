# SPDX-License-Identifier: Apache-2.0
"""Has something happen at a certain step of a call, where a step is a line of some modules that is about to run."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable
from types import FrameType, ModuleType
from typing import Any


def at_step(number: int, modules: Iterable[ModuleType], happen: Callable[[], None], act: Callable[[], Any]) -> bool:
    """Run `act`, and `happen` before its step of this number, from 0 on; returns whether it has so many steps.

    What either of them raises is raised.
    """
    files = {module.__file__ for module in modules}
    left = number

    def local(frame: FrameType, event: str, _: object) -> Any:
        nonlocal left
        if event == "line" and left >= 0:
            left -= 1
            if left < 0:
                sys.settrace(None)
                happen()
        return local

    def enter(frame: FrameType, _event: str, _: object) -> Any:
        return local if left >= 0 and frame.f_code.co_filename in files else None

    before = sys.gettrace()
    sys.settrace(enter)
    try:
        act()
    finally:
        sys.settrace(before)
    return left < 0
