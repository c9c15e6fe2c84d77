// The live stage as a component of Streamlit: entry point of its manifest.

import { beyond } from "./embed.js";
import { hosted } from "./host.js";
import { Stage } from "./stage/lifecycle.js";

/** @import { StageOptions, Way } from "./types.js" */

const TURNS = "crfviz-turns"; // of the document: who turns something else than pages cancels it

const STEPS = "crfviz-steps"; // of the document: the step that is on its way to Python; null: it has arrived

/** @param {number | "start" | null} detail */
function walked(detail) {
  document.dispatchEvent(new CustomEvent(STEPS, { detail }));
}

/** @param {Way} way */
function turned(way) {
  return !document.dispatchEvent(new CustomEvent(TURNS, { detail: way, cancelable: true }));
}

// Keys act wherever the focus is on the page: a presenter's clicker works while another part has it.
/** @type {StageOptions} */
const options = { keys: document, beyond: (way) => beyond(way) || turned(way), walked };

export default hosted((element, send) => new Stage(element, send, options));
