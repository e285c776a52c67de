# SPDX-License-Identifier: Apache-2.0
"""The nodes that a release of ONNX Runtime, OpenVINO or TensorRT refuses, each with the cause."""
