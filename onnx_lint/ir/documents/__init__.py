# SPDX-License-Identifier: Apache-2.0
"""Documents of ONNX other than models: their kinds, and their contents."""
