// The switch or list beside the sentence that was used last. After a key, its change event counts; a clicked switch may
// change without an event (as in React Aria), so the focus from the pointer counts.

import { targetOf } from "../dom.js";

const CLICKED = "input[type=checkbox]";

export function watchSwitches() {
  /** @type {EventTarget | null} */
  let used = null;
  let pointed = false;
  /** @type {Record<string, (event: Event) => void>} */
  const hears = {
    pointerdown: () => {
      pointed = true;
    },
    keydown: () => {
      pointed = false;
    },
    focusin: (event) => {
      if (pointed && targetOf(event).matches(CLICKED)) used = event.target;
    },
    change: ({ target }) => {
      used = target;
    },
  };
  for (const [name, listener] of Object.entries(hears)) document.addEventListener(name, listener, true);
  return {
    /** @param {Element} element */
    wasUsed: (element) => element === used,
    forget: () => {
      used = null;
    },
    stop: () => {
      for (const [name, listener] of Object.entries(hears)) document.removeEventListener(name, listener, true);
    },
  };
}
