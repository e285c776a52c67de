# SPDX-License-Identifier: Apache-2.0
"""The loop around the worker processes of both fuzzers."""

from __future__ import annotations

from collections.abc import Callable
from multiprocessing.connection import Connection, wait
from typing import Protocol, TypeVar


class Member(Protocol):
    """A worker process that sends results."""

    connection: Connection

    def is_stuck(self) -> bool:
        """Return whether the worker takes too long for one input."""


_Member = TypeVar("_Member", bound=Member)


def attend(
    workers: list[_Member],
    receive: Callable[[_Member], bool],
    replace: Callable[[_Member], list[_Member]],
    seconds: float,
    idle: Callable[[list[_Member]], None] = lambda _: None,
) -> None:
    """Receive the messages of the workers until none is left.

    `receive` returns whether the worker continues; one that does not, or is stuck, gives way to what `replace` returns.
    `seconds`: how long to wait for the next result before stuck workers are looked for. `idle` is called after that.
    """
    while workers:
        ready = wait([worker.connection for worker in workers], timeout=seconds)
        for worker in list(workers):
            if worker.connection in ready:
                if receive(worker):
                    continue
            elif not worker.is_stuck():
                continue
            workers.remove(worker)
            workers += replace(worker)
        idle(workers)
