// The live stage as a component of Streamlit: entry point of its manifest.

import { beyond } from "./embed.js";
import { GuestStage } from "./guest.js";
import { hosted, isGuest } from "./host.js";
import { Stage } from "./stage/lifecycle.js";

/** @import { Payload, StageOptions, Way } from "./types.js" */

const TURNS = "crfviz-turns"; // document event; cancelled by a listener that handles it instead of opening a page

const STEPS = "crfviz-steps"; // document event: the step being sent to Python; null once it has arrived

/** @param {number | "start" | null} detail */
function walked(detail) {
  document.dispatchEvent(new CustomEvent(STEPS, { detail }));
}

/** @param {Way} way */
function turned(way) {
  return !document.dispatchEvent(new CustomEvent(TURNS, { detail: way, cancelable: true }));
}

// Keys act with any focus, so that a presenter's clicker always works.
/** @type {StageOptions} */
const options = { keys: document, beyond: (way) => beyond(way) || turned(way), walked };

export default hosted((element, send, /** @type {Payload} */ data) =>
  isGuest(data) ? new GuestStage(element, send) : new Stage(element, send, options),
);
