// The player of lectures: what is said at a cue, and the keys that belong to no picture. A second window for the
// speaker follows it, and leads it, over a channel of the browser: the server is not asked.

import { mounted } from "../../views/stage/web/host.js";
import { bar } from "./bar.js";
import { notes } from "./notes.js";
import { behind } from "./window.js";

const viewOf = ({ notes: texts, there }) => (texts ? notes : there ? behind : bar);

export default mounted((element, data) => viewOf(data)(element));
