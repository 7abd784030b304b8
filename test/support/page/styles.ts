// Minimal CSS cascade for `display` and `visibility` in the console's style sheets, to decide which elements are
// visible. Ignores sizes and positions.

import type { Element, HTMLElement } from "happy-dom";

/** Viewport of the pages. */
export interface Viewport {
  readonly width: number;
  readonly height: number;
  readonly colorScheme: "light" | "dark";
}

type Property = "display" | "visibility";

interface Rule {
  readonly selector: string;
  readonly media: readonly string[];
  readonly property: Property;
  readonly value: string;
  /** Precedence in the cascade: layer, specificity and position in the sheet. */
  readonly weight: readonly [number, number, number];
}

/** Pseudo-classes that never match here. */
const UNSUPPORTED_STATES =
  /::|:-(?:webkit|moz)-any|:(?:hover|active|focus-within|focus-visible|target|autofill|placeholder-shown|user-invalid)\b/;

/** Default `display` of each element in browsers; unlisted elements are `inline`. */
const DEFAULT_DISPLAY: Readonly<Record<string, string>> = Object.fromEntries(
  [
    "block HTML BODY ADDRESS ARTICLE ASIDE BLOCKQUOTE DD DETAILS DIALOG DIV DL DT FIELDSET FIGCAPTION FIGURE FOOTER",
    "block FORM H1 H2 H3 H4 H5 H6 HEADER HGROUP HR LEGEND MAIN MENU NAV OL OPTGROUP OPTION P PRE SEARCH SECTION UL",
    "none AREA BASE DATALIST HEAD LINK META NOSCRIPT PARAM RP SCRIPT SOURCE STYLE TEMPLATE TITLE TRACK",
    "inline-block BUTTON INPUT METER PROGRESS SELECT TEXTAREA",
    "list-item LI SUMMARY",
    "table TABLE",
    "table-caption CAPTION",
    "table-column-group COLGROUP",
    "table-column COL",
    "table-header-group THEAD",
    "table-row-group TBODY",
    "table-footer-group TFOOT",
    "table-row TR",
    "table-cell TD TH",
  ].flatMap((line) => {
    const [display = "", ...names] = line.split(" ");
    return names.map((name) => [name, display]);
  }),
);

/** Attribute of open popovers set by `popover.ts`: happy-dom has no selector for them. */
export const POPOVER_OPEN = "data-popover-open";
export const MODAL_OPEN = "data-modal-open";

/** Style sheets of a page, parsed once for all pages. */
export class Styles {
  private readonly byKey = new Map<string, Rule[]>();

