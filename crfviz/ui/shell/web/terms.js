// The search box of the glossary: shows the terms that contain what is typed, those of other pages included.

const PANEL = "#crfviz-glossary";

function search({ target }) {
  const panel = target.closest?.(PANEL);
  if (!panel) return;
  const typed = target.value.trim().toLowerCase();
  const entries = [...panel.querySelectorAll("[data-term]")];
  for (const entry of entries) entry.hidden = !entry.textContent.toLowerCase().includes(typed);
  panel.querySelector("details").open = typed !== "";
  panel.querySelector(":scope > p").hidden = entries.some((entry) => !entry.hidden);
}

export function watchTerms() {
  document.addEventListener("input", search);
}
