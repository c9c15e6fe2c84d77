// A live file: the stage on a page of its own, which asks nobody for anything. Its keys act wherever the focus is in
// the file's own frame.

import { button, html, mark, set, setText } from "../../stage/web/dom.js";
import { beyond } from "../../stage/web/slide.js";
import { Stage } from "../../stage/web/stage/lifecycle.js";
import { Local } from "./local.js";

const COLOURS = ["system", "light", "dark"];
const RESET = { kind: "reset" };

function start() {
  const data = JSON.parse(document.getElementById("data").textContent);
  const asked = new URLSearchParams(location.search);
  if (asked.get("embed") === "stage") mark(document.documentElement, "data-embed", "stage");
  const wanted = data.pages.find(({ id }) => id === asked.get("page"));
  if (wanted) Object.assign(data, { opens: wanted.id, step: null });
  const frame = html("div.live", { tabindex: "-1" });
  const place = html("div");
  const said = html("span", { role: "status" });
  const link = html("a", { target: "_blank", rel: "noopener noreferrer" });
  const state = { stage: null };
  const local = new Local(data, {
    turned: () => mount(),
    beyond: (by) => setText(said, `This is the ${by > 0 ? "last" : "first"} page.`),
  });
  // Events are answered once the stage has drawn what it can draw at once, as a server would.
  const answer = (events) => {
    queueMicrotask(() => {
      const { stage } = state;
      local.take(events);
      if (stage === state.stage) show();
    });
  };
  const tabs = data.pages.map(({ id, title }) => button(title, () => local.open(id), { "data-page": id }));
  const act = (event) => () => state.stage.emit([event]);
  const history = {
    undo: button("Undo", act({ kind: "undo" }), { title: "Ctrl+Z" }),
    redo: button("Redo", act({ kind: "redo" }), { title: "Ctrl+Shift+Z" }),
    reset: button("Reset", act(RESET), { title: "drop every edit" }),
  };
  const colours = button("", () => recolour(COLOURS[(COLOURS.indexOf(data.colouring) + 1) % COLOURS.length]));
  const recolour = (name) => {
    data.colouring = name;
    mark(document.documentElement, "data-colours", name === "system" ? null : name);
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
  };
  const mount = () => {
    state.stage?.close();
    place.replaceChildren();
    state.stage = new Stage(place, answer, { keys: frame, beyond });
    show();
  };
  setText(link, "Open this in crfviz");
  const about = html("footer.live-about", html("span", data.origin.text), data.origin.address ? link : [], said);
  frame.append(
    html("nav.live-bar", { "aria-label": "Pages" }, tabs, html("span.live-gap"), Object.values(history), colours),
  );
  frame.append(place, about);
  document.getElementById("still").replaceWith(frame);
  recolour(data.colouring);
  mount();
  if (document.activeElement === document.body) frame.focus({ preventScroll: true });
}

start();
