// A live file with its tagger, which tags the text of its box.

import { read, readFile, start } from "../../exports/web/frame.js";
import { buildBox } from "./controls.js";
import { readTagger, spoken, wordsOf } from "./tagger.js";

class Tagging {
  constructor({ sentence, ...known }) {
    this.known = known;
    this.reading = null;
    this.box = buildBox((typed) => this.speak(typed));
    const options = { above: this.box.element, shown: (local) => this.box.show(local.data.sentence) };
    start({ ...readFile(), sentence }, options, (frame) => {
      this.frame = frame;
    });
    setTimeout(() => this.tagger().catch(() => null)); // in advance, for the first sentence
  }

  // A text that cannot be tagged changes nothing.
  async speak(typed) {
    const { local, show } = this.frame;
    try {
      const tagger = await this.tagger();
      if (typed !== local.data.sentence) {
        const edits = { ...local.edits, emissions: new Map() }; // edits of single words no longer apply
        local.change(edits, spoken({ ...this.known, data: local.data, tagger }, typed));
        show();
      }
      this.box.notify("");
    } catch (error) {
      this.box.notify(wordsOf(error), true);
    }
  }

  tagger() {
    this.reading ??= readTagger(document.getElementById("tagger").textContent);
    return this.reading;
  }
}

new Tagging(read("sentences"));
