# SPDX-License-Identifier: Apache-2.0
"""What follows from the file: the types and shapes that operators give to values."""
