# SPDX-License-Identifier: Apache-2.0
"""The values of tensors: their types, the number of stored values, and the values themselves, in bounded pieces.

Sizes and structure come from the message and from the payloads that the loader left in the source; only rules on
contents read those. Rules begin with `Model.tensors`.
"""
