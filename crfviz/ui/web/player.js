// The lecture player: the text of a cue, and the keys that no picture handles. The speaker's window mirrors and
// controls it over a BroadcastChannel, without the server.

import { mounted } from "../../views/stage/web/host.js";
import { bar } from "./bar.js";
import { notes } from "./notes.js";
import { behind } from "./window.js";

const viewOf = ({ notes: texts, there }) => (texts ? notes : there ? behind : bar);

export default mounted((element, data) => viewOf(data)(element));
