"""In the browser, too, the flows of docs/structure.md list the functions that are called."""

import re

from crfviz.views.exports import bundle
from tests.support.paths import ROOT
from tests.unit.test_design import FLOWS

SENTENCE, EDIT = (
    [(file, name) for _, file, name, _ in listed if file.endswith(".js")] for *_, listed in FLOWS
)
HOST = "crfviz/views/stage/web/host.js"  # its functions return those that Streamlit calls
STAGE = ROOT / "crfviz/views/stage/web/stage.js"


class Trace:
    """Pauses Chromium in the functions of a flow, and notes which functions called them.

    A function inside another one counts as the outer one.
    """

    def __init__(self, page, flow):
        names, parts = {}, ['"use strict";']
        bundle._add(STAGE, names, parts)  # as the server does, to know the file of each line
        self.lines, self.files = "\n".join(parts).split("\n"), [""]
        for path, part in zip(names, parts[1:], strict=True):
            self.files += [str(path.relative_to(ROOT))] * (part.count("\n") + 1)
        self.passed, scripts = [], {}
        self.client = page.context.new_cdp_session(page)
        self.client.on("Debugger.scriptParsed", lambda s: scripts.update({s["url"]: s["scriptId"]}))
        self.client.on("Debugger.paused", self.note)
        self.client.send("Debugger.enable")
        (self.script,) = [key for url, key in scripts.items() if url.endswith("/stage.js")]
        source = self.client.send("Debugger.getScriptSource", {"scriptId": self.script})
        assert source["scriptSource"].startswith("\n".join(self.lines))
        for stop in flow:
            self.pause_in(*stop)

    def pause_in(self, file, name):
        """Set breakpoints where a function begins; everywhere in those of the host."""
        ours = [number for number, where in enumerate(self.files) if where == file]
        begins = [number for number in ours if self.lines[number].startswith("function ")]
        pattern = re.compile(rf"(function )?{name}\(.*\)\{{")
        first = next(number for number in ours if pattern.match(self.lines[number]))
        last = next(n for n in [*begins, ours[-1]] if n > first) if file == HOST else first + 2
        span = {"start": self.place(first + 1), "end": self.place(last)}
        for location in self.client.send("Debugger.getPossibleBreakpoints", span)["locations"]:
            self.client.send("Debugger.setBreakpoint", {"location": location})

    def place(self, line):
        """Return a line of the script as the debugger names it."""
        return {"scriptId": self.script, "lineNumber": line}

    def note(self, pause):
        """Note the functions on the stack, and let the page go on."""
        calls = [self.called(frame) for frame in reversed(pause["callFrames"])]
        self.passed += [call for call in dict.fromkeys(calls) if call and call not in self.passed]
        self.client.send("Debugger.resume")

    def end(self):
        """Return file and name of each function of ours that was called, in their order."""
        self.client.detach()
        return self.passed

    def called(self, frame):
        """Return the file and the outermost function around a frame; None if it is not ours."""
        if frame["location"]["scriptId"] != self.script:
            return None
        outer = [scope.get("name") for scope in frame["scopeChain"] if scope["type"] == "closure"]
        names = [name for name in (frame["functionName"], *outer) if name]
        return self.files[frame["location"]["lineNumber"]], names[-1]


def test_typed_sentence_passes_the_listed_functions_in_the_browser(screen):
    screen.open("viterbi")
    trace = Trace(screen.page, SENTENCE)
    with screen.redraw():
        screen.apply_sentence("Time flies")
    assert trace.end() == SENTENCE


def test_dragged_transition_passes_the_listed_functions_in_the_browser(screen):
    screen.open("transitions")
    screen.drag(screen.cell("DET", "NOUN"), up=40, drop=False)
    trace = Trace(screen.page, EDIT)
    with screen.redraw():
        screen.page.mouse.up()
    assert trace.end() == EDIT
