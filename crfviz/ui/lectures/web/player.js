// The player of lectures: what is said at a cue, and the keys that belong to no picture. A second window for the
// speaker follows it, and leads it, over a channel of the browser: the server is not asked.

import { bar } from "./bar.js";
import { notes } from "./notes.js";

const views = new WeakMap();

export default ({ data, parentElement, setTriggerValue }) => {
  const make = data.notes ? notes : bar;
  if (!views.has(parentElement)) views.set(parentElement, make(parentElement));
  const view = views.get(parentElement);
  view.receive(data, (name, value) => setTriggerValue(name, value));
  // Also called when two payloads come close together: then the element stays.
  return () =>
    setTimeout(() => {
      if (parentElement.isConnected) return;
      view.close();
      views.delete(parentElement);
    });
};
