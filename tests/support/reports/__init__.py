# SPDX-License-Identifier: Apache-2.0
"""Reports, and folders of models to make reports of."""
