# SPDX-License-Identifier: Apache-2.0
"""The Dask cluster: an existing one, or processes on this machine for the duration of a scan."""

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
    # Messages about killed or started workers are not news: models without a verdict are listed at the end.
    "distributed.logging.distributed": "critical",
    # Our own processes limit the memory of each model; a worker itself needs little.
    "distributed.worker.memory.target": False,
    "distributed.worker.memory.spill": False,
    "distributed.worker.memory.pause": False,
    "distributed.worker.memory.terminate": False,
    # Models that end workers are found by trying each alone; there is no need to lose many workers before.
    "distributed.scheduler.allowed-failures": 1,
    "distributed.comm.timeouts.connect": "30s",
}


@contextlib.contextmanager
def connected(scheduler: str | None, workers: int) -> Iterator[Client]:
    """Yield a client of the scheduler at this address, or of a new local cluster with this number of workers.

    Raises FleetError if there is no such scheduler.
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
            # Dask does not replace a process that ends while it starts, unless it keeps the number of workers constant.
            cluster.adapt(minimum=workers, maximum=workers, interval="2s")
            yield client


def _client_of(scheduler: str) -> Client:
    try:
        return Client(scheduler, timeout="30s")
    except (OSError, ValueError) as error:
        raise FleetError(f"no scheduler of Dask answers at {visible(scheduler)}: {visible(str(error))}") from error


@contextlib.contextmanager
def _silent() -> Iterator[None]:
    """Suppress the log messages of Dask in this process. They are about lost connections, which it restores."""
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
    """Keep new processes from importing modules from the working directory, which may hold untrusted files."""
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
    """Block Ctrl-C in the processes and threads that are started inside this context: this process alone handles it."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    resource_tracker.ensure_running()  # which unblocks signals in the thread that starts it
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
