// The stage as a widget of a notebook, by anywidget: what is edited goes back to Python as `edits`, and other `data`
// draws another chain. It stands in a shadow root: its style sheet is nothing to the notebook, nor that to it.

import { html } from "../../stage/web/dom.js";
import { buildFrame } from "./frame.js";

export function render({ model, el }) {
  const host = html("div", { "data-lm-suppress-shortcuts": "true" }); // JupyterLab's keys rest while ours are pressed
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
