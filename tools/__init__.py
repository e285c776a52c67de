# SPDX-License-Identifier: Apache-2.0
"""Scripts for maintainers that make the derived files of the package. Not part of the package."""
