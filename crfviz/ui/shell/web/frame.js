// What the frame of the app needs of the browser, as a component of Streamlit that draws nothing: groups of controls
// that take one stop of the Tab key, the mark of the open page and what the links to the others open, the place in a
// list, the keys that turn pages and the way back, the step in the address, the colours that the reader wants, the
// room that follows this browser, the glossary's search box, the button that copies the link, and a line that was lost.

import { watchSteps } from "./address.js";
import { watchCopy } from "./copy.js";
import { follow, watchLinks } from "./links.js";
import { turning, watchPast } from "./past.js";
import { scrollToRows } from "./places.js";
import { settle, walk } from "./roving.js";
import { watchTurning } from "./turning.js";

const GROUPS = ".st-key-brand, .st-key-pages, .st-key-edits, .st-key-status";
const [HIDES, SHOWS] = ["[data-testid=stSidebarCollapseButton]", "[data-testid=stExpandSidebarButton]"];
const LEAST_BESIDE = 768; // pixels of a window in which the sidebar stands beside the page
const LINE = "data-test-connection-state"; // of Streamlit's outermost element
const BACK = "crfviz-back";
const SHORT = 700; // milliseconds without a line that nobody has to hear of
const LOST =
  "No connection to the server; trying again. Keep this page open: " +
  "edits you make now are applied when the server is back.";
const WATCHED = { attributeFilter: ["disabled", "inert", "open", "tabindex"], childList: true, subtree: true };

const DARK = "(prefers-color-scheme: dark)";
const GLOSSARY = "#crfviz-glossary";

const trimmed = (path) => path.replace(/\/$/, "");

// The link to the first page has a query alone, which a browser would add to the page that is open.
function target(link) {
  const first = /^(\?|$)/.test(link.getAttribute("href"));
  return trimmed(first ? new URL(".", location.href).pathname : link.pathname);
}

let waiting = 0;
function settleAll() {
  cancelAnimationFrame(waiting);
  waiting = requestAnimationFrame(() => {
    follow(own);
    for (const link of document.querySelectorAll(".st-key-pages a")) {
      if (target(link) === trimmed(location.pathname)) link.setAttribute("aria-current", "page");
      else link.removeAttribute("aria-current");
    }
    for (const group of document.querySelectorAll(GROUPS)) settle(group);
    scrollToRows();
  });
}

function watch() {
  new MutationObserver(settleAll).observe(document.body, WATCHED);
  document.addEventListener("focusin", ({ target }) => {
    const group = target.closest?.(GROUPS);
    if (group) group.crfvizLast = target;
  });
  document.addEventListener(
    "keydown",
    (event) => {
      const group = event.target.closest?.(GROUPS);
      if (group) walk(event, group);
    },
    { capture: true },
  );
}

// The reader hid or showed the sidebar by its buttons; where there is no room for it, it hides by itself.
function watchSidebar() {
  document.addEventListener("click", ({ target }) => {
    const button = target.closest?.(`${HIDES}, ${SHOWS}`);
    if (button && innerWidth >= LEAST_BESIDE) tell("sidebar", button.matches(HIDES) ? "closed" : "open");
  });
}

// A line that is back may lead to a server that knows nothing of this page but its address; it is asked to draw it, and
// hears then what widgets and pictures hold. What was done meanwhile would else be lost, and what is done next. While
// there is no line, Streamlit switches its widgets off; stages can be edited, and the page says so.
function watchLine() {
  const app = document.querySelector(`[${LINE}]`);
  const notice = document.createElement("div");
  Object.assign(notice, { className: "crfviz-line", role: "alert", hidden: true });
  document.body.append(notice);
  let lost = 0; // the timer of the notice
  const look = () => {
    const connected = app.getAttribute(LINE) === "CONNECTED";
    if (connected && lost) {
      clearTimeout(lost);
      lost = 0;
      notice.hidden = true;
      tell("back", true);
      document.dispatchEvent(new Event(BACK));
    } else if (!connected && !lost) {
      lost = setTimeout(() => {
        notice.textContent = LOST;
        notice.style.colorScheme = getComputedStyle(app).colorScheme; // light or dark, as the page
        notice.hidden = false;
      }, SHORT);
    }
  };
  if (app) new MutationObserver(look).observe(app, { attributeFilter: [LINE] });
}

// Light or dark, while the page is open: ./early.js answers Streamlit's question for the system's colours, and after a
// print Streamlit asks again. So it is told that a print is over.
function use(wanted) {
  const scheme = window.crfvizScheme;
  const before = window.matchMedia(DARK).matches;
  scheme.wanted = wanted;
  scheme.paint();
  if (window.matchMedia(DARK).matches !== before) window.dispatchEvent(new Event("afterprint"));
}

// The search box of the glossary: shows the terms that contain what is typed, those of other pages included.
function searchTerms({ target }) {
  const panel = target.closest?.(GLOSSARY);
  if (!panel) return;
  const typed = target.value.trim().toLowerCase();
  const entries = [...panel.querySelectorAll("[data-term]")];
  for (const entry of entries) entry.hidden = !entry.textContent.toLowerCase().includes(typed);
  panel.querySelector("details").open = typed !== "";
  panel.querySelector(":scope > p").hidden = entries.some((entry) => !entry.hidden);
}

// What this browser keeps over a reload: the room that it leads (of whichever tab did something last), and the lecture
// in the making. Empty for none; null where the session does not know what is kept here.
const [LEADS, DRAFT] = ["crfviz.leads", "crfviz.draft"];
function remember(place, name, text) {
  try {
    const kept = localStorage.getItem(place);
    if (text) localStorage.setItem(place, text);
    else if (text === "") localStorage.removeItem(place);
    else if (kept) tell(name, kept);
  } catch {
    // storage is switched off, or full: a reload forgets it
  }
}

let tell = () => {};
let session = ""; // of the server, as it was drawn last
let own = []; // parts of the address that no other page takes
watch();
watchSidebar();
watchLine();
watchPast();
watchCopy();
document.addEventListener("input", searchTerms);
watchSteps();
watchLinks(
  () => own,
  (path) => {
    turning();
    tell("page", path);
  },
);
watchTurning((way) => {
  turning();
  tell("turn", way > 0 ? "next" : "previous");
});

export default ({ data, setTriggerValue }) => {
  tell = setTriggerValue;
  own = data.own;
  if (session && session !== data.session) tell("anew", data.session);
  session = data.session;
  use(data.theme);
  remember(LEADS, "lead", data.lead);
  remember(DRAFT, "draft", data.draft);
  settleAll();
};
