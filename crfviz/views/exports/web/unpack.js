// Runs the script of a live file that is too large to hold it plainly.

async function unpack() {
  const packed = Uint8Array.from(atob(document.getElementById("code").textContent), (letter) => letter.charCodeAt(0));
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"));
  const script = document.createElement("script");
  script.textContent = await new Response(stream).text();
  document.body.append(script);
}

unpack();
