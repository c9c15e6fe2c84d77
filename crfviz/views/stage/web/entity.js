// An entity: the tags it stands for under the words, and how probable it is beside everything else that could be there.

import { html, mark, set, setProperty, setText } from "./dom.js";
import { drawTick } from "./ghosts.js";
import { signed } from "./numbers.js";
import { makeRoving } from "./roving.js";

// Two rows under the words: the entities of the best path to pick from, and the chosen one, word by word.
// `choose` gets [type, first, last].
export function buildSpans(model, heads, choose) {
  const offers = html("div", { class: "row spans-offers" }, [html("div", { class: "label", text: "best path" })]);
  const cells = model.words.map((_, t) => html("div", { class: "span-cell", role: "button", tabindex: "-1", "data-word": t, "data-t": t }));
  const chosen = html("div", { class: "row spans-chosen", role: "row" }, [html("div", { class: "label", text: "chosen" }), ...cells]);
  const element = html("div", { class: "spans", role: "group", "aria-label": "The chosen entity" }, [offers, chosen]);
  const move = makeRoving(element, "[data-word]");
  let entity = model.entity;
  let anchor = null; // the first word, while the last one is still to be clicked
  const pick = (t) => {
    const ends = anchor !== null && t >= anchor;
    choose([entity.label, ends ? anchor : t, t]);
    anchor = ends ? null : t;
    draw();
  };
  const draw = () => cells.forEach((cell, t) => mark(cell, "data-anchor", anchor === t));
  const stretch = (cell, key) => {
    const t = Number(cell.dataset.word);
    const next = move(cell, key);
    if (!next) return;
    anchor = null;
    const to = Number(next.dataset.word);
    const inside = t === entity.first || t === entity.last;
    const still = !inside ? t : t === entity.last ? entity.first : entity.last;
    choose([entity.label, Math.min(still, to), Math.max(still, to)]);
  };
  [...heads, ...cells].forEach((target, i) => target.addEventListener("click", () => pick(i % cells.length)));
  heads.forEach((head) => mark(head, "data-choosable"));
  chosen.addEventListener("keydown", (event) => {
    const cell = event.target.closest("[data-word]");
    if (!cell || event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === "Enter" || event.key === " ") pick(Number(cell.dataset.word));
    else if (event.key === "Escape" && anchor !== null) anchor = null;
    else if (event.shiftKey && (event.key === "ArrowLeft" || event.key === "ArrowRight")) stretch(cell, event.key);
    else if (event.key === "ArrowLeft" || event.key === "ArrowRight") move(cell, event.key);
    else return;
    draw();
    event.preventDefault();
    event.stopPropagation();
  });
  return {
    element,
    update(next) {
      entity = next.entity;
      drawOffers(offers, next, (span) => {
        anchor = null;
        choose(span);
      });
      cells.forEach((cell, t) => drawWord(next, cell, t));
      draw();
    },
  };
}

function drawOffers(row, { entity, colours, tags }, choose) {
  const key = JSON.stringify(entity.on_path);
  if (row.dataset.drawn === key) return press(row, entity);
  row.dataset.drawn = key;
  const label = row.firstChild;
  const chips = entity.on_path.map(({ label: kind, first, last, probability }) => {
    const chip = html("button", { type: "button", class: "chip", text: `${kind} ${exact(probability)}`, "data-span": `${kind},${first},${last}` });
    chip.style.gridColumn = `${first + 2} / ${last + 3}`;
    setProperty(chip, "--tag", colours[tags.indexOf(`B-${kind}`)]);
    set(chip, "title", `${kind}, words ${first + 1} to ${last + 1}: ${probability}`);
    chip.addEventListener("click", () => choose([kind, first, last]));
    return chip;
  });
  const none = chips.length ? [] : [html("div", { class: "span-none", text: "no entity" })];
  row.replaceChildren(label, ...chips, ...none);
  press(row, entity);
}

function press(row, { label, first, last }) {
  row.querySelectorAll(".chip").forEach((chip) => set(chip, "aria-pressed", chip.dataset.span === `${label},${first},${last}`));
}

// The tag that the entity asks of this word; the word after it must not go on with it.
function drawWord({ entity, words, colours, tags }, cell, t) {
  const { label, first, last } = entity;
  const inside = t >= first && t <= last;
  const after = t === last + 1 && tags.includes(`I-${label}`);
  const text = inside ? `${t === first ? "B" : "I"}-${label}` : after ? `not I-${label}` : "·";
  setText(cell, text);
  setProperty(cell, "--tag", colours[tags.indexOf(`B-${label}`)]);
  mark(cell, "data-inside", inside);
  mark(cell, "data-after", after);
  set(cell, "aria-label", `${words[t]}: ${text === "·" ? "not part of the chosen entity" : text}`);
}

