// The browser part of the app's frame, as a Streamlit component that draws nothing: keys, links to pages, the URL and
// its history, scroll positions, the colour scheme, browser storage, the glossary's search box, and a lost connection.

import { expectPage, updateLinks, watchCopy, watchHistory, watchLinks, watchSteps } from "./address.js";
import { moveFocus, setTabStop, watchPageKeys, watchSentenceKey } from "./keys.js";
import { scrollToRows } from "./scrolling.js";

const GROUPS = ".st-key-pages, .st-key-edits, .st-key-status";
const [HIDES, SHOWS] = ["[data-testid=stSidebarCollapseButton]", "[data-testid=stExpandSidebarButton]"];
const MIN_WIDTH_BESIDE = 768; // pixels of a window with the sidebar beside the page
const CONNECTION = "data-test-connection-state"; // attribute of Streamlit's outermost element
const BACK = "crfviz-back";
const NOTICE_DELAY = 700; // milliseconds without a connection
const LOST =
  "No connection to the server; trying again. Keep this page open: " +
  "edits you make now are applied when the server is back.";
const WATCHED = { attributeFilter: ["disabled", "inert", "open", "tabindex"], childList: true, subtree: true };

const DARK = "(prefers-color-scheme: dark)";
const GLOSSARY = "#crfviz-glossary";

const trimmed = (path) => path.replace(/\/$/, "");

let waiting = 0;
function updateAll() {
  cancelAnimationFrame(waiting);
  waiting = requestAnimationFrame(() => {
    updateLinks(own);
    for (const link of document.querySelectorAll(".st-key-pages a")) {
      if (trimmed(link.pathname) === trimmed(location.pathname)) link.setAttribute("aria-current", "page");
      else link.removeAttribute("aria-current");
    }
    for (const group of document.querySelectorAll(GROUPS)) setTabStop(group);
    watchMessages();
    scrollToRows();
  });
}

// The page makes room for the messages at the bottom of the window, in whatever height they have.
const sizes = new ResizeObserver(([{ target }]) => setMessages(target));
let messages = null; // their container, which comes and goes with them
function watchMessages() {
  const found = document.querySelector("[data-testid=stToastContainer]");
  if (found === messages) return;
  messages = found;
  sizes.disconnect();
  if (found) sizes.observe(found);
  else setMessages(null);
}

function setMessages(container) {
  const top = container?.childElementCount ? container.getBoundingClientRect().top : innerHeight;
  document.documentElement.style.setProperty("--messages", `${Math.max(0, innerHeight - top)}px`);
}

function watch() {
  new MutationObserver(updateAll).observe(document.body, WATCHED);
  document.addEventListener("focusin", ({ target }) => {
    const group = target.closest?.(GROUPS);
    if (group) group.crfvizLast = target;
  });
  document.addEventListener(
    "keydown",
    (event) => {
      const group = event.target.closest?.(GROUPS);
      if (group) moveFocus(event, group);
    },
    { capture: true },
  );
}

// Reports clicks on the sidebar's buttons; in a narrow window the sidebar hides by itself.
function watchSidebar() {
  document.addEventListener("click", ({ target }) => {
    const button = target.closest?.(`${HIDES}, ${SHOWS}`);
    if (button && innerWidth >= MIN_WIDTH_BESIDE) trigger("sidebar", button.matches(HIDES) ? "closed" : "open");
  });
}

// A new connection may lead to a server without this session. It is asked to draw the page, and then gets the state of
// widgets and pictures; otherwise edits would be lost. Without a connection Streamlit disables its widgets, but stages
// can still be edited, and a notice says so.
function watchConnection() {
  const app = document.querySelector(`[${CONNECTION}]`);
  const notice = document.createElement("div");
  Object.assign(notice, { className: "crfviz-line", role: "alert", hidden: true });
  document.body.append(notice);
  let lost = 0; // the timer of the notice
  const look = () => {
    const connected = app.getAttribute(CONNECTION) === "CONNECTED";
    if (connected && lost) {
      clearTimeout(lost);
      lost = 0;
      notice.hidden = true;
      trigger("back", true);
      document.dispatchEvent(new Event(BACK));
    } else if (!connected && !lost) {
      lost = setTimeout(() => {
        notice.textContent = LOST;
        notice.style.colorScheme = getComputedStyle(app).colorScheme; // light or dark, as the page
        notice.hidden = false;
      }, NOTICE_DELAY);
    }
  };
  if (app) new MutationObserver(look).observe(app, { attributeFilter: [CONNECTION] });
}

// Changes the colour scheme of an open page: ./early.js answers when Streamlit queries the system's scheme. Streamlit
// repeats the query after a print, so this dispatches the end of one.
function setScheme(wanted) {
  const scheme = window.crfvizScheme;
  const before = window.matchMedia(DARK).matches;
  scheme.wanted = wanted;
  scheme.paint();
  if (window.matchMedia(DARK).matches !== before) window.dispatchEvent(new Event("afterprint"));
}

// The search box of the glossary: shows all terms that contain the text, including those of other pages.
function searchTerms({ target }) {
  const panel = target.closest?.(GLOSSARY);
  if (!panel) return;
  const typed = target.value.trim().toLowerCase();
  const entries = [...panel.querySelectorAll("[data-term]")];
  for (const entry of entries) entry.hidden = !entry.textContent.toLowerCase().includes(typed);
  panel.querySelector("details").open = typed !== "";
  panel.querySelector(":scope > p").hidden = entries.some((entry) => !entry.hidden);
}

// Browser storage that survives a reload: the room that it leads (of the tab used last) and the draft of a lecture.
// Empty for none; null if the session has not loaded it yet.
const [LEADS, DRAFT] = ["crfviz.leads", "crfviz.draft"];
function store(key, name, text) {
  try {
    const stored = localStorage.getItem(key);
    if (text) localStorage.setItem(key, text);
    else if (text === "") localStorage.removeItem(key);
    else if (stored) trigger(name, stored);
  } catch {
    // storage is disabled or full: a reload loses the value
  }
}

let trigger = () => {};
let session = ""; // of the server, when the frame was drawn last
let own = []; // URL parameters of this page alone
let letters = true; // whether keys of one letter do anything
watch();
watchSidebar();
watchConnection();
watchHistory();
watchCopy();
document.addEventListener("input", searchTerms);
watchSteps();
watchLinks(
  () => own,
  (path, isCurrent) => {
    if (!isCurrent) expectPage();
    trigger("page", path);
  },
  (query) => trigger("visit", query),
);
watchSentenceKey(() => letters);
watchPageKeys((direction) => {
  expectPage();
  trigger("turn", direction > 0 ? "next" : "previous");
});

export default ({ data, setTriggerValue }) => {
  trigger = setTriggerValue;
  own = data.own;
  letters = data.letters;
  if (session && session !== data.session) trigger("anew", data.session);
  session = data.session;
  setScheme(data.theme);
  store(LEADS, "lead", data.lead);
  store(DRAFT, "draft", data.draft);
  updateAll();
  window.crfvizFramed(); // see ./early.js
};
