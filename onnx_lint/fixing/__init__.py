# SPDX-License-Identifier: Apache-2.0
"""`onnx-lint fix`: makes the edits of fixes in the bytes of a file, and replaces nothing else."""
