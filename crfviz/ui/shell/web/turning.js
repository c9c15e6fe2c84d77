// A clicker on pages that nothing steps through: it scrolls to what lies below, and at the end turns to the page after
// in the group, as a picture does after its last step. Whatever has a use for the key comes before.

const WAYS = { PageDown: 1, " ": 1, PageUp: -1 };
const SHARE = 0.85; // of what is in sight that a key scrolls by
const NEAR = 4; // pixels
const TEXT = "input:not([type=range], [type=checkbox], [type=radio]), textarea, [contenteditable]";
const PRESSED = "button, a, summary, input, textarea, select, [role=tab], [role=radio], [role=switch], [role=button]";
const OPEN = "[role=listbox], [role=menu], [role=dialog], :is([aria-haspopup], [role=combobox])[aria-expanded=true]";
const SCROLLED = "textarea, canvas, [role=grid], [role=slider], [type=range], [data-editing]"; // have uses of their own
const ELSEWHERE = ".st-key-labeller, .st-key-player, .st-key-speaker"; // what else is walked through by these keys

const atRest = () => document.querySelector("[data-testid=stApp]")?.dataset.testScriptState === "notRunning";

// `turn` gets 1 or -1.
export function watchTurning(turn) {
  let edited = null; // the text being typed, until it is applied or left
  document.addEventListener("input", ({ target }) => {
    if (target.matches?.(TEXT)) edited = target;
  });
  document.addEventListener("focusout", () => {
    edited = null;
  });
  document.addEventListener("keydown", (event) => {
    const [inside] = event.composedPath();
    if (event.key === "Enter" && !inside.matches?.("textarea")) edited = null;
    if (edited !== inside && isFree(event, inside)) move(event, turn);
  });
}

function isFree(event, inside) {
  const { key, altKey, ctrlKey, metaKey, shiftKey, defaultPrevented, repeat } = event;
  if (!(key in WAYS) || altKey || ctrlKey || metaKey || shiftKey || defaultPrevented || repeat) return false;
  if (document.documentElement.dataset.embed || document.querySelector(ELSEWHERE)) return false;
  return !inside.closest?.(`${OPEN}, ${SCROLLED}`) && !(key === " " && inside.closest?.(PRESSED));
}

// A page that is on its way is waited for: a second press does not leave it unseen.
function move(event, turn) {
  event.preventDefault();
  const way = WAYS[event.key];
  const main = document.querySelector("[data-testid=stMain]");
  const above = main.scrollTop;
  const left = way > 0 ? main.scrollHeight - main.clientHeight - above : above;
  if (left > NEAR) main.scrollBy({ top: way * SHARE * main.clientHeight });
  else if (atRest()) turn(way);
}
