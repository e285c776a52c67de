# SPDX-License-Identifier: Apache-2.0
"""Generated models, judged by onnx-lint, `onnx` and the runtimes; see docs/fuzzing.md."""
