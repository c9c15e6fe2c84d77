// The explorer without a server: the models of the folder, a box for a sentence, the pages that a browser can draw. The
// address behind "#" says what is on the screen: it can be sent, and the browser goes back and forward.

import { read, start } from "../../exports/web/frame.js";
import { buildBox, buildExamples, buildPicker } from "./controls.js";
import { fitted, readLink } from "./link.js";
import { Models } from "./models.js";
import { reads, spoken, wordsOf } from "./tagger.js";

const PATIENCE = 300; // milliseconds until a message says that a model is being loaded
const STEP = /&step=[^&]*/;

class Site {
  // `index` is that of folder.py.
  constructor(index) {
    this.models = new Models(index);
    this.known = { models: index.models.map(({ name }) => name), pages: index.pages };
    this.picker = buildPicker(index.models, (model) => this.another({ model }));
    this.examples = buildExamples(index.models, (model, sentence, claim) => this.another({ model, sentence }, claim));
    this.box = buildBox((sentence) => this.another({ sentence }), [this.picker], [this.examples.element]);
    this.broken = new Set(); // names of models that could not be read
    this.frame = null;
    this.drawnAddress = null;
    this.written = location.hash; // another value means that the reader went back or forward
    this.requests = 0; // number of requests to show something; the last one counts
    addEventListener("hashchange", () => {
      this.written = location.hash;
      if (location.hash !== this.drawnAddress) this.follow(location.hash);
    });
  }

  // Shows what an address says.
  follow(address) {
    const link = readLink(address.slice(1), this.known);
    return this.show(link, { notice: link.ignored.join(" "), problem: true, replaces: true });
  }

  // Shows another sentence, perhaps with another model; state about single words is dropped.
  another(change, notice = "") {
    const here = readLink(this.drawnAddress.slice(1), this.known);
    const edits = { ...here.edits, emissions: [] };
    return this.show({ ...here, edits, pins: [], step: null, ...change }, { notice });
  }

  // Draws a link with a `notice`; a link that cannot be drawn changes nothing. Before the first picture another model
  // replaces one that cannot be read.
  async show(link, { notice = "", problem = false, replaces = false }) {
    const turn = ++this.requests;
    const model = link.model ?? this.known.models[0];
    const waiting = setTimeout(() => this.box.notify(`Loading ${model} …`), PATIENCE);
    try {
      const known = await this.models.get(model);
      if (turn !== this.requests) return;
      const { data, message } = this.dataOf(known, link);
      const { edits, pins, missing } = fitted(link, data);
      this.replaces = replaces;
      this.draw({ ...data, pins }, edits, link);
      const texts = [notice, message, missing].filter(Boolean);
      this.box.notify(texts.join(" "), Boolean(problem && notice) || texts.length > (notice ? 1 : 0));
    } catch (error) {
      this.broken.add(model);
      const spare = this.frame ? null : this.known.models.find((name) => !this.broken.has(name));
      if (spare) return this.show({ ...link, model: spare }, { notice: wordsOf(error), problem: true, replaces: true });
      this.refuse(error);
    } finally {
      clearTimeout(waiting);
      this.replaces = false;
    }
  }

  // The data of a link. The first sentence of the model stands in for one that it cannot read, where there is no other.
  dataOf(known, { sentence, constrained }) {
    const { local } = this.frame ?? {};
    const [first] = known.examples;
    const typed = sentence ?? first.text;
    const moved = local && local.data.model !== known.data.model;
    if (moved && typed === local.data.sentence && !reads(known, typed)) return { data: spoken(known, first.text) };
    try {
      return { data: spoken(known, typed, constrained) };
    } catch (error) {
      if (local) throw error;
      return { data: spoken(known, first.text), message: error.message };
    }
  }

  draw(data, edits, { page, step, direction, sweep }) {
    const use = ({ local }) => {
      if (screen(local) !== screen({ data, edits })) local.change(edits, data);
      local.at = page ?? data.opens;
      local.look("direction", direction ?? "auto");
      local.look("sweep", sweep ?? "log");
      if (step !== null) local.step(step);
    };
    if (this.frame) {
      use(this.frame);
      return this.frame.open();
    }
    const begin = (frame) => {
      frame.local.become({ data, edits });
      use(frame);
      this.frame = frame;
    };
    return start(data, { above: this.box.element, shown: (local) => this.shown(local) }, begin);
  }

  // A sentence that cannot be drawn changes nothing; before the first picture its message stands there.
  refuse(error) {
    const message = wordsOf(error);
    if (!this.frame) document.getElementById("why").textContent = message;
    else this.shown(this.frame.local);
    this.box.notify(message, true);
  }

  // Updates the address and the menus after the picture.
  shown(local) {
    const { model, sentence, constrained, words, opens } = local.data;
    this.box.show(sentence);
    this.picker.value = model;
    this.examples.show(model, sentence);
    document.title = `${words.join(" ")} · crfviz`;
    const page = local.at === opens ? "" : `&page=${local.at}`;
    this.publish(`#${local.query({ model, sentence, c: constrained ? "" : "0" })}${page}`);
  }

  // Steps of a walk and corrected addresses add no entry to the history.
  publish(address) {
    const sameButStep = this.drawnAddress?.replace(STEP, "") === address.replace(STEP, "");
    const replaces = this.drawnAddress === null || this.replaces || sameButStep;
    this.drawnAddress = address;
    const write = () => {
      if (location.hash !== this.written || address === location.hash) return;
      history[replaces ? "replaceState" : "pushState"](null, "", address);
      this.written = location.hash;
    };
    requestAnimationFrame(() => setTimeout(write)); // after the picture, because it is slow
  }
}

// The state that undo restores, for comparison.
function screen({ data, edits }) {
  const { model, sentence, constrained, pins } = data;
  const { transitions, emissions, strength } = edits;
  return JSON.stringify([model, sentence, constrained, pins, [...transitions], [...emissions], strength]);
}

const site = new Site(read("site"));
site.follow(location.hash || location.search);
