// The step of a walk stands in the address from the key on: Python hears of it only when the keys rest, and a page may
// be loaded again before. What Python writes then is the same address, for which Streamlit makes no new place to come
// back to: the first of the keys has made one.

import { addRule } from "./router.js";

const STEPS = "crfviz-steps"; // of the document: the step as the link has it; null: Python has heard of it
const CHOSEN = "v.chosen"; // the cell that a side panel explains, which a step takes along
const CUE = "cue";
const OPTION = /^(v\.|tour=|s\.)/; // of the page, and snapshots: they stand behind the step

const named = (part) => part.slice(0, part.indexOf("="));

// The query part of an address with another step, which is left out where the page would open with it; a cue has a step
// of its own.
export function withStep(search, step) {
  const parts = search.slice(1).split("&").filter(Boolean);
  const kept = parts.filter((part) => !["step", CHOSEN].includes(named(part)));
  if (step === 0 && !parts.some((part) => named(part) === CUE)) return kept.length ? `?${kept.join("&")}` : "";
  const options = kept.findIndex((part) => OPTION.test(part));
  kept.splice(options < 0 ? kept.length : options, 0, `step=${step}`);
  return `?${kept.join("&")}`;
}

export function watchSteps() {
  let ahead = false; // of Python
  // But for the step, and whatever the order of the parts: people write some addresses.
  const same = ({ pathname, search }) => {
    const [told, here] = [search, location.search].map((each) => {
      const params = new URLSearchParams(withStep(each, ""));
      params.sort();
      return String(params);
    });
    return pathname === location.pathname && told === here;
  };
  addRule((place, next) => {
    if (ahead && same(place)) return; // an older step, of a run that was slower than the keys
    ahead &&= place.pathname === location.pathname; // the page that was walked is left
    next();
  });
  document.addEventListener(STEPS, ({ detail: step }) => {
    if (step !== null) {
      const url = location.pathname + withStep(location.search, step);
      if (ahead) history.replaceState(history.state, "", url);
      else history.pushState({}, "", url);
    }
    ahead = step !== null;
  });
  addEventListener("popstate", () => {
    ahead = false;
  });
}
