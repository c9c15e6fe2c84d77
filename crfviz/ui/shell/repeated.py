"""What Streamlit works out anew many times in every run, and is worked out once here.

The theme is looked for among all settings, six times a run; the links in the sidebar, which all say
the same, are written one by one; the signature of a remembered function is read for each argument
of each call. Of the data of a live component it tells for each value whether it is a table, and its
settings are looked up with each run. And once, while the first visitor of a server waits, Streamlit
looks through all modules there are to tell whether somebody typed the script, which nobody did.
"""

import importlib
import logging
from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any

from streamlit.runtime import Runtime

_SESSION, _THEME = "streamlit.runtime.app_session", "_populate_theme_msg"
_ELEMENTS, _TOLD = "streamlit.delta_generator", "_use_warning_has_been_displayed"
_LINK, _QUERY = "streamlit.elements.widgets.button", "process_query_params"
_DATA = "streamlit.components.v2.bidi_component.serialization"
_IS_TABLE, _SETTINGS = "is_dataframe_like", "_populate_config_msg"
_CACHES, _ARGUMENT = "streamlit.runtime.caching.cache_utils", "_get_positional_arg_name"
PLAIN = (str, int, float, bool, type(None), list, tuple, dict)  # a mapping to these is no table
MOST = 64  # queries to remember
MOST_ARGUMENTS = 512  # of functions, whose names are remembered

_log = logging.getLogger(__name__)


def remember_repeated() -> bool:
    """Have Streamlit remember them; whether that could be done.

    Another Streamlit may work them out elsewhere: then it does so each time.
    """
    done = [
        _replace(_SESSION, _THEME, _theme_once),
        _replace(_LINK, _QUERY, _query_once),
        _replace(_CACHES, _ARGUMENT, lru_cache(maxsize=MOST_ARGUMENTS)),
        _replace(_DATA, _IS_TABLE, _of_plain_values_never),
        _replace(_SESSION, _SETTINGS, _settings_once),
    ]
    return all(done)


def tell_how_it_was_started() -> bool:
    """Spare Streamlit the look at how it was started; whether that could be done.

    Outside of a server it may warn of that: then it looks at the first element.
    """
    elements = importlib.import_module(_ELEMENTS)
    if not hasattr(elements, _TOLD) or not Runtime.exists():
        return False
    setattr(elements, _TOLD, True)
    return True


def _replace(module: str, name: str, wrapper: Callable[[Any], Any]) -> bool:
    holder = importlib.import_module(module)
    original = getattr(holder, name, None)
    if original is None:
        _log.warning("%s of %s is not there: it is not remembered", name, module)
        return False
    setattr(holder, name, wrapper(getattr(original, "__wrapped__", original)))
    return True


def _theme_once(populate: Callable[..., None]) -> Callable[..., None]:
    made: dict[str, Any] = {}

    def told(message: Any, section: str = "theme") -> None:  # noqa: ANN401 - a protobuf
        if section not in made:
            part = type(message)()
            populate(part, section)
            made[section] = part
        if made[section].ByteSize():  # an empty one is no theme
            message.MergeFrom(made[section])

    told.__wrapped__ = populate  # type: ignore[attr-defined]
    return told


def _settings_once(populate: Callable[[Any], None]) -> Callable[[Any], None]:
    made: list[Any] = []

    def told(message: Any) -> None:  # noqa: ANN401 - a protobuf
        if not made:
            made.append(type(message)())
            populate(made[0])
        message.MergeFrom(made[0])

    told.__wrapped__ = populate  # type: ignore[attr-defined]
    return told


def _of_plain_values_never(is_table: Callable[[Any], bool]) -> Callable[[Any], bool]:
    def told(value: Any) -> bool:  # noqa: ANN401 - whatever a component is given
        plain = type(value) is dict and all(type(each) in PLAIN for each in value.values())
        return not plain and is_table(value)

    told.__wrapped__ = is_table  # type: ignore[attr-defined]
    return told


def _query_once(process: Callable[[Any], str]) -> Callable[[Any], str]:
    @lru_cache(maxsize=MOST)
    def of_texts(items: tuple[tuple[str, str], ...]) -> str:
        return process(dict(items))

    def told(params: Any) -> str:  # noqa: ANN401 - whatever Streamlit takes
        if isinstance(params, Mapping) and all(isinstance(text, str) for text in params.values()):
            return of_texts(tuple(params.items()))
        return process(params)

    told.__wrapped__ = process  # type: ignore[attr-defined]
    return told
