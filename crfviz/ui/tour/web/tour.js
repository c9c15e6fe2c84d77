// The tour: its stops, and the greeting that offers it once in a browser, which alone remembers that.

const KEY = "crfviz.tour";

const views = new WeakMap();

export default ({ data, parentElement, setTriggerValue }) => {
  if (!views.has(parentElement)) {
    const heard = element("p", { class: "task", role: "status", "aria-live": "polite" });
    const root = element("section", { "aria-label": "Tour", class: "tour" });
    parentElement.append(root);
    views.set(parentElement, { root, heard });
  }
  draw(views.get(parentElement), data, (what) => setTriggerValue("go", what));
  return () => {};
};

function draw({ root, heard }, data, go) {
  const greets = "greeting" in data;
  root.classList.toggle("greeting", greets);
  if (greets) {
    root.replaceChildren(...(data.greeting ? [element("span", {}, data.greeting), ...offer(go)] : []));
    return;
  }
  remember();
  const last = !data.task;
  Object.assign(root.dataset, { tour: data.stop, tours: data.stops });
  const told = `${data.learnt ? `✓ ${data.learnt} ` : ""}${data.task ?? ""}`;
  if (heard.textContent !== told) heard.textContent = told;
  root.replaceChildren(
    element("span", { class: "count" }, last ? "Tour" : `Tour ${data.stop} / ${data.stops}`),
    heard,
    ...(data.open ? [button(`Open ${data.open}`, () => go("open"), "strong")] : []),
    ...(last ? [] : [button("Skip", () => go("skip"))]),
    button(last ? "Close" : "End the tour", () => go("end")),
  );
}

function offer(go) {
  if (known()) return [];
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

// A browser that keeps nothing would be asked again and again: it is not asked at all.
function known() {
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
    // then it is not kept
  }
}

function button(name, act, kind = "") {
  const made = element("button", { type: "button", class: kind }, name);
  made.addEventListener("click", act);
  return made;
}

function element(name, attributes, ...inside) {
  const made = document.createElement(name);
  for (const [attribute, value] of Object.entries(attributes)) made.setAttribute(attribute, value);
  made.append(...inside);
  return made;
}
