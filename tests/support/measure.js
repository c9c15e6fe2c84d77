// Runs in every page of the tests, after screen.js: measures what can be read, reached and told apart.
(() => {
  // Texts of the stage, the title, links and labels that contrast too little with what is behind them.
  // Controls that are switched off and columns that a walk has not reached yet are pale on purpose.
  crfviz.faint = (least) => {
    const canvas = document.createElement("canvas");
    canvas.width = canvas.height = 1;
    const pen = canvas.getContext("2d", { willReadFrequently: true });
    const over = (colour, [r, g, b]) => {
      pen.fillStyle = `rgb(${r}, ${g}, ${b})`;
      pen.fillRect(0, 0, 1, 1);
      pen.fillStyle = colour;
      pen.fillRect(0, 0, 1, 1);
      return [...pen.getImageData(0, 0, 1, 1).data].slice(0, 3);
    };
    const parent = (element) => element.parentElement ?? element.getRootNode().host ?? null;
    const known = new Map();
    const background = (e) => {
      if (!e) return [255, 255, 255];
      if (known.has(e)) return known.get(e);
      const all = over(getComputedStyle(e).backgroundColor, background(parent(e)));
      known.set(e, all);
      return all;
    };
    const light = ([r, g, b]) => {
      const linear = (byte) => {
        const c = byte / 255;
        return c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4;
      };
      return 0.2126 * linear(r) + 0.7152 * linear(g) + 0.0722 * linear(b);
    };
    const contrast = (a, b) => {
      const [dark, bright] = [light(a), light(b)].sort((x, y) => x - y);
      return (bright + 0.05) / (dark + 0.05);
    };
    const owns = (element) => [...element.childNodes].some((n) => n.nodeType === 3 && n.data.trim());
    const outside =
      "h1, [data-testid=stWidgetLabel] p, .st-key-pages a, .st-key-sentence input, " +
      "[data-testid=stCaptionContainer] p, .crfviz-answers *, " +
      "[data-testid=stVegaLiteChart] [class*=role-axis] text";
    const elements = [
      ...document.querySelectorAll(outside),
      ...[...crfviz.stage().querySelectorAll("*")].filter(owns),
    ].filter((e) => e.checkVisibility({ visibilityProperty: true }));
    return elements
      .filter((e) => !e.closest("[data-later], [disabled], [data-forbidden], title"))
      .map((e) => {
        const style = getComputedStyle(e);
        const ink = e.closest("svg") ? style.fill : style.color;
        const behind = background(e);
        const ratio = contrast(over(ink, behind), behind);
        return { text: e.textContent || e.value, kind: e.getAttribute("class"), ink, ratio };
      })
      .filter(({ ratio }) => ratio < least);
  };

  // Texts that do not fit into what cuts them off, and have no dots that say so.
  crfviz.cut = () => {
    const owns = (element) => [...element.childNodes].some((n) => n.nodeType === 3 && n.data.trim());
    const outside = "h1, .crfviz-answers span, [data-testid=stButtonGroup] p";
    const texts = [...crfviz.stage().querySelectorAll("*"), ...document.querySelectorAll(outside)];
    const clips = (style) => style.overflowX !== "visible" && style.textOverflow !== "ellipsis";
    return texts
      .filter((e) => owns(e) && e.checkVisibility({ visibilityProperty: true }))
      .filter((e) => !e.closest("title, svg"))
      .filter((e) => {
        const end = ".scroller, [data-testid=stMain]";
        for (let box = e; box && !box.matches(end); box = box.parentElement) {
          const style = getComputedStyle(box);
          if (style.textOverflow === "ellipsis" && style.overflowX !== "visible") return false;
          if (clips(style) && !["auto", "scroll"].includes(style.overflowX)) {
            return box.scrollWidth > box.clientWidth + 1;
          }
        }
        return false;
      })
      .map((e) => ({ text: e.textContent.slice(0, 40), kind: e.getAttribute("class") }));
  };

  // Controls that no reader can scroll to: what hides its overflow scrolls for scripts only. Switches,
  // radio buttons and sliders are drawn around the browser's own, which are hidden.
  crfviz.lost = () => {
    const inside = (e) => [e, ...(e.shadowRoot ? deep(e.shadowRoot) : [])];
    const deep = (root) => [...root.querySelectorAll("*")].flatMap(inside);
    const parent = (e) => e.parentElement ?? e.getRootNode().host ?? null;
    const own = "input:is([type=text], [type=number]), [data-testid=stSlider]";
    const controls = `button, a[href], summary, label, textarea, [data-cell], [data-node], ${own}`;
    const main = document.querySelector("[data-testid=stMain]");
    const shown = { visibilityProperty: true, opacityProperty: true };
    const hides = (e) => {
      const { overflowX, overflowY } = getComputedStyle(e);
      return (overflowX === "hidden" && e.scrollLeft) || (overflowY === "hidden" && e.scrollTop);
    };
    const isLost = (e) => {
      e.scrollIntoView({ block: "nearest", inline: "nearest" });
      const { left, top, width, height } = e.getBoundingClientRect();
      const [x, y] = [left + width / 2, top + height / 2];
      if (width < 1 || height < 1) return false;
      if (x < 0 || y < 0 || x > innerWidth || y > innerHeight) return true;
      for (let box = parent(e); box && box !== main; box = parent(box)) if (hides(box)) return true;
      return false;
    };
    const all = deep(main).filter((e) => e.matches(controls) && e.checkVisibility(shown));
    const lost = all.filter(isLost);
    main.scrollTo(0, 0);
    return lost.map((e) => e.outerHTML.slice(0, 100));
  };

  // Texts smaller than so many pixels, those in the stage by what the reader sees of them.
  crfviz.small = ([least, onlyStage]) => {
    const owns = (element) => [...element.childNodes].some((n) => n.nodeType === 3 && n.data.trim());
    const drawings = [crfviz.stage(), crfviz.labeller()].filter(Boolean);
    const stage = drawings.flatMap((drawing) => [...drawing.querySelectorAll("*")]);
    const page = onlyStage ? [] : [...document.querySelectorAll("[data-testid=stApp] *")];
    const drawn = (e) => {
      const seen = e.closest("svg") && e.getScreenCTM?.();
      return parseFloat(getComputedStyle(e).fontSize) * (seen ? Math.hypot(seen.a, seen.b) : 1);
    };
    return [...stage, ...page]
      .filter((e) => owns(e) && e.checkVisibility({ visibilityProperty: true }))
      .filter((e) => !e.closest("title, style, script, [data-testid=stIconMaterial], iframe"))
      .map((e) => ({ text: e.textContent.slice(0, 40), kind: e.getAttribute("class")?.slice(0, 40), size: drawn(e) }))
      .filter(({ size }) => size < least - 0.01);
  };

  // Texts of the stage with the same letters in the same colours on the same grounds are one question
  // of contrast, and axe is asked about one of them: about five hundred it thinks for a second. All of
  // them are measured by `FAINT`.
  crfviz.violations = async (rules) => {
    const numbers = new Map(); // of what is alike
    const number = (...parts) => {
      const text = parts.join("|");
      if (!numbers.has(text)) numbers.set(text, numbers.size);
      return numbers.get(text);
    };
    const grounds = new Map();
    const ground = (e) => {
      if (!e) return "";
      if (!grounds.has(e)) {
        const { backgroundColor, backgroundImage, opacity, position, zIndex } = getComputedStyle(e);
        const below = ground(e.parentElement ?? e.getRootNode().host);
        const own = [e.className, backgroundColor, backgroundImage, opacity, position, zIndex];
        grounds.set(e, number(below, ...own));
      }
      return grounds.get(e);
    };
    const under = (e) => {
      const { left, top, width, height } = e.getBoundingClientRect();
      return e
        .getRootNode()
        .elementsFromPoint(left + width / 2, top + height / 2)
        .map(ground);
    };
    const look = (e) => {
      const { color, fontSize, fontWeight, textShadow } = getComputedStyle(e);
      return number(e.nodeName, color, fontSize, fontWeight, textShadow, ground(e), ...under(e));
    };
    const owns = (e) => [...e.childNodes].some((n) => n.nodeType === Node.TEXT_NODE && n.data.trim());
    const drawn = [...(window.crfviz?.stage()?.querySelectorAll(":not(svg, svg *)") ?? [])];
    const looks = new Set();
    const alike = drawn
      .filter((e) => owns(e) && e.checkVisibility({ visibilityProperty: true }))
      .filter((e) => looks.size === looks.add(look(e)).size);
    for (const e of alike) e.dataset.alike = "";
    axe.configure({ rules: [{ id: "color-contrast", selector: ":not([data-alike])" }] });
    const { violations } = await axe.run({ runOnly: rules, resultTypes: ["violations"] });
    for (const e of alike) delete e.dataset.alike;
    const told = ({ id, nodes }) => nodes.map(({ html }) => `${id}: ${html.slice(0, 150)}`);
    return violations.flatMap(told);
  };

  // What is clicked at, smaller than that, and nearer to another one than WCAG 2.2, 2.5.8, allows: a
  // circle as wide as a target may be, around the middle of each, must not meet another target or its
  // circle. Left out are links in a line of text, and cells that buttons of the picture reach, too.
  crfviz.crowded = (least) => {
    const nothing = document.createDocumentFragment();
    const gather = (root) => [...root.querySelectorAll("*")].flatMap((e) => [e, ...gather(e.shadowRoot ?? nothing)]);
    const kinds =
      "a[href], button, summary, label, input, select, textarea, [role=button], [role=tab], " +
      "[role=radio], [role=switch], [role=slider], [data-cell], [data-table], .hit, .span-cell";
    const label = (e) => e.matches("label") && !e.querySelector("input"); // of what is beside it
    const labelled = (e) => e.matches("input") && e.closest("label");
    const texts = (e) => [...e.childNodes].filter((n) => n.nodeType === Node.TEXT_NODE);
    const inLine = (e) => e.matches("a") && texts(e.parentElement).some((n) => n.data.trim());
    const stage = (e) => e.closest("[data-stage]");
    const reached = (e) => e.matches("[data-table], .hit") && stage(e).querySelector("[data-move]");
    const cut = (e, { top, bottom }) => {
      const edges = e.closest(".scroller, .matrix-frame")?.getBoundingClientRect();
      return edges && (top < edges.top || bottom > edges.bottom); // it is scrolled to first
    };
    const targets = gather(document)
      .filter((e) => e.matches(kinds) && !e.disabled && !label(e) && !labelled(e))
      .filter((e) => e.checkVisibility({ visibilityProperty: true, opacityProperty: true }))
      .map((e) => ({ e, box: e.getBoundingClientRect() }))
      .filter(({ box }) => box.width > 1 && box.height > 1)
      .filter(({ e, box }) => !cut(e, box));
    const small = ({ box }) => Math.min(box.width, box.height) < least - 0.01;
    const middle = ({ left, right, top, bottom }) => [(left + right) / 2, (top + bottom) / 2];
    const outside = (value, from, to) => Math.max(from - value, 0, value - to);
    const meets = (one, other) => {
      const [[x, y], [u, v]] = [middle(one.box), middle(other.box)];
      const { left, right, top, bottom } = other.box;
      const away = Math.hypot(outside(x, left, right), outside(y, top, bottom));
      return away < least / 2 - 0.01 || (small(other) && Math.hypot(x - u, y - v) < least - 0.01);
    };
    const apart = (one, other) => !one.e.contains(other.e) && !other.e.contains(one.e);
    return targets
      .filter((one) => small(one) && !inLine(one.e) && !reached(one.e))
      .filter((one) => targets.some((other) => apart(one, other) && meets(one, other)))
      .map(({ e, box }) => `${e.outerHTML.slice(0, 120)} ${box.width} x ${box.height}`);
  };

  crfviz.texts = () => {
    const seen = [];
    const walk = (node) => {
      if (node.nodeType === Node.TEXT_NODE && node.textContent.trim()) {
        const box = document.createRange();
        box.selectNodeContents(node);
        const { width, height, bottom } = box.getBoundingClientRect();
        const holder = node.parentElement;
        const shown = holder.checkVisibility({ visibilityProperty: true });
        if (shown && width && height) {
          const size = parseFloat(getComputedStyle(holder).fontSize) * (holder.currentCSSZoom ?? 1);
          seen.push([size, node.textContent.trim(), bottom]);
        }
      }
      if (node.shadowRoot) walk(node.shadowRoot);
      node.childNodes.forEach(walk);
    };
    walk(document.querySelector("[data-testid=stMain]"));
    return seen;
  };

  // Numbers of the lattice that end behind what scrolls them, while all words are in sight, or all rows.
  crfviz.clipped = () => {
    const scroller = crfviz.stage().querySelector(".scroller");
    if (!scroller || scroller.scrollWidth > scroller.clientWidth + 1) return [];
    const end = scroller.getBoundingClientRect();
    const scrolls = scroller.scrollHeight > scroller.clientHeight + 1; // rows
    const digits = 0.75; // of the height of a line, above its descenders
    return [...scroller.querySelectorAll("text.note-text")]
      .filter((text) => text.textContent && text.checkVisibility())
      .filter((text) => {
        const { right, top, height } = text.getBoundingClientRect();
        return right > end.right + 1 || (!scrolls && top + digits * height > end.bottom + 1);
      })
      .map((text) => text.textContent);
  };

  // The lowest end of the picture while its steps are gone through, one key after the other.
  crfviz.lowest = async (end) => {
    const lowest = [];
    const step = () => crfviz.stage().dataset.step;
    while (crfviz.stage().querySelector(end)) {
      const before = step();
      const pressed = { key: "PageDown", bubbles: true, composed: true, cancelable: true };
      crfviz.stage().dispatchEvent(new KeyboardEvent("keydown", pressed));
      for (let frames = 0; step() === before; frames++) {
        if (frames > 600) throw new Error("a key does not step");
        await new Promise(requestAnimationFrame);
      }
      lowest.push(crfviz.stage().getBoundingClientRect().bottom);
    }
    return Math.max(0, ...lowest);
  };
})();
