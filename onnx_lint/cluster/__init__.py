# SPDX-License-Identifier: Apache-2.0
"""Lints the files of a run on the workers of a Dask cluster (`--cluster`)."""

from __future__ import annotations


class ClusterError(Exception):
    """The cluster cannot lint, or was lost. The text is for users."""
