// The height that a picture may use: it is estimated before it is drawn, and corrected by what was drawn.

// Height under the stage; in a lecture the text of a step may take a second line.
export const BELOW_STAGE = { page: 45, lecture: 38 };
const [EDGE, SLACK] = [8, 12]; // pixels under the picture of a lecture, and those that may stay empty
const MAX_OVER = 24; // pixels; pictures on pages that are much higher than the window scroll

// `place` is where the height was measured, `more` the pixels that it has more than estimated. If `isFixed`, less
// height made the picture higher, and it stays as it is.
/** @typedef {{ place: string, more: number, isFixed: boolean }} Filled */

/** @param {Element} element @returns {Element[]} */
export function ancestors(element) {
  const root = element.getRootNode();
  const parent = element.parentElement ?? (root instanceof ShadowRoot ? root.host : null);
  return parent ? [parent, ...ancestors(parent)] : [];
}

// Returns how far an element is below the top of the page, however far that is scrolled.
/** @param {Element} element */
export function topOf(element) {
  return ancestors(element).reduce((top, each) => top + each.scrollTop, element.getBoundingClientRect().top);
}

// Returns the corrected height of a picture that was drawn; null if it may stay. In a lecture, which `shortens`, the
// picture ends at the lower edge. On a page it ends above what follows, unless it is much higher. With the same words
// and place the height only decreases, so that steps do not move the rows up and down.
/**
 * @param {{ bottom: number, place: string, scale: number, shortens: boolean, frugal: boolean }} drawn
 * @param {Filled} filled
 * @returns {Filled | null}
 */
export function heightOf({ bottom, place, scale, shortens, frugal }, filled) {
  const under = (shortens ? EDGE : BELOW_STAGE.page) * scale;
  const left = Math.floor(window.innerHeight - under - bottom);
  const fresh = place !== filled.place;
  const next = { place, more: left + (fresh ? 0 : filled.more), isFixed: false };
  if (shortens) return (fresh ? Math.abs(left) <= SLACK : left >= 0) ? null : next;
  if (frugal || (!fresh && filled.isFixed)) return null;
  if (fresh && filled.more) return { ...next, more: 0 }; // it was drawn in the height of another place
  return left >= 0 || left < -MAX_OVER ? null : next;
}
