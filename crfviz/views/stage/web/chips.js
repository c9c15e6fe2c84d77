// The words of a sentence as chips: each with its tag, how sure the model is, and the second choice where it is not.

import { html, mark, set, setProperty, setText } from "./dom.js";

export function buildChips(sheet, data) {
  sheet.replaceChildren(...data.words.flatMap((word, t) => {
    const chip = html("div", { class: "chip", role: "option", "data-word": t, tabindex: "-1" }, [
      html("span", { class: "word", dir: "auto", text: word }),
      html("span", { class: "line" }, [html("span", { class: "tag" }), html("span", { class: "number" })]),
      html("span", { class: "second" }),
    ]);
    if (data.gaps[t] === "" && t > 0) mark(chip, "data-joint"); // no blank before it in the text
    return [chip];
  }));
}

export function drawChips(sheet, data, { cursor, selected }) {
  const pinned = new Set(data.pinned);
  const doubtful = new Set(data.doubtful);
  const colours = new Map(data.choices.map(({ name, colour }) => [name, colour]));
  sheet.querySelectorAll(".chip").forEach((chip, t) => {
    const tag = data.tags[t];
    const [, line, second] = chip.children;
    const inside = data.bio && tag.startsWith("I-");
    const plain = data.bio && tag === "O";
    const name = data.bio ? tag.replace(/^[BI]-/, "") : tag;
    setProperty(chip, "--tag", colours.get(plain ? "" : name) ?? "#8c8c8c");
    set(chip, "data-tag", tag);
    mark(chip, "data-plain", plain);
    mark(chip, "data-inside", inside);
    mark(chip, "data-goes-on", data.bio && data.tags[t + 1]?.startsWith("I-") === true);
    mark(chip, "data-pinned", pinned.has(t));
    mark(chip, "data-doubtful", doubtful.has(t));
    mark(chip, "data-changed", t in data.changed);
    mark(chip, "data-selected", selected[0] <= t && t <= selected[1]);
    set(chip, "aria-selected", selected[0] <= t && t <= selected[1]);
    mark(chip, "data-cursor", t === cursor);
    set(chip, "tabindex", t === cursor ? 0 : -1);
    setText(line.children[0], plain ? "·" : inside ? "…" : name);
    setText(line.children[1], pinned.has(t) ? "✓" : plain && !doubtful.has(t) ? "" : data.sure[t].toFixed(2));
    const rival = rivalOf(data, t, plain ? "" : name);
    const other = data.gold && data.gold[t] !== tag ? data.gold[t] : null; // what the file says instead
    mark(chip, "data-other", other);
    setText(second, other ? `file: ${other}` : t in data.changed ? `was ${data.changed[t]}` : doubtful.has(t) && rival ? `or ${rival.name || "none"} ${rival.p.toFixed(2)}` : "");
    set(chip, "aria-label", describe(data, t, { pinned: pinned.has(t), doubtful: doubtful.has(t), rival }));
  });
}

// First and last word of the entity that a word is in; the word alone where it is in none.
export function spanAt(tags, t) {
  if (tags[t] === "O") return [t, t];
  let [first, last] = [t, t];
  while (first > 0 && tags[first].startsWith("I-")) first -= 1;
  while (tags[last + 1]?.startsWith("I-")) last += 1;
  return [first, last];
}

// The likeliest choice that a word does not have.
function rivalOf(data, t, name) {
  const found = data.ranked[t]?.map(([choice, p]) => ({ name: data.choices[choice].name, p })).find((option) => option.name !== name);
  return found ?? null;
}

function describe(data, t, { pinned, doubtful, rival }) {
  const parts = [`${data.words[t]}: ${data.tags[t]}`];
  parts.push(pinned ? "set by you" : `probability ${data.sure[t].toFixed(2)}`);
  if (doubtful) parts.push(rival ? `doubtful, second choice ${rival.name || "no entity"} ${rival.p.toFixed(2)}` : "doubtful");
  if (t in data.changed) parts.push(`changed from ${data.changed[t]}`);
  if (data.gold && data.gold[t] !== data.tags[t]) parts.push(`the file says ${data.gold[t]}`);
  return parts.join(", ");
}
