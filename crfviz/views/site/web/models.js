// The models of the folder: each is a script, loaded on demand. A page opened from a file can load nothing else.

import { readTagger } from "./tagger.js";

const contents = new Map(); // content by name

export class Models {
  // `models` are { name, file, examples }, `elsewhere` pages that are not drawn here; the scripts call
  // `crfvizModel(name, { data, tagger })`.
  constructor({ models, elsewhere, most }) {
    this.listed = new Map(models.map((each) => [each.name, each]));
    Object.assign(this, { elsewhere, most });
    this.reading = new Map(); // promises of `get` by name
    globalThis.crfvizModel = (name, content) => contents.set(name, content);
  }

  // A promise of the content for `spoken`; rejected with a readable error.
  get(name) {
    if (!this.reading.has(name)) {
      const reading = this.read(name);
      reading.catch(() => this.reading.delete(name)); // so that it can be retried
      this.reading.set(name, reading);
    }
    return this.reading.get(name);
  }

  async read(name) {
    const { file, examples } = this.listed.get(name);
    await loaded(file);
    const content = contents.get(name);
    if (!content) throw new Error(`${file} is not whole: write the folder again, or copy all of it.`);
    const data = { ...content.data, model: name, pages: [...content.data.pages, ...this.elsewhere] };
    return { data, tagger: await readTagger(content.tagger), examples, most: this.most };
  }
}

function loaded(file) {
  return new Promise((resolve, reject) => {
    const script = document.createElement("script");
    script.src = file;
    script.onload = resolve;
    script.onerror = () => reject(new Error(`${file} cannot be read: copy the whole folder, this page is not enough.`));
    document.head.append(script);
  });
}
