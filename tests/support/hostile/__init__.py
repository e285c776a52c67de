# SPDX-License-Identifier: Apache-2.0
"""Files that are made to do harm."""
