// The switch or list beside the sentence that was used last. A key lets it tell its change; a switch that is clicked
// may take its new state without telling (React Aria's does): it is known by the focus that the pointer gave it.

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
