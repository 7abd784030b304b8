// States of a page's elements, as seen by its own script: axe-core's local rules have the same results for any two
// elements in the same state. No assertions.

/**
 * Script that evaluates to `{ elements, shapes, looks }`: all elements, and for each a number for the rules that ignore
 * colors and one for those that do not. A state covers what such rules read: the element with its descendants, its
 * ancestors and the positioned elements around it, what it refers to and what labels it, the block of a link, and close
 * targets. Texts and addresses count by their kind, sizes by what they allow.
 */
export const ELEMENT_STATES = `(() => {
  const REFERENCES =
    /^(for|headers|list|form|popovertarget|aria-(labelledby|describedby|controls|owns|activedescendant|details|errormessage|flowto))$/;
  const TEXTS = /^(aria-label|aria-valuetext|aria-description|title|alt|placeholder|value|name|content|datetime)$/;
  const DRAWING = "http://www.w3.org/2000/svg";
  const TARGETS = "a[href], button, input, select, textarea, summary, [tabindex], [role]";
  /** Minimum size and distance of targets, in pixels. */
  const TARGET_PX = 24;
  /** Excess from which axe-core takes a region for scrollable, in pixels. */
  const SCROLL_PX = 13;

  // Two independent hashes of 32 bits each.
  const mix = (hash, part) => {
    const mixed = Math.imul(hash ^ part, 0x9e3779b1);
    return mixed ^ (mixed >>> 15);
  };
  const mixed = (hashes, parts) => [mix(hashes[0], parts[0]), mix(hashes[1], parts[1])];
  const knownHashes = new Map();
  const hashOf = (text) => {
    let hashes = knownHashes.get(text);
    if (hashes === undefined) {
      hashes = [7, 11];
      for (let index = 0; index < text.length; index += 1) {
        const code = text.charCodeAt(index);
        hashes = [mix(hashes[0], code), (Math.imul(hashes[1], 31) + code) | 0];
      }
      knownHashes.set(text, hashes);
    }
    return hashes;
  };
  const numberOf = ([first, second]) => (first >>> 0) * 0x20_0000 + ((second >>> 0) & 0x1f_ffff);

  const kindOf = (text) => {
    const trimmed = text.trim();
    if (trimmed === "") return "none";
    return (trimmed.length === 1 ? "one" : "text") + /[a-z0-9]/i.test(trimmed) + /[^\\0-\\u24ff]/.test(trimmed);
  };
  const referred = (id) => {
    const target = document.getElementById(id);
    return target === null ? "missing" : target.tagName + kindOf(target.textContent) + target.checkVisibility();
  };
  const attributeOf = ({ name, value }, isDrawn) => {
    if (name === "id") return document.querySelectorAll("#" + CSS.escape(value)).length === 1 ? "id" : "duplicate id";
    if (REFERENCES.test(name)) return name + value.split(/\\s+/).map(referred).join();
    if (name === "href" && value.startsWith("#")) return "href#" + referred(value.slice(1));
    if (TEXTS.test(name) || name === "href") return name + kindOf(value);
    if (/^(style|data-.*|aria-(value|row|col|pos|set).*)$/.test(name)) return name + value.replaceAll(/[\\d.]+/g, "0");
    if (isDrawn && !/^(class|role|tabindex|aria-.*)$/.test(name)) return name;
    return name + "=" + value;
  };

  const elements = [...document.querySelectorAll("*")];
  const targets = elements
    .filter((element) => element.matches(TARGETS))
    .map((element) => ({ element, box: element.getBoundingClientRect() }));
  const gapOf = (from, to) => {
    if (to === undefined) return "";
    const gaps = [to.box.left - from.right, from.left - to.box.right, to.box.top - from.bottom, from.top - to.box.bottom];
    return Math.max(...gaps) >= TARGET_PX ? "far" : gaps.map(Math.round).join();
  };
  const sizes = new Map(
    targets.map(({ element, box }, index) => {
      if (box.width >= TARGET_PX && box.height >= TARGET_PX) return [element, "large"];
      const size = [box.width, box.height].map((px) => Math.min(TARGET_PX, Math.round(px)));
      return [element, [size, gapOf(box, targets[index - 1]), gapOf(box, targets[index + 1])].join()];
    }),
  );

  const parts = new Map();
  // Descendants come first.
  for (const element of elements.toReversed()) {
    const style = getComputedStyle(element);
    const isVisible = element.checkVisibility({ visibilityProperty: true });
    const isDrawn = element.namespaceURI === DRAWING;
    const label = element.getAttribute("aria-label");
    let text = "";
    for (const child of element.childNodes) if (child.nodeType === Node.TEXT_NODE) text += child.nodeValue;
    const { display, position } = style;
    const own = hashOf(
      [
        element.tagName,
        ...Array.from(element.attributes, (attribute) => attributeOf(attribute, isDrawn)),
        kindOf(text),
        isVisible,
        display,
        position,
        sizes.get(element),
        label === null || label.toLowerCase().includes(element.textContent.trim().toLowerCase()),
        element.labels && Array.from(element.labels, (label) => kindOf(label.textContent) + label.checkVisibility()),
        "value" in element && kindOf(String(element.value)) + element.disabled,
        /auto|scroll/.test(style.overflow) && [
          element.scrollWidth - element.clientWidth > SCROLL_PX,
          element.scrollHeight - element.clientHeight > SCROLL_PX,
        ],
        element.matches(":popover-open, :modal"),
        element === document.documentElement && [innerWidth, innerHeight],
      ].join("|"),
    );
    const { color, backgroundColor, backgroundImage, opacity, fontSize, fontWeight, textDecorationLine, textShadow } = style;
    const colors = isVisible
      ? hashOf([color, backgroundColor, backgroundImage, opacity, fontSize, fontWeight, textDecorationLine, textShadow].join())
      : [0, 0];
    const look = mixed(own, colors);
    const children = Array.from(element.children, (child) => parts.get(child));
    const isPainted = backgroundImage !== "none" || !/^rgba\\(.*, 0\\)$/.test(backgroundColor);
    parts.set(element, {
      display,
      position,
      own,
      look,
      whole: children.reduce((sum, child) => mixed(sum, child.whole), own),
      wholeLook: children.reduce((sum, child) => mixed(sum, child.wholeLook), look),
      isPainted: isVisible && (isPainted || children.some((child) => child.isPainted)),
      shapeBelow: own,
      lookBelow: look,
    });
  }
  // Positioned elements may lie in front of or behind any other element of their container.
  for (const element of elements) {
    const { position, isPainted, whole, wholeLook } = parts.get(element);
    if (position === "static" || !isPainted || element === document.documentElement) continue;
    let container = element.parentElement;
    if (position === "absolute" || position === "fixed")
      while (container !== document.documentElement && (position === "fixed" || parts.get(container).position === "static"))
        container = container.parentElement;
    const part = parts.get(container);
    part.shapeBelow = mixed(part.shapeBelow, whole);
    part.lookBelow = mixed(part.lookBelow, wholeLook);
  }
  const [shapes, looks] = [[], []];
  for (const element of elements) {
    const part = parts.get(element);
    const parent = parts.get(element.parentElement);
    if (parent !== undefined) {
      part.shapeBelow = mixed(parent.shapeBelow, part.shapeBelow);
      part.lookBelow = mixed(parent.lookBelow, part.lookBelow);
    }
    const above = parent ?? { shapeBelow: [1, 2], lookBelow: [3, 4] };
    shapes.push(numberOf(mixed(above.shapeBelow, part.whole)));
    let look = mixed(above.lookBelow, part.look);
    if (element.matches("a, [role=link]")) {
      let block = element.parentElement;
      while (parts.get(block).display.startsWith("inline")) block = block.parentElement;
      look = mixed(look, parts.get(block).wholeLook);
    }
    looks.push(numberOf(look));
  }
  return { elements, shapes, looks };
})()`;
