# SPDX-License-Identifier: Apache-2.0
"""Types and shapes, followed together from inputs, initializers and attributes through a whole model."""
