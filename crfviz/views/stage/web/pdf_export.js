// A picture as a PDF with one page of its size: an image for printing and, above it, its words as invisible text, which
// programs search and copy. Letters as shapes would need the outlines of all fonts, which browsers do not give away.
//
// Source: ISO 32000-1:2008, sections 7.5 (files), 8.9 (images), 9.3.6 (invisible text), 9.7 and 9.10 (fonts, Unicode).

const POINTS = 0.75; // per pixel of the picture
const EM = 0.5; // width of each character of the invisible font, in font sizes

/** @typedef {string | Uint8Array<ArrayBuffer>} Part */

// Returns the file of a picture that is in the document, with its pixels.
/** @param {SVGSVGElement} picture @param {HTMLCanvasElement} canvas */
export async function pdfOf(picture, canvas) {
  const [width, height] = ["width", "height"].map((side) => POINTS * Number(picture.getAttribute(side)));
  const size = `/Width ${canvas.width} /Height ${canvas.height}`;
  const image = `/Subtype /Image ${size} /ColorSpace /DeviceRGB /BitsPerComponent 8`;
  const texts = [...picture.querySelectorAll("text")].map((text) => lineOf(text, height));
  const named = "/BaseFont /Invisible";
  const metrics = "/FontBBox [0 0 500 1000] /ItalicAngle 0 /Ascent 1000 /Descent 0 /CapHeight 1000 /StemV 80";
  return written([
    ["<< /Type /Catalog /Pages 2 0 R >>"],
    ["<< /Type /Pages /Kids [3 0 R] /Count 1 >>"],
    [
      `<< /Type /Page /Parent 2 0 R /MediaBox [0 0 ${width} ${height}] /Contents 5 0 R`,
      " /Resources << /XObject << /Image 4 0 R >> /Font << /Font 6 0 R >> >> >>",
    ],
    stream(await deflated(coloursOf(canvas)), `/Type /XObject ${image} /Filter /FlateDecode`),
    stream(`q ${width} 0 0 ${height} 0 0 cm /Image Do Q BT 3 Tr ${texts.join(" ")} ET`),
    [`<< /Type /Font /Subtype /Type0 ${named} /Encoding /Identity-H /DescendantFonts [7 0 R] /ToUnicode 8 0 R >>`],
    [
      `<< /Type /Font /Subtype /CIDFontType2 ${named} /FontDescriptor 9 0 R /DW ${1000 * EM}`,
      " /CIDSystemInfo << /Registry (Adobe) /Ordering (Identity) /Supplement 0 >> >>",
    ],
    stream(
      "/CIDInit /ProcSet findresource begin 12 dict begin begincmap /CMapName /Units def /CMapType 2 def " +
        "1 begincodespacerange <0000> <FFFF> endcodespacerange 1 beginbfrange <0000> <FFFF> <0000> endbfrange " +
        "endcmap CMapName currentdict /CMap defineresource pop end end",
    ),
    [`<< /Type /FontDescriptor /FontName /Invisible /Flags 4 ${metrics} >>`],
  ]);
}

// Returns the operators that write a text as wide as in the picture; a character is a unit of UTF-16.
/** @param {SVGTextElement} text @param {number} height of the page */
function lineOf(text, height) {
  const said = text.textContent ?? "";
  const box = text.getBBox();
  const place = text.getCTM();
  if (!said.trim() || !box.width || !place) return "";
  const size = parseFloat(getComputedStyle(text).fontSize);
  const { a, b, c, d } = place;
  const { x, y } = new DOMPoint(box.x, Number(text.getAttribute("y"))).matrixTransform(place);
  const stretch = (100 * box.width) / (said.length * EM * size);
  const matrix = [a, -b, -c, d, x, height / POINTS - y].map((each) => (POINTS * each).toFixed(3));
  const units = Array.from({ length: said.length }, (_, i) => said.charCodeAt(i).toString(16).padStart(4, "0"));
  return `/Font ${size} Tf ${stretch.toFixed(2)} Tz ${matrix.join(" ")} Tm <${units.join("")}> Tj`;
}

// Returns the red, green and blue of each pixel.
/** @param {HTMLCanvasElement} canvas */
function coloursOf(canvas) {
  const { width, height } = canvas;
  const context = /** @type {CanvasRenderingContext2D} */ (canvas.getContext("2d"));
  const { data } = context.getImageData(0, 0, width, height);
  const colours = new Uint8Array(3 * width * height);
  for (let from = 0, to = 0; to < colours.length; from += 4) {
    for (let i = 0; i < 3; i++) colours[to++] = data[from + i];
  }
  return colours;
}

/** @param {Uint8Array<ArrayBuffer>} bytes */
async function deflated(bytes) {
  const packed = new Blob([bytes]).stream().pipeThrough(new CompressionStream("deflate"));
  return new Uint8Array(await new Response(packed).arrayBuffer());
}

/** @param {Part} content @param {string} [about] @returns {Part[]} */
function stream(content, about = "") {
  return [`<< ${about} /Length ${content.length} >>\nstream\n`, content, "\nendstream"];
}

// Returns the file of numbered objects; all their texts are ASCII, so characters are bytes.
/** @param {Part[][]} objects */
function written(objects) {
  /** @type {Part[]} */
  const parts = [];
  let size = 0;
  /** @param {Part[]} more */
  const add = (...more) => {
    parts.push(...more);
    size += more.reduce((sum, part) => sum + part.length, 0);
  };
  add("%PDF-1.4\n");
  const places = objects.map((object, i) => {
    const place = size;
    add(`${i + 1} 0 obj\n`, ...object, "\nendobj\n");
    return `${String(place).padStart(10, "0")} 00000 n \n`;
  });
  const entries = objects.length + 1;
  const end = `trailer\n<< /Size ${entries} /Root 1 0 R >>\nstartxref\n${size}\n%%EOF\n`;
  add(`xref\n0 ${entries}\n0000000000 65535 f \n`, ...places, end);
  return new Blob(parts, { type: "application/pdf" });
}