  constructor(css: string) {
    const layers = new Map<string, number>();
    let order = 0;
    const layerOf = (name: string) => layers.get(name) ?? layers.set(name, layers.size + 1).size;
    const read = (text: string, media: readonly string[], layer: number) => {
      for (const { prelude, body } of blocksOf(text)) {
        const [, atRule, condition = ""] = /^@([\w-]+)\s*([\s\S]*)$/.exec(prelude) ?? [];
        if (atRule === "layer" && body === null) for (const name of condition.split(",")) layerOf(name.trim());
        else if (body === null) continue;
        else if (atRule === "layer") read(body, media, layerOf(condition.trim()));
        else if (atRule === "media") read(body, [...media, condition], layer);
        else if (atRule === "supports") read(body, media, layer);
        else if (atRule === undefined)
          for (const [, property, value = ""] of body.matchAll(/(?:^|[;\s])(display|visibility)\s*:\s*([\w-]+)/g))
            for (const selector of splitAtCommas(prelude))
              this.add({
                selector: selector.replaceAll(":popover-open", `[${POPOVER_OPEN}]`),
                media,
                property: property as Property,
                value,
                weight: [layer, specificityOf(selector), order++],
              });
      }
    };
    // Unlayered rules take precedence over all layers.
    read(css.replaceAll(/\/\*[\s\S]*?\*\//g, ""), [], 1_000);
  }

  private add(rule: Rule): void {
    if (UNSUPPORTED_STATES.test(rule.selector)) return;
    const last = /[^\s>+~]*$/.exec(withoutBrackets(rule.selector))?.[0] ?? "";
    const key = /[#.][\w-]+/.exec(last)?.[0] ?? /^[a-z][\w-]*/i.exec(last)?.[0]?.toUpperCase() ?? "*";
    this.byKey.set(key, [...(this.byKey.get(key) ?? []), rule]);
  }

  /** `display` of an element, regardless of its ancestors. */
  displayOf(element: Element, viewport: Viewport): string {
    const inline = (element as HTMLElement).style?.display;
    return inline || (this.specifiedValue(element, "display", viewport) ?? defaultDisplay(element));
  }

  /** Specified `visibility` of an element; null if inherited. */
  visibilityOf(element: Element, viewport: Viewport): string | null {
    return (element as HTMLElement).style?.visibility || this.specifiedValue(element, "visibility", viewport);
  }

  private specifiedValue(element: Element, property: Property, viewport: Viewport): string | null {
    const keys = [...element.classList].map((name) => `.${name}`);
    let best: Rule | null = null;
    for (const key of [...keys, `#${element.id}`, element.tagName.toUpperCase(), "*"])
      for (const rule of this.byKey.get(key) ?? [])
        if (
          rule.property === property &&
          (best === null || hasPrecedence(rule, best)) &&
          rule.media.every((query) => matchesMedia(query, viewport)) &&
          element.matches(rule.selector)
        )
          best = rule;
    return best?.value ?? null;
  }
}

function defaultDisplay(element: Element): string {
  const name = element.tagName.toUpperCase();
  if (element.hasAttribute("hidden")) return "none";
  if (element.hasAttribute("popover") && !element.hasAttribute(POPOVER_OPEN)) return "none";
  if (name === "DIALOG" && !element.hasAttribute("open")) return "none";
  if (name === "INPUT" && element.getAttribute("type") === "hidden") return "none";
  return DEFAULT_DISPLAY[name] ?? "inline";
}

const REM_PX = 16;

/** Whether a media query matches a window. @throws Error for unsupported queries */
export function matchesMedia(query: string, viewport: Viewport): boolean {
  return query.split(",").some((alternative) =>
    alternative
      .trim()
      .replace(/^(?:only\s+)?screen\b(?:\s+and\s+)?/, "")
      .split(/\s+and\s+/)
      .every((part) => part === "" || part === "all" || matchesCondition(part.trim(), viewport)),
  );
}

function matchesCondition(part: string, viewport: Viewport): boolean {
  const [, feature = "", specifiedValue = ""] = /^\(\s*([\w-]+)\s*(?::\s*([^)]+?)\s*)?\)$/.exec(part) ?? [];
  const [, bound, side] = /^(min|max)-(width|height)$/.exec(feature) ?? [];
  if (bound !== undefined) {
    const px = Number.parseFloat(specifiedValue) * (/em$/.test(specifiedValue) ? REM_PX : 1);
    const actual = viewport[side as "width" | "height"];
    return bound === "min" ? actual >= px : actual <= px;
  }
  if (feature === "prefers-color-scheme") return specifiedValue === viewport.colorScheme;
  if (feature === "prefers-reduced-motion") return specifiedValue === "no-preference";
  if (feature === "hover" || feature === "pointer") return specifiedValue !== "none" && specifiedValue !== "coarse";
  if (part === "print") return false;
  throw new Error(`media query ${part} is not supported in page tests.`);
}

function hasPrecedence({ weight }: Rule, { weight: other }: Rule): boolean {
  const first = weight.findIndex((part, index) => part !== other[index]);
  return (weight[first] ?? 0) > (other[first] ?? 0);
}

/** Rules of a sheet in order; those without a block are statements. */
function* blocksOf(css: string): Generator<{ readonly prelude: string; readonly body: string | null }> {
  let offset = 0;
  while (offset < css.length) {
    const end = css.slice(offset).search(/[{;]/);
    if (end < 0) return;
    const prelude = css.slice(offset, offset + end).trim();
    offset += end + 1;
    if (css[offset - 1] === ";") {
      yield { prelude, body: null };
      continue;
    }
    const start = offset;
    for (let depth = 1; depth > 0 && offset < css.length; offset += 1)
      depth += css[offset] === "{" ? 1 : css[offset] === "}" ? -1 : 0;
    yield { prelude, body: css.slice(start, offset - 1) };
  }
}

function splitAtCommas(selectors: string): string[] {
  const parts = [""];
  let depth = 0;
  for (const character of selectors) {
    depth += character === "(" ? 1 : character === ")" ? -1 : 0;
    if (character === "," && depth === 0) parts.push("");
    else parts[parts.length - 1] += character;
  }
  return parts.map((part) => part.trim());
}

/** Removes attributes and arguments, which do not name other elements. */
function withoutBrackets(selector: string): string {
  let previous = "";
  let current = selector;
  while (previous !== current) [previous, current] = [current, current.replaceAll(/\([^()]*\)|\[[^[\]]*\]/g, "")];
  return current;
}

function specificityOf(selector: string): number {
  const stripped = selector.replaceAll(/:where\([^)]*\)/g, "").replaceAll(/:(?:is|not|has)\b/g, " ");
  const count = (pattern: RegExp) => stripped.match(pattern)?.length ?? 0;
  return (
    count(/#[\w-]+/g) * 10_000 + count(/\.[\w-]+|\[[^\]]*\]|:(?!:)[\w-]+/g) * 100 + count(/(?:^|[\s>+~(])[a-z][\w-]*/gi)
  );
}