// The exact probability, everything else that could be at these words, and what shortcuts would say.
export function buildEntity(model, choose) {
  const types = html("div", { class: "buttons", role: "group", "aria-label": "Type of the entity" });
  const title = html("div", { class: "side-title" });
  const big = html("div", { class: "entity-number", "data-entity-probability": "" });
  const was = html("div", { class: "entity-was" });
  const left = html("div", { class: "entity-own" }, [title, big, was, types]);
  const rivals = html("div", { class: "entity-rows", role: "table", "aria-label": "What else could be at these words" });
  const shortcuts = html("div", { class: "entity-rows", role: "table", "aria-label": "What shortcuts would say" });
  const total = html("div", { class: "entity-total", "data-entity-total": "" });
  const foot = html("div", { class: "entity-total", text: "of the words' marginals; | is the exact probability" });
  const element = html("section", { class: "side-panel entity", "aria-live": "polite" }, [
    left,
    html("div", {}, [html("div", { class: "side-head", text: "Everything that could be at these words" }), rivals, total]),
    html("div", {}, [html("div", { class: "side-head", text: "What shortcuts would say" }), shortcuts, foot]),
  ]);
  const buttons = model.entity.types.map((type) => html("button", { type: "button", text: type, "data-type": type }));
  let entity = model.entity;
  buttons.forEach((button) => button.addEventListener("click", () => choose([button.dataset.type, entity.first, entity.last])));
  types.append(...buttons);
  return {
    element,
    update(next) {
      entity = next.entity;
      setText(title, entity.title);
      setText(big, exact(entity.probability));
      set(big, "title", String(entity.probability));
      setText(was, entity.trained === null ? "exact probability" : `exact probability, trained ${exact(entity.trained)}`);
      for (const button of buttons) set(button, "aria-pressed", button.dataset.type === entity.label);
      drawRivals(rivals, next, choose);
      setText(total, `sum ${entity.total.toFixed(9)}`);
      drawShortcuts(shortcuts, entity);
    },
  };
}

function drawRivals(list, { entity, colours, tags }, choose) {
  const rows = entity.hypotheses.map((hypothesis) => {
    const { text, relation, probability, trained, span } = hypothesis;
    const row = html(span ? "button" : "div", { class: "entity-row", "data-relation": relation, "data-probability": probability, title: `${text} (${relation}): ${probability}` });
    const bar = html("span", { class: "bar" });
    setProperty(bar, "--length", `${(100 * probability).toFixed(2)}%`);
    setProperty(row, "--tag", span ? colours[tags.indexOf(`B-${span[0]}`)] : "var(--edge)");
    drawTick(bar, trained, `trained ${trained}`);
    row.append(html("span", { class: "entity-text", dir: "auto", text: relation === "this entity" ? `▸ ${text}` : text }), bar, html("span", { class: "bar-number", text: exact(probability) }));
    if (span && relation !== "this entity") row.addEventListener("click", () => choose(span));
    return row;
  });
  list.replaceChildren(...rows);
}

function drawShortcuts(list, { shortcuts, probability }) {
  const rows = shortcuts.map(({ name, value, error }) => {
    const bar = html("span", { class: "bar" });
    setProperty(bar, "--length", `${(100 * value).toFixed(2)}%`);
    setProperty(bar, "--tag", "var(--edge)");
    const tick = html("span", { class: "bar-exact" });
    setProperty(tick, "--at", `${(100 * probability).toFixed(2)}%`);
    bar.append(tick);
    const off = Math.abs(error) < 5e-5 ? "exact here" : `${signed(error, 4)} ${error > 0 ? "too high" : "too low"}`;
    return html("div", { class: "entity-row shortcut-row", "data-shortcut": name, "data-value": value, title: `${name}: ${value}` }, [
      html("span", { class: "entity-text", text: name }),
      bar,
      html("span", { class: "bar-number", text: exact(value) }),
      html("span", { class: "shortcut-off", text: off }),
    ]);
  });
  list.replaceChildren(...rows);
}

// Four decimals; never a plain 0 or 1 for what is not.
function exact(value) {
  if (value > 0 && value < 5e-5) return value.toExponential(1);
  if (value < 1 && value > 0.99995) return "> 0.9999";
  return value.toFixed(4);
}
