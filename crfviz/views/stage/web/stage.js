// The live stage as a component of Streamlit: entry point of its manifest.

import { hosted } from "./host.js";
import { Stage } from "./stage/lifecycle.js";

export default hosted((element, send) => new Stage(element, send));
