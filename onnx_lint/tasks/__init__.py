# SPDX-License-Identifier: Apache-2.0
"""Lints the files of a run, in this process or in processes beside it."""
