# SPDX-License-Identifier: Apache-2.0
"""Small whole models that are mostly right, judged beside `onnx` and the runtimes; docs/fuzzing.md says how."""
