// The guided tour, and the greeting that offers it. The browser remembers that it was offered, and which of the things
// that the greeting names were done; once all were, or the reader has declined, the greeting is hidden.

import { button, html, setText } from "../../views/stage/web/dom.js";
import { mounted } from "../../views/stage/web/host.js";

const [OFFERED, DONE] = ["crfviz.tour", "crfviz.hint"]; // keys of the browser's storage
const OVER = "over"; // value of DONE, which ../shell/web/early.js reads

export default mounted((parent) => {
  const task = html("p.task", { role: "status", "aria-live": "polite" });
  const root = html("section.tour", { "aria-label": "Tour" });
  parent.append(root);
  return {
    receive: (data, send) => draw({ root, task }, data, (what) => send("go", what)),
    close() {},
  };
});

function draw({ root, task }, data, go) {
  const greets = "greeting" in data;
  root.classList.toggle("greeting", greets);
  if (greets) {
    greet(root, data, go);
    return;
  }
  store(OFFERED, "offered");
  const last = !data.task;
  Object.assign(root.dataset, { tour: data.stop, tours: data.stops });
  const text = `${data.learnt ? `✓ ${data.learnt} ` : ""}${data.task ?? ""}`;
  setText(task, text);
  root.replaceChildren(
    html("span.count", last ? "Tour" : `Tour ${data.stop} / ${data.stops}`),
    task,
    ...(data.open ? [button(`Open ${data.open}`, () => go("open"), { class: "strong" })] : []),
    ...(last ? [] : [button("Skip", () => go("skip"))]),
    button(last ? "Close" : "End the tour", () => go("end")),
  );
}

function greet(root, { greeting, done, shows }, go) {
  const past = new Set([...stored(DONE).split(" ").filter(Boolean), ...done]);
  const names = Object.keys(greeting);
  const isOver = past.has(OVER) || names.every((name) => past.has(name));
  store(DONE, isOver ? OVER : [...past].join(" "));
  document.documentElement.toggleAttribute("data-greeted", isOver);
  const things = names.map((name) => html(past.has(name) ? "s" : "span", greeting[name]));
  root.replaceChildren(...(shows && !isOver ? [...things, ...offer(root, go)] : []));
}

function offer(root, go) {
  const decline = () => {
    store(OFFERED, "offered");
    store(DONE, OVER);
    document.documentElement.toggleAttribute("data-greeted", true);
    root.replaceChildren();
  };
  const begin = button("Take the tour, 3 minutes", () => {
    store(OFFERED, "offered");
    begin.remove();
    go("begin");
  });
  return [...(wasOffered() ? [] : [begin]), button("No, thanks", decline)];
}

// Without storage the offer would appear on every visit, so it never appears.
function wasOffered() {
  return !store(`${OFFERED}.kept`, "1") || stored(OFFERED) !== "";
}

function stored(key) {
  try {
    return localStorage.getItem(key) ?? "";
  } catch {
    return "";
  }
}

// Whether the browser stores values.
function store(key, value) {
  try {
    localStorage.setItem(key, value);
    return true;
  } catch {
    return false;
  }
}
