"""Tables for pandas, where there is one."""

from __future__ import annotations

from typing import Any, Dict


def frame(table: Dict[str, Any]):
    """A table as a ``pandas.DataFrame``."""
    try:
        import pandas
    except ImportError as error:
        raise ImportError("to_pandas() needs pandas: pip install pandas; .table has the same columns without it") from error
    return pandas.DataFrame(table)
