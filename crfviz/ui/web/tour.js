// The guided tour and its offer; the browser remembers that it was offered.

import { button, tagged } from "./elements.js";

const KEY = "crfviz.tour";

const views = new WeakMap();

export default ({ data, parentElement, setTriggerValue }) => {
  if (!views.has(parentElement)) {
    const task = tagged("p", { class: "task", role: "status", "aria-live": "polite" });
    const root = tagged("section", { "aria-label": "Tour", class: "tour" });
    parentElement.append(root);
    views.set(parentElement, { root, task });
  }
  draw(views.get(parentElement), data, (what) => setTriggerValue("go", what));
  return () => {};
};

function draw({ root, task }, data, go) {
  const greets = "greeting" in data;
  root.classList.toggle("greeting", greets);
  if (greets) {
    root.replaceChildren(...(data.greeting ? [tagged("span", {}, data.greeting), ...offer(go)] : []));
    return;
  }
  remember();
  const last = !data.task;
  Object.assign(root.dataset, { tour: data.stop, tours: data.stops });
  const text = `${data.learnt ? `✓ ${data.learnt} ` : ""}${data.task ?? ""}`;
  if (task.textContent !== text) task.textContent = text;
  root.replaceChildren(
    tagged("span", { class: "count" }, last ? "Tour" : `Tour ${data.stop} / ${data.stops}`),
    task,
    ...(data.open ? [button(`Open ${data.open}`, () => go("open"), "strong")] : []),
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

// Without storage the offer would come again and again, so it never comes.
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
