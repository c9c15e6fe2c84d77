// An element with a class and what is inside of it.
export function element(name, kind = "", ...inside) {
  const made = document.createElement(name);
  if (kind) made.className = kind;
  made.append(...inside);
  return made;
}

// An element with attributes and what is inside of it.
export function tagged(name, attributes, ...inside) {
  const made = document.createElement(name);
  for (const [attribute, value] of Object.entries(attributes)) made.setAttribute(attribute, value);
  made.append(...inside);
  return made;
}

export function button(name, act, kind = "") {
  const made = tagged("button", { type: "button", class: kind }, name);
  made.addEventListener("click", act);
  return made;
}
