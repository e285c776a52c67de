# SPDX-License-Identifier: Apache-2.0
"""Judges a model by the programs and versions that `--target` names."""
