# SPDX-License-Identifier: Apache-2.0
"""The inference of the types and shapes of values."""
