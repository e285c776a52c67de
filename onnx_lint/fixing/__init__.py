# SPDX-License-Identifier: Apache-2.0
"""`onnx-lint fix`: edits only those bytes of a file that a fix changes."""
