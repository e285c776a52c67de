# SPDX-License-Identifier: Apache-2.0
"""`onnx-lint scan`: lints thousands of models on a Dask cluster (extra `fleet`).

Imported by the command `scan` alone; it needs the extra `onnx-lint[fleet]`. `docs/fleet.md` is its documentation.
"""
