"""Settings from environment variables: every `CRFVIZ_*` variable, read once, typed and validated.

`settings()` reads the environment at its first call and returns the same frozen `Settings` from
then on. `settings.cache_clear()` makes the next call read the environment again; tests need that
after they set a variable, and `tests/conftest.py` does it for those that use `monkeypatch`.
"""

import os
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, fields
from functools import cache
from pathlib import Path
from typing import Literal, NamedTuple

from crfviz.exceptions import SettingsError
from crfviz.text.files import abbreviate

PREFIX = "CRFVIZ_"
MIN_TOKEN = 16  # characters
MAX_LIMIT = 1_000_000
HIDDEN = "***"  # printed instead of a secret

_ON, _OFF = ("on", "yes", "1", "true"), ("off", "no", "0", "false")
_DATABASE = re.compile(r"(postgres(ql)?|sqlite)(\+\w+)?://.+", flags=re.DOTALL)
_POSTGRES = re.compile(r"postgres(ql)?(\+\w+)?://.+", flags=re.DOTALL)
_ORIGIN = re.compile(r"https?://(\*\.)?[a-z0-9.-]+(:\d{1,5})?", flags=re.IGNORECASE)
_PLUGIN = re.compile(r"^[^\W\d]\w*(\.[^\W\d]\w*)*:[^\W\d]\w*")
_NAME = re.compile(r"[a-z0-9-]{1,32}")
_PASSWORD = re.compile(r"(?<=:)[^:/]+(?=@)")
_PLACEHOLDER = re.compile(r"\$\{\w+")


@dataclass(frozen=True)
class Limits:
    """Load limits of a server; whole numbers from 1 on."""

    requests: int = 40  # messages a second of one session; a key held down makes some 30
    jobs: int = 3  # queued and running long jobs of one visitor
    line: int = 50  # queued and running long jobs of all visitors


class Variable(NamedTuple):
    """Parser and documentation of a setting."""

    parse: Callable[[str], object]  # raises ValueError for a bad value
    values: str  # what the variable accepts
    default: str
    meaning: str
    is_secret: bool = False


def _parse_switch(text: str) -> bool:
    if text.lower() not in (*_ON, *_OFF):
        raise ValueError
    return text.lower() in _ON


def _parse_choice(*choices: str) -> Callable[[str], str]:
    def parse(text: str) -> str:
        if text.lower() not in choices:
            raise ValueError
        return text.lower()

    return parse


def _parse_matching(*patterns: re.Pattern[str]) -> Callable[[str], str]:
    def parse(text: str) -> str:
        if not any(pattern.fullmatch(text) for pattern in patterns):
            raise ValueError
        return text

    return parse


def _parse_folders(text: str) -> tuple[Path, ...]:
    return tuple(Path(part) for part in text.split(os.pathsep) if part)


def _parse_plugins(text: str) -> tuple[str, ...]:
    items = tuple(part.strip() for part in text.split(",") if part.strip())
    if not all(_PLUGIN.fullmatch(item) or Path(item).is_dir() for item in items):
        raise ValueError
    return items


def _parse_origins(text: str) -> tuple[str, ...]:
    origins = tuple(text.split())
    if not all(_ORIGIN.fullmatch(origin) for origin in origins):
        raise ValueError
    return origins


def _parse_limits(text: str) -> Limits:
    numbers = {}
    for item in text.split():
        name, _, number = item.partition("=")
        known = name in {each.name for each in fields(Limits)}
        if not known or not number.isdecimal() or not 1 <= int(number[:10]) <= MAX_LIMIT:
            raise ValueError
        numbers[name] = int(number)
    return Limits(**numbers)


def _parse_metrics(text: str) -> str:
    if text != "local" and len(text) < MIN_TOKEN:
        raise ValueError
    return text


@dataclass(frozen=True)
class Settings:
    """The settings of a process; the variable of `name` is `CRFVIZ_NAME`. Unset is the default."""

    database_url: str = ""
    rooms: str = ""
    user_models: Path | None = None
    models: tuple[Path, ...] = ()
    plugins: tuple[str, ...] = ()
    lectures: tuple[Path, ...] = ()
    uploads: bool = True
    login: Literal["", "required"] = ""
    frames: tuple[str, ...] = ()
    limits: Limits = Limits()
    device: Literal["", "cpu", "cuda"] = ""
    compiled: bool = True
    replica: str = ""
    metrics: str = ""
    log: Literal["text", "json"] = "text"
    log_texts: bool = False
    streamlit_hooks: bool = True


