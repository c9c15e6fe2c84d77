// The versions of a sentence that are to be settled: what each says of the words under the cursor, and of all.

import { button, html } from "../dom.js";
import { take } from "./actions.js";

/** @import { Labelling } from "../types.js" */

/** @param {HTMLElement} element @param {Labelling} labelling */
export function drawVersions(element, labelling) {
  const { versions } = labelling.data;
  element.hidden = !versions || labelling.words;
  if (!versions) return;
  const at = versions.disputes.find(({ first, last }) => first <= labelling.cursor && labelling.cursor <= last);
  /** @param {string} key @param {number} version @param {string} text */
  const choice = (key, version, text) => {
    const parts = [html("kbd", key), html("span.version", versions.names[version]), html("span.reading", text)];
    const whole = key !== String(version + 1);
    return button(parts, () => labelling.idle(() => take(labelling, version, whole)), { "data-take": key });
  };
  const readings = at ? at.readings.map((text, n) => choice(String(n + 1), n, text)) : [];
  const split = at?.split ? [html("span.quiet", "They split the words differently.")] : [];
  const why = at?.why ? [html("a.why", { href: at.why, target: "_blank" }, "Why does the model say so?")] : [];
  const none = at ? [] : [html("span.quiet", "All versions have the same tag here.")];
  const all = versions.names.map((_, n) => choice(`⇧${n + 1}`, n, "all words"));
  element.replaceChildren(html("div.row", ...readings, ...none, ...split, ...why), html("div.row", ...all));
}

// How many disputes are open, and which key settles one.
/** @param {{ left: number, names: string[], disputes: object[] }} versions */
export function standingOf({ left, names, disputes }) {
  if (!left) return "Every dispute is settled: Enter accepts.";
  const [of, keys] = [disputes.length, names.map((_, n) => n + 1).join(", ")];
  return `${left} of ${of} ${of === 1 ? "dispute" : "disputes"} open: ${keys} take a version, Enter goes on.`;
}
