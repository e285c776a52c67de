# SPDX-License-Identifier: Apache-2.0
"""Tries the changes that findings propose, so that a report shows only those that fix the model."""
