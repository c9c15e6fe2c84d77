// What `../packing.py` packs: base64 of gzip, in which a header as JSON and then the arrays, byte plane by byte plane.

const LENGTH = 4; // bytes that say how long the header is
const NOT_WHOLE = "The tagger cannot be unpacked: the file is not whole.";

// The header, and the bytes behind it.
export async function unpacked(text) {
  if (typeof DecompressionStream === "undefined") {
    throw new Error("This browser is too old to unpack the tagger; one of 2023 or newer can.");
  }
  let bytes;
  try {
    const stream = new Blob([bytesOf(atob(text.trim()))]).stream().pipeThrough(new DecompressionStream("gzip"));
    bytes = new Uint8Array(await new Response(stream).arrayBuffer());
  } catch {
    throw new Error(NOT_WHOLE);
  }
  return whole(() => {
    const end = LENGTH + new DataView(bytes.buffer).getUint32(0, true);
    const header = JSON.parse(new TextDecoder().decode(bytes.subarray(LENGTH, end)));
    return { header, rest: bytes.subarray(end) };
  });
}

// What `make` makes of a text; that it cannot make it of this one is said in words.
export function whole(make) {
  try {
    return make();
  } catch (cause) {
    throw cause.constructor === Error ? cause : new Error(NOT_WHOLE, { cause });
  }
}

// A loop: a function called for each of some millions of letters takes a good part of a second.
function bytesOf(letters) {
  const bytes = new Uint8Array(letters.length);
  for (let i = 0; i < bytes.length; i++) bytes[i] = letters.charCodeAt(i);
  return bytes;
}

// By name.
export function arraysOf(described, bytes) {
  const arrays = new Map();
  let start = 0;
  for (const { name, size, kind } of described) {
    const end = start + size * Number(kind.slice(1));
    if (end > bytes.length) throw new Error(NOT_WHOLE);
    arrays.set(name, KINDS[kind](joined(bytes.subarray(start, end), size)));
    start = end;
  }
  return arrays;
}

// The numbers of planes, the highest bytes first.
function joined(planes, size) {
  const numbers = new Uint32Array(size);
  for (let start = 0; start < planes.length; start += size) {
    for (let i = 0; i < size; i++) numbers[i] = (numbers[i] << 8) | planes[start + i];
  }
  return numbers;
}

// By NumPy's names.
const KINDS = {
  f2: halves,
  f4: (numbers) => new Float32Array(numbers.buffer),
  i1: (numbers) => Int8Array.from(numbers),
  u1: (numbers) => Uint8Array.from(numbers),
  u2: (numbers) => Uint16Array.from(numbers),
  u4: (numbers) => numbers,
};

function halves(numbers) {
  const values = halfValues();
  const array = new Float32Array(numbers.length);
  for (let i = 0; i < array.length; i++) array[i] = values[numbers[i]];
  return array;
}

let table = null;

// The value of each of the 65,536 numbers of half precision.
function halfValues() {
  table ??= Float32Array.from({ length: 1 << 16 }, (_, bits) => {
    const sign = bits >> 15 ? -1 : 1;
    const exponent = (bits >> 10) & 31;
    const fraction = bits & 1023;
    if (exponent === 31) return fraction ? Number.NaN : sign * Infinity;
    return sign * (exponent ? (1024 + fraction) * 2 ** (exponent - 25) : fraction * 2 ** -24);
  });
  return table;
}
