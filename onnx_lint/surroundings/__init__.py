# SPDX-License-Identifier: Apache-2.0
"""The lines and nodes around a finding, in ONNX's textual syntax."""
