# SPDX-License-Identifier: Apache-2.0
"""The lint of thousands of models on a cluster of Dask, and the folder of reports that comes of it.

Imported by the command `scan` alone; it needs the extra `onnx-lint[fleet]`. `docs/fleet.md` is its documentation.
"""
