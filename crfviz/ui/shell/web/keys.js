// Keys of the frame: the arrows inside groups of controls, and page keys on pages without steps.

import { TEXT_FIELD } from "../../../views/stage/web/dom.js";

// A group of controls is one tab stop; the up and down arrows move inside it, as in a WAI-ARIA toolbar. Otherwise the
// links to all pages would come before the page.

const CONTROLS = "a[href], button, summary, input[type=checkbox]";

const isUsable = (control) =>
  !control.disabled && !control.closest("[inert]") && control.checkVisibility({ visibilityProperty: true });

const controls = (group) => [...group.querySelectorAll(CONTROLS)].filter(isUsable);

// Tab reaches the control that had the focus last, else the current page, else the first.
export function setTabStop(group) {
  const all = controls(group);
  const stop =
    all.find((control) => control.matches(":focus")) ??
    all.find((control) => control === group.crfvizLast) ??
    all.find((control) => control.matches("[aria-current]")) ??
    all[0];
  for (const control of all) {
    const index = control === stop ? 0 : -1;
    if (control.tabIndex !== index) control.tabIndex = index;
  }
}

// The arrows move in a group only after keyboard focus; after a click they still belong to the picture.
export function moveFocus(event, group) {
  const steps = { ArrowDown: 1, ArrowUp: -1 };
  const control = event.composedPath()[0];
  if (!(event.key in steps) || !control.matches?.(":focus-visible")) return;
  const all = controls(group);
  const place = all.indexOf(control);
  if (place < 0) return;
  event.preventDefault();
  event.stopPropagation();
  const next = all[(place + steps[event.key] + all.length) % all.length];
  group.crfvizLast = next;
  next.focus();
  setTabStop(group);
}

// T and / put the cursor into the sentence on top; what is typed replaces it.

const TYPE = new Set(["t", "T", "/"]);
const TAKES_LETTERS = `${TEXT_FIELD}, canvas, [role=grid], [data-editing], .st-key-labeller`;

// `isOn` tells whether keys of one letter do anything.
export function watchSentenceKey(isOn) {
  document.addEventListener("keydown", (event) => {
    const { key, altKey, ctrlKey, metaKey, defaultPrevented } = event;
    if (!TYPE.has(key) || altKey || ctrlKey || metaKey || defaultPrevented || !isOn()) return;
    const [inside] = event.composedPath();
    const sentence = document.querySelector(".st-key-sentence input");
    if (!sentence || document.documentElement.dataset.embed || inside.closest?.(`${OPEN}, ${TAKES_LETTERS}`)) return;
    event.preventDefault();
    sentence.focus();
    sentence.select();
  });
}

// On pages without steps a clicker scrolls, and at the end opens the next page of the group, as a picture does after
// its last step. Controls that use the key themselves come first.

const DIRECTIONS = { PageDown: 1, " ": 1, PageUp: -1 };
const SCROLL_SHARE = 0.85; // of the visible height
const TOLERANCE = 4; // pixels
const PRESSED = "button, a, summary, input, textarea, select, [role=tab], [role=radio], [role=switch], [role=button]";
const OPEN = "[role=listbox], [role=menu], [role=dialog], :is([aria-haspopup], [role=combobox])[aria-expanded=true]";
const SCROLLED = "textarea, canvas, [role=grid], [role=slider], [type=range], [data-editing]"; // use these keys
const WALKS = ".st-key-labeller, .st-key-player, .st-key-speaker"; // have steps for these keys

const isIdle = () => document.querySelector("[data-testid=stApp]")?.dataset.testScriptState === "notRunning";

// `turn` gets 1 or -1.
export function watchPageKeys(turn) {
  let edited = null; // the text being typed, until it is applied or left
  document.addEventListener("input", ({ target }) => {
    if (target.matches?.(TEXT_FIELD)) edited = target;
  });
  document.addEventListener("focusout", () => {
    edited = null;
  });
  document.addEventListener("keydown", (event) => {
    const [inside] = event.composedPath();
    if (event.key === "Enter" && !inside.matches?.("textarea")) edited = null;
    if (edited !== inside && isFree(event, inside)) scrollOrTurn(event, turn);
  });
}

function isFree(event, inside) {
  const { key, altKey, ctrlKey, metaKey, shiftKey, defaultPrevented, repeat } = event;
  if (!(key in DIRECTIONS) || altKey || ctrlKey || metaKey || shiftKey || defaultPrevented || repeat) return false;
  if (document.documentElement.dataset.embed || document.querySelector(WALKS)) return false;
  return !inside.closest?.(`${OPEN}, ${SCROLLED}`) && !(key === " " && inside.closest?.(PRESSED));
}

// Ignores presses while a page loads, so that no page is skipped.
function scrollOrTurn(event, turn) {
  event.preventDefault();
  const direction = DIRECTIONS[event.key];
  const main = document.querySelector("[data-testid=stMain]");
  const above = main.scrollTop;
  const left = direction > 0 ? main.scrollHeight - main.clientHeight - above : above;
  if (left > TOLERANCE) main.scrollBy({ top: direction * SCROLL_SHARE * main.clientHeight });
  else if (isIdle()) turn(direction);
}
