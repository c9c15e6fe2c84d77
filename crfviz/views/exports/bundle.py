"""A bundler for our own modules and style sheets, for files that load nothing.

It bundles the sources on request, so that nothing can be stale, and needs no Node. It understands
only the part of JavaScript's modules that these sources use: named imports from relative files,
exports of functions, classes and constants, and a default export. The linter rejects circular
imports, so each module becomes a function that is called once, in order.
"""

import re
from functools import cache
from pathlib import Path

STAGE = Path(__file__).parents[1] / "stage" / "web"
OWN = Path(__file__).with_name("web")

_IMPORT = re.compile(r'^import\s*\{([^}]*)\}\s*from\s*"([^"]+)";$', re.MULTILINE)
_DEFAULT = "start"
_BY_DEFAULT = re.compile(r"^export default (?=\S)", re.MULTILINE)
_EXPORT = re.compile(r"^export (?=(?:async )?(?:function|class|const) (\w+))", re.MULTILINE)
_MODULE = re.compile(r"^const (m\d+) =", re.MULTILINE)  # as `_add` writes it
_REMARK = re.compile(r"(?<=[;,{}()\[\]]) // .*")  # a comment after code
_GOES_ON = re.compile(r"(?<=[;{,(\[=>?:&|])\n|\n(?=[})\],.?:&|])")  # a line end without meaning
_STRING = re.compile(r'("[^"]*")')  # on a line without escapes or other kinds of text
_AROUND = re.compile(r"(?:(?<!\s)\s+)?([=<>?:;,{}()&|*]+)\s*")  # needless spaces
_COMMENT = re.compile(r"/\*.*?\*/", re.DOTALL)
_TYPES = re.compile(r"/\*\*.*?\*/ ?", re.DOTALL)  # JSDoc
_SPACE = re.compile(  # of a style sheet, as the next
    r"(?:(?<!\s)\s+)?([{};])\s*|(?<=[,(])\s+|(?<!\s)\s+(?=[)!])| (>) "
)
_QUOTES = re.compile(r'(?<==)"([a-z]+)"(?=])')
_ZERO = re.compile(r"(?<![\w.-])0(?=\.\d)")
_COLON = re.compile(r"(?<=[;{])(-?-?[a-z][\w-]*): ")
_LEFT = re.compile(r"^(?:import|export)\b.*", re.MULTILINE)


@cache
def script() -> str:
    """Return the live file's script, which imports nothing.

    Raises:
        ValueError: a module uses syntax that the bundler does not understand.
    """
    return _GOES_ON.sub("", bundled(OWN / "file.js"))


@cache
def style() -> str:
    return sheets(STAGE / "stage.css", OWN / "file.css")


def sheets(*paths: Path) -> str:
    """Return style sheets as one text without comments, indentation and needless spaces."""
    text = "\n".join(_without_comments(path.read_text("utf-8")) for path in paths)
    tight = _SPACE.sub(lambda match: match[1] or match[2] or "", text).replace(";}", "}")
    return _QUOTES.sub(r"\1", _ZERO.sub("", _COLON.sub(r"\1:", tight)))


@cache
def widget() -> str:
    """Return the notebook widget as a module with the default export that anywidget expects."""
    text = bundled(OWN / "widget.js")
    entry = _MODULE.findall(text)[-1]
    return f"{text}\nexport default {entry};\n"


@cache
def unpacker() -> str:
    return bundled(OWN / "unpack.js")


def component(entry: Path) -> str:
    """Return a component with its imports as one module with the same default export."""
    text = bundled(entry)
    return f"{text}\nexport default {_MODULE.findall(text)[-1]}.{_DEFAULT};\n"


def bundled(entry: Path) -> str:
    """Return a module with its imports as one strict script.

    A default export is in it as `start`.

    Raises:
        ValueError: a module uses syntax that the bundler does not understand.
    """
    names: dict[Path, str] = {}
    parts = ['"use strict";']
    _add(entry.resolve(), names, parts)
    return "\n".join(parts)


def _add(path: Path, names: dict[Path, str], parts: list[str]) -> None:
    if path in names:
        return
    text = path.read_text("utf-8")
    for _, target in _IMPORT.findall(text):
        _add((path.parent / target).resolve(), names, parts)

    def taken(match: re.Match[str]) -> str:
        imports = ",".join(filter(None, map(str.strip, match[1].split(",")))).replace(" as ", ":")
        return f"const {{{imports}}} = {names[(path.parent / match[2]).resolve()]};"

    text = _BY_DEFAULT.sub(f"export const {_DEFAULT} = ", text)
    exported = _EXPORT.findall(text)
    body = _EXPORT.sub("", _IMPORT.sub(taken, text))
    if left := _LEFT.search(body):
        raise ValueError(f"{path.name} has a line that cannot be bundled: {left[0][:60]}")
    names[path] = f"m{len(names)}"
    parts.append(
        f"const {names[path]} = (() => {{\n{_slim(body, path)}\n"
        f"return {{{','.join(exported)}}};\n}})();"
    )


def _slim(body: str, path: Path) -> str:
    """Return a body without comments, indentation and needless spaces: a third less."""
    lines = []
    for line in map(str.strip, _TYPES.sub("", body).splitlines()):
        if not line or line.startswith("//"):
            continue
        if line.count("`") % 2:
            raise ValueError(f"{path.name} has a text of several lines: {line[:60]}")
        lines.append(_tight(_REMARK.sub("", line)))
    return "\n".join(lines)


def _tight(line: str) -> str:
    """Return a line without needless spaces; unchanged if it may have a template or pattern."""
    before, mark, rest = line.partition("`")
    template, end, after = rest.rpartition("`")
    if end and before.count('"') % 2 == after.count('"') % 2 == 0:
        return f"{_tight(before)}{mark}{template}{end}{_tight(after)}"
    if any(sign in line for sign in "`/\\'"):
        return line
    parts = _STRING.split(line)
    parts[::2] = [_AROUND.sub(r"\1", part) for part in parts[::2]]
    return "".join(parts)


def _without_comments(sheet: str) -> str:
    lines = _COMMENT.sub("", sheet).splitlines()
    return "\n".join(filter(None, map(str.strip, lines)))
