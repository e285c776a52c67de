# SPDX-License-Identifier: Apache-2.0
"""Models and parts of models."""
