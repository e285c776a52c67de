# SPDX-License-Identifier: Apache-2.0
"""`onnx-lint scan`: lints thousands of models on a Dask cluster (extra `fleet`).

Only the command `scan` imports it. It needs the extra `onnx-lint[fleet]`; `docs/fleet.md` documents it.
"""
