# SPDX-License-Identifier: Apache-2.0
"""The cache of reports on unchanged files (`--cache`)."""
