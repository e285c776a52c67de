# SPDX-License-Identifier: Apache-2.0
"""The cluster of Dask: one that is there, or one of processes on this machine for the time of a scan."""

from __future__ import annotations

import contextlib
import logging
import os
import signal
from collections.abc import Iterator
from multiprocessing import resource_tracker
from typing import Final

import dask
from distributed import Client, LocalCluster

from onnx_lint.fleet.errors import FleetError
from onnx_lint.reporters.escape import visible

_QUIET: Final[dict[str, object]] = {
    # What a worker says when it is killed or started is no news: who is to know of it is told by name at the end.
    "distributed.logging.distributed": "critical",
    # Processes of ours watch the memory of each model; a worker itself has none to speak of.
    "distributed.worker.memory.target": False,
    "distributed.worker.memory.spill": False,
    "distributed.worker.memory.pause": False,
    "distributed.worker.memory.terminate": False,
    # Models with which workers end are found out by trying each by itself; no need to lose many of them before.
    "distributed.scheduler.allowed-failures": 1,
    "distributed.comm.timeouts.connect": "30s",
}


@contextlib.contextmanager
def connected(scheduler: str | None, workers: int) -> Iterator[Client]:
    """A client of the scheduler at this address, or of a cluster of so many workers, which ends with the context.

    Raises FleetError where there is no such scheduler.
    """
    with dask.config.set(_QUIET if scheduler is None else {}), _silent(), contextlib.ExitStack() as stack:
        if scheduler is not None:
            with _client_of(scheduler) as client:
                yield client
            return
        stack.enter_context(_nothing_from_the_working_directory())
        with _interrupts_held():
            cluster = LocalCluster(
                n_workers=0,
                threads_per_worker=1,
                processes=True,
                memory_limit=0,
                dashboard_address="127.0.0.1:0",
                silence_logs=logging.CRITICAL,
            )
        with cluster, Client(cluster) as client:
            # A process that ends while it is started Dask gives up, unless a number of them is asked for all the time.
            cluster.adapt(minimum=workers, maximum=workers, interval="2s")
            yield client


def _client_of(scheduler: str) -> Client:
    try:
        return Client(scheduler, timeout="30s")
    except (OSError, ValueError) as error:
        raise FleetError(f"no scheduler of Dask answers at {visible(scheduler)}: {visible(str(error))}") from error


@contextlib.contextmanager
def _silent() -> Iterator[None]:
    """Hold back what Dask logs in this process: broken connections to workers, which it mends."""
    names = [name for name in logging.root.manager.loggerDict if name.partition(".")[0] in {"asyncio", "distributed"}]
    levels = {name: logging.getLogger(name).level for name in names}
    for name in names:
        logging.getLogger(name).setLevel(logging.CRITICAL + 1)
    try:
        yield
    finally:
        for name, level in levels.items():
            logging.getLogger(name).setLevel(level)


@contextlib.contextmanager
def _nothing_from_the_working_directory() -> Iterator[None]:
    """Have processes that are started not look for modules where models of strangers may lie."""
    name = "PYTHONSAFEPATH"
    before = os.environ.get(name)
    os.environ[name] = "1"
    try:
        yield
    finally:
        if before is None:
            del os.environ[name]
        else:
            os.environ[name] = before


@contextlib.contextmanager
def _interrupts_held() -> Iterator[None]:
    """Hold back Ctrl-C in the processes and threads that are started meanwhile: this process alone decides on it."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    resource_tracker.ensure_running()  # which lets signals through in the thread that it is started from
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
