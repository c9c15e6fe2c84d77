// Light or dark, whatever the system says. Streamlit asks the browser, and asks again after printing: so it is told
// what the reader wants, and that a print is over.

const QUERY = "(prefers-color-scheme: dark)";
let wanted = "system";

const system = window.matchMedia.bind(window);
window.matchMedia = (media) => {
  const list = system(media);
  if (media.includes("prefers-color-scheme")) {
    const matches = () => (wanted === "system" ? system(media).matches : media.includes(wanted));
    Object.defineProperty(list, "matches", { get: matches });
  }
  return list;
};

export function use(scheme) {
  const before = window.matchMedia(QUERY).matches;
  wanted = scheme;
  if (window.matchMedia(QUERY).matches !== before) window.dispatchEvent(new Event("afterprint"));
}
