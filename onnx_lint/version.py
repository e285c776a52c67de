# SPDX-License-Identifier: Apache-2.0
"""The version of onnx-lint."""

__version__ = "0.2.0"
