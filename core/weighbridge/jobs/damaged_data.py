"""The errors that data raises which is damaged, or which something other than Weighbridge has written."""

import msgspec

#: Raised by decoding such data, and by reading fields that it lacks or that have another type.
DAMAGED_DATA = (
    msgspec.MsgspecError,
    ValueError,
    TypeError,
    KeyError,
    IndexError,
    AttributeError,
    RecursionError,
)
