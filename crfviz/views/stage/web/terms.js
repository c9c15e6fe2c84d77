// Two panels of exact terms: why a tag lost, word by word, and where one weight tips the best path.

import { html, mark, set, setProperty, setText, svg } from "./dom.js";
import { drawTick } from "./ghosts.js";
import { score, signed } from "./numbers.js";

const MARGIN = 1.2; // nats shown beyond the outermost mark of a ruler
const REACH = 6; // breakpoints farther than this from the value and the trained one are only named
const RULER = { width: 400, height: 26, foot: 18 };

// The gap between two paths: a bar per word for the emission, and one for the step into it.
export function buildTerms(model) {
  const title = html("div", { class: "side-title" });
  const head = html("div", { class: "term term-head" }, ["", "transition", "emission"].map((text) => html("span", { text })));
  const rows = [...model.words, "END"].map((word, t) => {
    const [label, step, emission] = [html("span", { class: "term-word", dir: "auto" }), bar(), bar()];
    label.textContent = t < model.T ? word : "END";
    return { step, emission, element: html("div", { class: "term", "data-term": t }, [label, step.element, emission.element]) };
  });
  const foot = html("div", { class: "side-note" });
  const element = html("section", { class: "side-panel terms", "aria-live": "polite" }, [title, head, ...rows.map((row) => row.element), foot]);
  return {
    element,
    update({ terms, T }) {
      setText(title, terms.title);
      setText(foot, terms.foot);
      const [before, stepsBefore] = terms.trained ?? [[], []];
      const largest = Math.max(0.01, ...[terms.emissions, terms.transitions, before, stepsBefore].flat().map(Math.abs));
      const ghosts = Boolean(terms.trained);
      rows.forEach(({ step, emission, element: row }, t) => {
        drawBar(step, terms.transitions[t], largest, ghosts ? stepsBefore[t] : null);
        drawBar(emission, t < T ? terms.emissions[t] : 0, largest, ghosts && t < T ? before[t] : null);
        const shown = [terms.transitions[t], stepsBefore[t], terms.emissions[t], before[t]];
        mark(row, "hidden", shown.every((value) => !(Math.abs(value) >= 5e-3)));
      });
    },
  };
}

function bar() {
  const number = html("span", { class: "term-number" });
  return { number, element: html("span", { class: "term-bar" }, [number]) };
}

function drawBar({ number, element }, value, largest, trained) {
  const moved = trained !== null && Math.abs(trained - value) >= 5e-3;
  drawTick(element, moved ? 0.5 + trained / largest / 2 : null, `trained ${moved ? score(trained, 6) : ""}`);
  setText(number, Math.abs(value) < 5e-3 ? "" : signed(value));
  setProperty(element, "--length", `${(50 * Math.abs(value)) / largest}%`);
  mark(element, "data-negative", value < 0);
  set(element, "title", score(value, 6));
}

// The values of one weight as a line: in each piece another path is best. The dot is the value now.
export function buildRuler() {
  const title = html("div", { class: "ruler-title" });
  const pieces = svg("g");
  const trained = svg("line", { class: "ruler-trained", y1: "-3", y2: RULER.height + 3 });
  const dot = svg("circle", { class: "ruler-now", cy: RULER.height / 2, r: 7 });
  const picture = svg("svg", { class: "ruler-picture", role: "img", viewBox: `0 -4 ${RULER.width} ${RULER.height + RULER.foot + 4}` }, [pieces, trained, dot]);
  const foot = html("div", { class: "ruler-foot" });
  const element = html("section", { class: "side-panel ruler", "data-ruler": "" }, [title, picture, foot]);
  let drawn = null;
  return {
    element,
    update(next) {
      mark(element, "hidden", !next.ruler);
      if (!next.ruler) return;
      const { ruler } = next;
      const [from, to] = ruler.weight;
      const now = next.weightOf(from, to);
      const breaks = ruler.pieces.slice(1).map((piece) => piece.low);
      const centres = [ruler.varies ? NaN : ruler.trained, now].filter(Number.isFinite);
      const near = breaks.filter((value) => centres.some((centre) => Math.abs(value - centre) <= REACH));
      const far = breaks.filter((value) => !near.includes(value));
      const marks = [...near, ...centres, ...(near.length + centres.length ? [] : breaks)];
      const low = Math.min(...marks) - MARGIN;
      const high = Math.max(...marks) + MARGIN;
      const x = (value) => (RULER.width * (Math.max(low, Math.min(high, value)) - low)) / (high - low);
      setText(title, `${from} → ${to} is ${score(now, 2)}, trained ${ruler.varies ? "differently at each step" : score(ruler.trained, 2)}`);
      const key = JSON.stringify([ruler, low, high]);
      if (key !== drawn) pieces.replaceChildren(...ruler.pieces.flatMap((piece, i) => drawPiece(piece, i, x, ruler.pieces.length)));
      drawn = key;
      mark(trained, "hidden", ruler.varies || !Number.isFinite(ruler.trained));
      set(trained, "x1", x(ruler.trained));
      set(trained, "x2", x(ruler.trained));
      set(dot, "cx", x(now));
      const here = ruler.pieces.findLast((piece) => piece.low <= now) ?? ruler.pieces[0];
      set(picture, "aria-label", `${ruler.pieces.length} pieces, breakpoints ${breaks.map((value) => score(value, 3)).join(", ") || "none"}; now ${here.label}`);
      const beyond = far.length ? ` Also at ${far.map((value) => score(value, 2)).join(", ")}.` : "";
      setText(foot, breaks.length ? `The best path changes where the numbers stand; the line is the trained value.${beyond}` : "No value of this weight changes the best path.");
    },
  };
}

function drawPiece({ low, high, label }, i, x) {
  const [left, right] = [x(low ?? -Infinity), x(high ?? Infinity)];
  const rect = svg("rect", { class: "ruler-piece", "data-piece": i, x: left, width: Math.max(0, right - left), height: RULER.height });
  rect.append(svg("title", { text: label }));
  const parts = [rect];
  if (right - left > 7 * label.length) parts.push(svg("text", { class: "ruler-label", x: (left + right) / 2, y: RULER.height / 2 + 4, text: label }));
  if (Number.isFinite(low) && left > 0 && left < RULER.width) parts.push(svg("text", { class: "ruler-break", "data-break": low, x: left, y: RULER.height + 14, text: score(low, 2) }));
  return parts;
}
