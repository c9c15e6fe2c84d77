// The live stage as a component of Streamlit: entry point of its manifest.

import { hosted } from "./host.js";
import { beyond } from "./slide.js";
import { Stage } from "./stage/lifecycle.js";

// Keys act wherever the focus is on the page: a clicker is pressed while somebody looks at another part of it.
export default hosted((element, send) => new Stage(element, send, { keys: document, beyond }));
