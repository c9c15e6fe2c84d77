// The guided tour and its offer; the browser remembers that it was offered.

import { button, html, setText } from "../../views/stage/web/dom.js";
import { mounted } from "../../views/stage/web/host.js";

const KEY = "crfviz.tour";

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
    root.replaceChildren(...(data.greeting ? [html("span", data.greeting), ...offer(go)] : []));
    return;
  }
  remember();
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

function offer(go) {
  if (wasOffered()) return [];
  const leave = () => {
    remember();
    for (const each of buttons) each.remove();
  };
  const begin = () => {
    leave();
    go("begin");
  };
  const buttons = [button("Take the tour, 3 minutes", begin), button("No, thanks", leave)];
  return buttons;
}

// Without storage the offer would appear on every visit, so it never appears.
function wasOffered() {
  try {
    localStorage.setItem(`${KEY}.kept`, "1");
    localStorage.removeItem(`${KEY}.kept`);
    return localStorage.getItem(KEY) !== null;
  } catch {
    return true;
  }
}

function remember() {
  try {
    localStorage.setItem(KEY, "offered");
  } catch {
    // without storage there is no offer
  }
}
