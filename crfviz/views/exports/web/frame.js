// The stage with a bar of its pages, without a server. Its keys work anywhere in the frame. On its own page the frame
// replaces the tables; on a slide it has only the stage.

import { button, hide, html, mark, set, setText } from "../../stage/web/dom.js";
import { beyond } from "../../stage/web/embed.js";
import { editList } from "../../stage/web/model.js";
import { Stage } from "../../stage/web/stage/lifecycle.js";
import { LocalBackend } from "./local_backend.js";

const COLOURS = ["system", "light", "dark"];
const PAPER = "1255px"; // width of a landscape sheet of letter paper without margins, as ./file.css zooms; A4 is wider

// `data` is that of live.py, `scope` the element that is marked with the colours that are chosen, `changed` gets the
// edits whenever they are others, `shown` gets `local` when something has been drawn; `above` stands over the pages. A
// page without a picture says in `elsewhere` why. Returns { element, local, open(), show(), close(), fit(width) }:
// open it once it is in the document, show what was changed in `local`, fit it into a width of CSS.
export function buildFrame(data, scope, { changed = () => null, shown = () => null, above = [] } = {}) {
  const element = html("div.live", { tabindex: "-1" });
  const place = html("div");
  const status = html("span", { role: "status" });
  const source = html("span");
  const edits = html("span.live-edits");
  const link = html("a", { target: "_blank", rel: "noopener noreferrer" }, "Open this in crfviz");
  const state = { stage: null, edits: null, colouring: data.colouring };
  const local = new LocalBackend(data, {
    turned: () => open(),
    beyond: (by) => setText(status, `This is the ${by > 0 ? "last" : "first"} page.`),
  });
  // Events are answered after the stage has drawn what it can, as by a server.
  const answer = (events) => {
    const { stage } = state;
    queueMicrotask(() => {
      local.take(events);
      if (stage === state.stage) show();
    });
  };
  const drawn = data.pages.filter(({ picture }) => picture);
  const tabs = drawn.map(({ id, title }) => button(title, () => local.open(id), { "data-page": id }));
  const more = buildMore(
    data.pages.filter(({ picture }) => !picture),
    (id) => local.open(id),
  );
  const numbers = html("select", { "aria-label": "Numbers" });
  numbers.addEventListener("change", () => act({ kind: "view", name: "sweep", value: numbers.value })());
  const act = (event) => () => {
    if (state.stage) return state.stage.emit([event]);
    local.apply(event);
    return show();
  };
  const history = {
    undo: button("Undo", act({ kind: "undo" }), { title: "Ctrl+Z" }),
    redo: button("Redo", act({ kind: "redo" }), { title: "Ctrl+Shift+Z" }),
    reset: button("Reset", act({ kind: "reset" }), { title: "drop every edit" }),
  };
  const colours = button("", () => recolour(COLOURS[(COLOURS.indexOf(state.colouring) + 1) % COLOURS.length]));
  const recolour = (name) => {
    state.colouring = name;
    mark(scope, "data-colours", name === "system" ? null : name);
    setText(colours, `colours: ${name}`);
  };
  const show = () => {
    const { origin } = local.data;
    setText(status, "");
    state.stage?.receive(local.payload(), (payload) => payload);
    for (const tab of tabs) mark(tab, "aria-current", tab.dataset.page === local.at ? "page" : null);
    if (more) more.value = state.stage ? "" : local.at;
    offer(numbers, local);
    history.undo.disabled = !local.past.length;
    history.redo.disabled = !local.future.length;
    history.reset.disabled = !local.edited;
    setText(source, origin.text);
    setText(edits, editList({ ...local.data, edits: local.edits }));
    hide(link, !origin.address);
    if (origin.address) set(link, "href", `${origin.address}${local.page.path}?${local.query()}`);
    if (state.edits && state.edits !== local.edits) changed(local.plainEdits());
    state.edits = local.edits;
    shown(local);
  };
  const close = () => {
    state.stage?.close();
    place.replaceChildren();
  };
  const open = () => {
    const { title, elsewhere } = local.page;
    close();
    state.stage = elsewhere ? null : new Stage(place, answer, { keys: element, beyond });
    if (elsewhere) place.append(html("section.elsewhere", html("h1", title), html("p", elsewhere)));
    show();
  };
  const about = html("footer.live-about", edits, source, link, status);
  const bar = [tabs, more ?? [], numbers, html("span.live-gap"), Object.values(history), colours].flat();
  element.append(...[above].flat(), html("nav.live-bar", { "aria-label": "Pages" }, bar), place, about);
  recolour(data.colouring);
  const fit = (width) => {
    element.style.maxWidth = width;
    state.stage?.resize();
  };
  return { element, local, open, show, close, fit };
}

// The pages that need a server, by name; null without any.
function buildMore(pages, open) {
  if (!pages.length) return null;
  const options = pages.map(({ id, title }) => html("option", { value: id }, title));
  const more = html("select", { "aria-label": "More pages" }, html("option", { value: "" }, "more pages …"), options);
  more.addEventListener("change", () => more.value && open(more.value));
  return more;
}

// The displays of a page's numbers; hidden on pages that have one.
function offer(numbers, { page, display }) {
  const displays = page.displays ?? {};
  hide(numbers, !page.displays);
  numbers.replaceChildren(...Object.entries(displays).map(([value, name]) => html("option", { value }, name)));
  if (page.displays) numbers.value = display;
}

// The JSON of the element with this name.
export function read(id) {
  return JSON.parse(document.getElementById(id).textContent);
}

// The data of a file, at the page in its address. On a slide Viterbi begins at the first step, for a clicker.
export function readFile() {
  const data = read("data");
  const query = new URLSearchParams(location.search);
  const wanted = data.pages.find(({ id }) => id === query.get("page"));
  if (!wanted) return data;
  return { ...data, opens: wanted.id, step: wanted.id === "viterbi" && query.get("embed") === "stage" ? 0 : null };
}

// `options` are those of the frame; `ready` gets it before it is drawn.
export function start(data, options = {}, ready = () => null) {
  const page = document.documentElement;
  const query = new URLSearchParams(location.search);
  if (query.get("embed") === "stage") mark(page, "data-embed", "stage");
  const frame = buildFrame(data, page, options);
  ready(frame);
  document.getElementById("still").replaceWith(frame.element);
  frame.open();
  const takeKeys = () => document.activeElement === document.body && frame.element.focus({ preventScroll: true });
  addEventListener("focus", takeKeys); // a deck focuses its slide
  takeKeys();
  addEventListener("beforeprint", () => frame.fit(PAPER)); // otherwise a wide window is cut off
  addEventListener("afterprint", () => frame.fit(""));
}
