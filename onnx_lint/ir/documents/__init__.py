# SPDX-License-Identifier: Apache-2.0
"""What documents of ONNX other than models are: which kinds there are, and what they hold."""
