// The switch or list beside the sentence that was used last. A key lets it tell its change; a switch that is clicked
// may take its new state without telling (React Aria's does): it is known by the focus that the pointer gave it.

const CLICKED = "input[type=checkbox]";

export function watchSwitches() {
  let used = null;
  let pointed = false;
  const hears = {
    pointerdown: () => {
      pointed = true;
    },
    keydown: () => {
      pointed = false;
    },
    focusin: ({ target }) => {
      if (pointed && target.matches(CLICKED)) used = target;
    },
    change: ({ target }) => {
      used = target;
    },
  };
  for (const [name, hear] of Object.entries(hears)) document.addEventListener(name, hear, true);
  return {
    wasUsed: (element) => element === used,
    forget: () => {
      used = null;
    },
    stop: () => {
      for (const [name, hear] of Object.entries(hears)) document.removeEventListener(name, hear, true);
    },
  };
}
