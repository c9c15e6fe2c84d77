// Groups of controls that the Tab key enters once: inside of them the arrows up and down go from one to the next, as in
// a toolbar of WAI-ARIA. Without this, the links to all pages would stand between the reader and the page.

const CONTROLS = "a[href], button, summary, input[type=checkbox]";

const usable = (control) =>
  !control.disabled && !control.closest("[inert]") && control.checkVisibility({ visibilityProperty: true });

const controls = (group) => [...group.querySelectorAll(CONTROLS)].filter(usable);

// The one that Tab reaches: where the focus was last, else the page that is open, else the first.
export function settle(group) {
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

// The arrows are the group's own only after the keyboard came to it: whoever clicked goes on with the picture.
export function walk(event, group) {
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
  settle(group);
}
