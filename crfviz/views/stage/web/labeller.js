// The labeller as a component of Streamlit: entry point of its manifest.

import { hosted, isGuest } from "./host.js";
import { Labelling } from "./labelling/labelling.js";

/** @import { LabellerPayload } from "./types.js" */

export default hosted(
  (element, send, /** @type {LabellerPayload} */ data) => new Labelling(element, send, isGuest(data)),
);
