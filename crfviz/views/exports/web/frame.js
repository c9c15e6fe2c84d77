// The stage with a bar of its pages, where no server answers. Its keys act wherever the focus is in this frame.

import { button, html, mark, set, setText } from "../../stage/web/dom.js";
import { beyond } from "../../stage/web/slide.js";
import { Stage } from "../../stage/web/stage/lifecycle.js";
import { Local } from "./local.js";

const COLOURS = ["system", "light", "dark"];

// `data` is that of live.py, `scope` the element that is marked with the colours that are chosen, `changed` gets the
// edits whenever they are others. Returns { element, open(), close() }: open it once it is in the document.
export function buildFrame(data, scope, changed = () => null) {
  const element = html("div.live", { tabindex: "-1" });
  const place = html("div");
  const said = html("span", { role: "status" });
  const link = html("a", { target: "_blank", rel: "noopener noreferrer" }, "Open this in crfviz");
  const state = { stage: null, edits: null };
  const local = new Local(data, {
    turned: () => open(),
    beyond: (by) => setText(said, `This is the ${by > 0 ? "last" : "first"} page.`),
  });
  // Events are answered once the stage has drawn what it can draw at once, as a server would.
  const answer = (events) => {
    const { stage } = state;
    queueMicrotask(() => {
      local.take(events);
      if (stage === state.stage) show();
    });
  };
  const tabs = data.pages.map(({ id, title }) => button(title, () => local.open(id), { "data-page": id }));
  const act = (event) => () => state.stage.emit([event]);
  const history = {
    undo: button("Undo", act({ kind: "undo" }), { title: "Ctrl+Z" }),
    redo: button("Redo", act({ kind: "redo" }), { title: "Ctrl+Shift+Z" }),
    reset: button("Reset", act({ kind: "reset" }), { title: "drop every edit" }),
  };
  const colours = button("", () => recolour(COLOURS[(COLOURS.indexOf(data.colouring) + 1) % COLOURS.length]));
  const recolour = (name) => {
    data.colouring = name;
    mark(scope, "data-colours", name === "system" ? null : name);
    setText(colours, `colours: ${name}`);
  };
  const show = () => {
    setText(said, "");
    state.stage.receive(local.payload(), (payload) => payload);
    for (const tab of tabs) mark(tab, "aria-current", tab.dataset.page === local.at ? "page" : null);
    history.undo.disabled = !local.past.length;
    history.redo.disabled = !local.future.length;
    history.reset.disabled = !local.edited;
    if (data.origin.address) set(link, "href", `${data.origin.address}${local.page.path}?${local.query()}`);
    if (state.edits && state.edits !== local.edits) changed(local.plainEdits());
    state.edits = local.edits;
  };
  const close = () => {
    state.stage?.close();
    place.replaceChildren();
  };
  const open = () => {
    close();
    state.stage = new Stage(place, answer, { keys: element, beyond });
    show();
  };
  const about = html("footer.live-about", html("span", data.origin.text), data.origin.address ? link : [], said);
  element.append(
    html("nav.live-bar", { "aria-label": "Pages" }, tabs, html("span.live-gap"), Object.values(history), colours),
  );
  element.append(place, about);
  recolour(data.colouring);
  return { element, open, close };
}
