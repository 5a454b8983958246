"""Runs a student's function on an input that it must refuse, and says whether it did with a ValueError.

Neither its message nor its name is reported: both are the student's own, and could carry a hidden input out.
"""

from collections.abc import Callable
from typing import Any


def run(function: Callable[..., Any], *args: Any, **kwargs: Any) -> str:
    """Call the function once.

    Returns:
        "ValueError" for a ValueError or a kind of it, "other" for another exception, "" where it returned something.

    Raises:
        NotImplementedError: the stub's own, so that an exercise that is still to do is seen as such.
    """
    try:
        function(*args, **kwargs)
    except NotImplementedError:
        raise
    except ValueError:
        return "ValueError"
    except Exception:
        return "other"
    return ""
