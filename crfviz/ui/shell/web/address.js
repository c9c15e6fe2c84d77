// The URL: the one module that changes how it is written, its history, and the links and the button that use it.
// Streamlit writes URLs through `history`. Rules decide about each URL that would become a history entry, and listeners
// are called after each write.

const routers = new WeakMap(); // by the history that they change

function router() {
  if (!routers.has(history)) routers.set(history, install(history));
  return routers.get(history);
}

function install(history) {
  const pushNative = history.pushState.bind(history);
  const replaceNative = history.replaceState.bind(history);
  const rules = [];
  const listeners = [];
  const notify = () => listeners.forEach((listener) => listener());
  const push = (args, left) => {
    if (left) rules[left - 1](args, () => push(args, left - 1));
    else pushNative(...args);
  };
  history.pushState = (...args) => {
    push(args, rules.length);
    notify();
  };
  history.replaceState = (...args) => {
    replaceNative(...args);
    notify();
  };
  return { rules, listeners };
}

// `rule(url, next, args)` gets a URL and the arguments of `history.pushState`. It calls `next` to add an entry to the
// history. The rule that was added last runs first.
function addRule(rule) {
  router().rules.push((args, next) => rule(new URL(args[2], location.href), next, args));
}

function onWrite(listener) {
  router().listeners.push(listener);
  addEventListener("popstate", listener);
}

// Opening another page by a key or a link adds one history entry. Streamlit would add three: it first removes the query
// from the URL of the old page, then writes the query of the next page there, then the path; or the path first.

const PAGE_REQUESTED = "crfviz-turns"; // event of the document
const TURNING = ["PageDown", "PageUp", " ", "ArrowRight", "ArrowLeft"];

export function expectPage() {
  document.dispatchEvent(new Event(PAGE_REQUESTED));
}

export function watchHistory() {
  let left = null; // the URL that is being left
  let bare = false; // the path of the next page was written without its query
  addRule(({ pathname, search }, next, args) => {
    const joins = pathname === location.pathname && (left || bare);
    bare = !joins && left !== null && search === "";
    if (joins) return history.replaceState(...args);
    if (left) history.replaceState(history.state, "", left);
    left = null;
    next();
  });
  const reset = () => {
    left = null; // there was no other page
    bare = false;
  };
  addEventListener("pointerdown", reset, true);
  addEventListener("popstate", reset);
  addEventListener("keydown", ({ key }) => TURNING.includes(key) || reset(), true);
  document.addEventListener(PAGE_REQUESTED, () => {
    left ??= location.href;
  });
}

// The URL has the step of a walk from the key press on: Python gets it only when the keys rest, and the page may be
// reloaded before. Python then writes the same URL, for which Streamlit adds no history entry: the first key added one.

const STEPS = "crfviz-steps"; // event of the document, with the step as in a link; null: Python has it
const CHOSEN = "v.chosen"; // the cell that a side panel explains, which a step replaces
const CUE = "cue";
const OPTION = /^(v\.|view=|tour=|s\.)/; // page options and snapshots, which follow the step

const nameOf = (part) => part.slice(0, part.indexOf("="));

// The query of a URL with another step, which is left out if it is the page's first; cues have steps of their own.
export function withStep(search, step) {
  const parts = search.slice(1).split("&").filter(Boolean);
  const others = parts.filter((part) => !["step", CHOSEN].includes(nameOf(part)));
  if (step === 0 && !parts.some((part) => nameOf(part) === CUE)) return others.length ? `?${others.join("&")}` : "";
  const options = others.findIndex((part) => OPTION.test(part));
  others.splice(options < 0 ? others.length : options, 0, `step=${step}`);
  return `?${others.join("&")}`;
}

export function watchSteps() {
  let isAhead = false; // of Python
  // Equal except for the step and the order of the parts, which people may have typed.
  const isSame = ({ pathname, search }) => {
    const [other, current] = [search, location.search].map((each) => {
      const params = new URLSearchParams(withStep(each, ""));
      params.sort();
      return String(params);
    });
    return pathname === location.pathname && other === current;
  };
  addRule((url, next) => {
    if (isAhead && isSame(url)) return; // an older step, of a run that was slower than the keys
    isAhead &&= url.pathname === location.pathname; // false on another page
    next();
  });
  document.addEventListener(STEPS, ({ detail: step }) => {
    if (step !== null) {
      const url = location.pathname + withStep(location.search, step);
      if (isAhead) history.replaceState(history.state, "", url);
      else history.pushState({}, "", url);
    }
    isAhead = step !== null;
  });
  addEventListener("popstate", () => {
    isAhead = false;
  });
}

// Links to pages carry the current state. Edits change the URL, and the links take their query from it. The browser
// would load a link anew, which ends the session; Python therefore opens the page. The link of the current page leaves
// a view.

const PAGES = ".st-key-pages a";
const WITHIN = "[data-why] a, a[data-closest], a[data-example]"; // links of the page, which Python follows, too

const parsed = (query) => new URLSearchParams(query).toString(); // Python encodes some characters differently
const isSameQuery = (query, other) => query === other || parsed(query) === parsed(other);

// The query of a link to another page, without the parameters `own` to this page.
export function queryForLinks(search, own) {
  const parts = search.slice(1).split("&");
  return parts.filter((part) => part && !own.includes(part.split("=", 1)[0])).join("&");
}

export function updateLinks(own) {
  const query = queryForLinks(location.search, own);
  for (const link of document.querySelectorAll(PAGES)) {
    const [path, drawn = ""] = link.getAttribute("href").split("?", 2);
    if (!isSameQuery(query, drawn)) link.setAttribute("href", query ? `${path}?${query}` : path);
  }
}

// `own` returns the parameters of this page alone; `open` gets the path of a page, and whether it is the current one;
// `visit` the query of a link to another state of this page.
export function watchLinks(own, open, visit) {
  onWrite(() => updateLinks(own()));
  const click = (event) => {
    const link = event.target.closest?.(`${PAGES}, ${WITHIN}`);
    const { button, altKey, ctrlKey, metaKey, shiftKey } = event;
    if (!link || button || altKey || ctrlKey || metaKey || shiftKey) return;
    event.preventDefault();
    event.stopImmediatePropagation();
    const [path, query] = link.getAttribute("href").split("?", 2);
    if (link.matches("[data-closest], [data-example]")) visit(query);
    else open(path.replace("./", ""), link.hasAttribute("aria-current"));
  };
  addEventListener("click", click, true);
}

// The button "Copy link" copies the URL to the clipboard and confirms it for a moment.

const BUTTON = ".crfviz-copy";
const CONFIRMATION = 2000; // milliseconds

async function copy(text) {
  if (navigator.clipboard) return navigator.clipboard.writeText(text); // https or localhost only
  const box = Object.assign(document.createElement("textarea"), { value: text });
  document.body.append(box);
  box.select();
  document.execCommand("copy");
  box.remove();
}

export function watchCopy() {
  document.addEventListener("click", async ({ target }) => {
    const button = target.closest?.(BUTTON);
    if (!button) return;
    const label = button.dataset.label ?? button.textContent;
    button.dataset.label = label;
    await copy(location.href);
    button.textContent = "Copied";
    setTimeout(() => {
      button.textContent = label;
    }, CONFIRMATION);
  });
}
