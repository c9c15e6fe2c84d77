// Runs the packed script of a large live file.

// The alphabet of Python's `base64.b85encode`, with a comma for "<".
const LETTERS = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz!#$%&()*+-;,=>?@^_\x60{|}~";

// Five letters encode four bytes; the last ones may be padding.
function decoded({ textContent: text, dataset }) {
  const bytes = new DataView(new ArrayBuffer((text.length / 5) * 4));
  for (let at = 0; at < text.length; at += 5) {
    let sum = 0;
    for (const letter of text.slice(at, at + 5)) sum = sum * 85 + LETTERS.indexOf(letter);
    bytes.setUint32((at / 5) * 4, sum);
  }
  return bytes.buffer.slice(0, Number(dataset.bytes));
}

async function unpack() {
  const packed = decoded(document.getElementById("code"));
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("deflate-raw"));
  const script = document.createElement("script");
  script.textContent = await new Response(stream).text();
  document.body.append(script);
}

unpack();
