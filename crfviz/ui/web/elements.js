// An element with a class and what is inside of it.
export function element(name, kind = "", ...inside) {
  const made = document.createElement(name);
  if (kind) made.className = kind;
  made.append(...inside);
  return made;
}
