// The stage in another Streamlit app: it answers only keys inside its element, opens no pages, and sends events only
// after clicks and edits, because each event reruns the whole app.

import { button, hide, html } from "./dom.js";
import { Stage } from "./stage/lifecycle.js";

/** @import { Payload, Send } from "./types.js" */

export class GuestStage extends Stage {
  /** @param {HTMLElement} parent @param {Send} send */
  constructor(parent, send) {
    super(parent, send, { beyond: () => true, frugal: true });
    /** @param {"undo" | "redo" | "reset"} kind @param {string} label @param {string} title */
    const command = (kind, label, title) => button(label, () => this.emit([{ kind }]), { title });
    this.commands = {
      undo: command("undo", "Undo", "Ctrl+Z"),
      redo: command("redo", "Redo", "Ctrl+Shift+Z"),
      reset: command("reset", "Reset edits", "drop every edit"),
    };
    this.bar = html("div.guest-bar", Object.values(this.commands));
    parent.append(this.bar);
  }

  /** @param {Payload} data */
  receive(data) {
    super.receive(data);
    const guest = this.payload?.guest;
    if (!guest) return;
    const { undo, redo, reset } = this.commands;
    undo.disabled = !guest.undo;
    redo.disabled = !guest.redo;
    reset.disabled = !guest.reset;
    const own = this.payload.panels.side === "matrix"; // the matrix panel has its own buttons
    hide(this.bar, own || guest.fixed || !(guest.undo || guest.redo || guest.reset));
  }
}
