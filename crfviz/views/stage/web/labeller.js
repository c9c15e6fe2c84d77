// The labeller as a component of Streamlit: entry point of its manifest.

import { hosted } from "./host.js";
import { Labelling } from "./labelling/lifecycle.js";

export default hosted((element, send) => new Labelling(element, send));
