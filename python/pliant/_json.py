"""JSON of Python values, NumPy's among them."""

import json
import os


def _plain(value):
    """What the standard encoder does not know."""
    if hasattr(value, "tolist"):
        return value.tolist()
    if isinstance(value, os.PathLike):
        return os.fspath(value)
    raise TypeError(f"a scene cannot hold a {type(value).__name__}: {value!r:.80}")


def dumps(value):
    """The JSON text of a value; numbers that are not finite are refused."""
    try:
        return json.dumps(value, default=_plain, allow_nan=False)
    except ValueError as error:
        from ._pliant import ValueError as PliantValueError

        raise PliantValueError(f"scene: {error}: a number of it is not finite or it contains itself") from None


def plain(value):
    """A copy of a value as JSON has it: lists, dicts, numbers, text."""
    return json.loads(dumps(value))
