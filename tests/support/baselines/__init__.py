# SPDX-License-Identifier: Apache-2.0
"""What changes of a model, and exchanged faults, mean for a baseline."""
