// The stage as a notebook widget, by anywidget: edits are sent to Python as `edits`, and new `data` draws another
// chain. A shadow root separates its style sheet from that of the notebook.

import { html } from "../../stage/web/dom.js";
import { buildFrame } from "./frame.js";

export function render({ model, el }) {
  const host = html("div", { "data-lm-suppress-shortcuts": "true" }); // disables JupyterLab's keys here
  const root = host.attachShadow({ mode: "open" });
  const sheet = html("style", model.get("sheet"));
  const reportEdits = (edits) => {
    model.set("edits", edits);
    model.save_changes();
  };
  let frame = null;
  const draw = () => {
    frame?.close();
    frame = buildFrame(structuredClone(model.get("data")), host, { changed: reportEdits });
    root.replaceChildren(sheet, frame.element);
    frame.open();
  };
  el.append(host);
  draw();
  model.on("change:data", draw);
  return () => {
    model.off("change:data", draw);
    frame.close();
  };
}