_VARIABLES = {  # by field
    "database_url": Variable(
        _parse_matching(_DATABASE),
        "`sqlite:////folder/file.db` or `postgresql://user@host/name`",
        "`~/.local/share/crfviz/annotations.db`",
        "Database of the annotations.",
        is_secret=True,
    ),
    "rooms": Variable(
        _parse_matching(re.compile("process"), _POSTGRES),
        "`process` or `postgresql://user@host/name`",
        "the database of the annotations if it is PostgreSQL, else `process`",
        "Where live rooms are kept: in the memory of each process, or in PostgreSQL.",
        is_secret=True,
    ),
    "user_models": Variable(
        Path,
        "a folder",
        "`~/.local/share/crfviz/models`",
        "Folder of the models that users upload or train.",
    ),
    "models": Variable(
        _parse_folders,
        "folders, separated as in `PATH`",
        "none",
        "More folders with model folders in them.",
    ),
    "plugins": Variable(
        _parse_plugins,
        "`module:Class` and folders of Python files, separated by commas",
        "none",
        "Taggers for the list of models, loaded again when their code changes.",
    ),
    "lectures": Variable(
        _parse_folders,
        "folders, separated as in `PATH`",
        "none",
        "More folders with lectures in them.",
    ),
    "uploads": Variable(
        _parse_switch,
        "`on` or `off`",
        "`on`",
        "`off`: nobody can upload files, add or remove models and sentences, or train.",
    ),
    "login": Variable(
        _parse_choice("required"),
        "`required`",
        "a login if the secrets have `[auth]`",
        "`required`: labelling needs a login even if the secrets are missing.",
    ),
    "frames": Variable(
        _parse_origins,
        "origins such as `https://slides.example`, separated by spaces",
        "none",
        "Sites that may show crfviz in a frame.",
    ),
    "limits": Variable(
        _parse_limits,
        "some of `requests=N jobs=N line=N`, N from 1 to 1000000",
        "`requests=40 jobs=3 line=50`",
        "Load limits: messages a second of one session (faster ones wait); long jobs of one "
        "visitor, queued and running; long jobs of all visitors.",
    ),
    "device": Variable(
        _parse_choice("cpu", "cuda"),
        "`cpu` or `cuda`",
        "`cuda` if there is a GPU",
        "Device of the neural models.",
    ),
    "compiled": Variable(
        _parse_switch, "`on` or `off`", "`on`", "`off`: do not use Numba even if it is installed."
    ),
    "replica": Variable(
        _parse_matching(_NAME),
        "1 to 32 of a-z, 0-9 and -",
        "one process alone",
        "Name of this process among several behind a proxy; sets the sticky cookie.",
    ),
    "metrics": Variable(
        _parse_metrics,
        f"`local` or a token of at least {MIN_TOKEN} characters",
        "nobody",
        "Who may read `/metrics`: programs on this machine, or clients with the token.",
        is_secret=True,
    ),
    "log": Variable(
        _parse_choice("text", "json"),
        "`text` or `json`",
        "`text`",
        "Format of the log: lines, or one JSON object a line.",
    ),
    "log_texts": Variable(
        _parse_switch,
        "`on` or `off`",
        "`off`",
        "`on`: log the full text of errors, which may contain what users typed.",
    ),
    "streamlit_hooks": Variable(
        _parse_switch,
        "`on` or `off`",
        "`on`",
        "`off`: use only Streamlit's public interface; the app is slower.",
    ),
}


def variables() -> dict[str, Variable]:
    """Return the documentation of each variable, by name."""
    return {_variable(each.name): _VARIABLES[each.name] for each in fields(Settings)}


@cache
def settings() -> Settings:
    """Return the settings of this process.

    Raises:
        SettingsError: a variable has a bad value; the message names it and what was expected.
    """
    return read_settings(environment())


def environment() -> dict[str, str]:
    """Return all variables of this process."""
    return dict(os.environ)


def data_folder() -> Path:
    """Return where programs of this user keep data: XDG_DATA_HOME, or `~/.local/share`.

    Raises:
        RuntimeError: this user has no home.
    """
    folder = Path(os.environ.get("XDG_DATA_HOME", ""))
    return folder if folder.is_absolute() else Path.home() / ".local" / "share"


def read_settings(environment: Mapping[str, str]) -> Settings:
    """Return the settings in an environment.

    Raises:
        SettingsError: as `settings`.
    """
    _check_placeholders(environment)
    values = {}
    for name, about in variables().items():
        if text := environment.get(name, "").strip():
            try:
                values[name.removeprefix(PREFIX).lower()] = about.parse(text)
            except ValueError:
                expected = about.values.replace("`", "")
                received = f"{len(text)} characters" if about.is_secret else abbreviate(text)
                raise SettingsError(f"{name}: expected {expected}, got {received}") from None
    return Settings(**values)  # type: ignore[arg-type]  # each value was parsed by its field


def describe_settings(environment: Mapping[str, str]) -> Iterator[tuple[str, str, Variable]]:
    """Yield each variable's name, its printable value ("" if unset), and its documentation."""
    for name, about in variables().items():
        value = environment.get(name, "").strip()
        if about.is_secret and "://" in value:
            value = _PASSWORD.sub(HIDDEN, value)
        elif about.is_secret and value not in ("", "local", "process"):
            value = HIDDEN
        yield name, value, about


def settings_table() -> str:
    """Return the table of docs/deployment.md, in Markdown."""
    rows = ["| variable | values | default | meaning |", "|---|---|---|---|"]
    for name, about in variables().items():
        rows.append(f"| `{name}` | {about.values} | {about.default} | {about.meaning} |")
    return "\n".join(rows)


def _variable(name: str) -> str:
    return f"{PREFIX}{name.upper()}"


def _check_placeholders(environment: Mapping[str, str]) -> None:
    """Raise a SettingsError if a value still has the `${NAME...` of a compose file.

    Some readers of compose files do not expand placeholders. Every such server would then have the
    same secret, which is public.
    """
    for name, value in environment.items():
        if name.startswith((PREFIX, "STREAMLIT_")) and (left := _PLACEHOLDER.search(value)):
            raise SettingsError(f"{name} contains the placeholder {left[0]}}}: put a value there")
