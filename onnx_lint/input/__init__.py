# SPDX-License-Identifier: Apache-2.0
"""What is read: paths, sources of bytes, and the limits on what is taken from them."""
