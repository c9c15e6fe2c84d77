// Text of list items in an address, written as crfviz/ui/state/link_text.py does: `DET.NOUN:1.25`, `3.NOUN:2`, `0.DET`.
// In names everything but letters, digits, "-" and "_" is encoded, so that the separators ".", ":", "," and the blank
// of page options are unambiguous. crfviz/views/site/web/link_items.js parses it, and
// what the app packs.

/** @typedef {[from: string, to: string]} Move */
/** @typedef {[position: number, tag: string]} Place */

/** @param {string} tag */
export function tagText(tag) {
  return encodeURIComponent(tag).replaceAll(
    /[!'()*.~]/g,
    (sign) => `%${sign.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}

/** @param {number} value */
export function numberText(value) {
  return String(value).replace("Infinity", "inf");
}

/** @param {[Move, number][]} scores */
export function movesText(scores) {
  return scores.map(([move, value]) => `${move.map(tagText).join(".")}:${numberText(value)}`).join(",");
}

/** @param {[Place, number][]} scores */
export function scoresText(scores) {
  return scores.map(([place, value]) => `${placesText([place])}:${numberText(value)}`).join(",");
}

/** @param {Place[]} tags */
export function placesText(tags) {
  return tags.map(([position, tag]) => `${position}.${tagText(tag)}`).join(",");
}
