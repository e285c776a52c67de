# SPDX-License-Identifier: Apache-2.0
"""What maintainers run to make the files of the package that are derived from others. Not part of the package."""
