# SPDX-License-Identifier: Apache-2.0
"""The nodes that a release of ONNX Runtime refuses, or with which each of its runs fails."""
