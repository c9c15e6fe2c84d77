// Light or dark, while the page is open: ./early.js answers Streamlit's question for the system's colours, and after a
// print Streamlit asks again. So it is told that a print is over.

const QUERY = "(prefers-color-scheme: dark)";

export function use(wanted) {
  const scheme = window.crfvizScheme;
  const before = window.matchMedia(QUERY).matches;
  scheme.wanted = wanted;
  scheme.paint();
  if (window.matchMedia(QUERY).matches !== before) window.dispatchEvent(new Event("afterprint"));
}
