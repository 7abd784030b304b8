// Cascade of `display` and `visibility` from the console's style sheets, which decide on visible elements. Must not
// know sizes and positions.

import type { Element, HTMLElement } from "happy-dom";

/** Window of the pages. */
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
const UNKNOWN_STATE =
  /::|:-(?:webkit|moz)-any|:(?:hover|active|focus-within|focus-visible|target|autofill|placeholder-shown|user-invalid)\b/;

/** Default `display` of each element in browsers; unlisted elements are `inline`. */
const OWN_DISPLAY: Readonly<Record<string, string>> = {
  ...Object.fromEntries(
    (
      "HTML BODY ADDRESS ARTICLE ASIDE BLOCKQUOTE DD DETAILS DIALOG DIV DL DT FIELDSET FIGCAPTION FIGURE FOOTER FORM H1 H2 " +
      "H3 H4 H5 H6 HEADER HGROUP HR LEGEND MAIN MENU NAV OL OPTGROUP OPTION P PRE SEARCH SECTION UL"
    )
      .split(" ")
      .map((name) => [name, "block"]),
  ),
  ...Object.fromEntries(
    "AREA BASE DATALIST HEAD LINK META NOSCRIPT PARAM RP SCRIPT SOURCE STYLE TEMPLATE TITLE TRACK"
      .split(" ")
      .map((name) => [name, "none"]),
  ),
  ...Object.fromEntries("BUTTON INPUT METER PROGRESS SELECT TEXTAREA".split(" ").map((name) => [name, "inline-block"])),
  LI: "list-item",
  SUMMARY: "list-item",
  TABLE: "table",
  CAPTION: "table-caption",
  COLGROUP: "table-column-group",
  COL: "table-column",
  THEAD: "table-header-group",
  TBODY: "table-row-group",
  TFOOT: "table-footer-group",
  TR: "table-row",
  TD: "table-cell",
  TH: "table-cell",
};

/** Attribute of open popovers set by `popover.ts`: happy-dom has no selector for them. */
export const POPOVER_OPEN = "data-popover-open";
export const MODAL_OPEN = "data-modal-open";

/** Style sheets of a page, parsed once for all pages. */
export class Styles {
  private readonly byKey = new Map<string, Rule[]>();

  constructor(css: string) {
    const layers = new Map<string, number>();
    let place = 0;
    const layerOf = (name: string) => layers.get(name) ?? layers.set(name, layers.size + 1).size;
    const read = (text: string, media: readonly string[], layer: number) => {
      for (const { prelude, body } of blocksOf(text)) {
        const [, at, condition = ""] = /^@([\w-]+)\s*([\s\S]*)$/.exec(prelude) ?? [];
        if (at === "layer" && body === null) for (const name of condition.split(",")) layerOf(name.trim());
        else if (body === null) continue;
        else if (at === "layer") read(body, media, layerOf(condition.trim()));
        else if (at === "media") read(body, [...media, condition], layer);
        else if (at === "supports") read(body, media, layer);
        else if (at === undefined)
          for (const [, property, value = ""] of body.matchAll(/(?:^|[;\s])(display|visibility)\s*:\s*([\w-]+)/g))
            for (const selector of splitAtCommas(prelude))
              this.add({
                selector: selector.replaceAll(":popover-open", `[${POPOVER_OPEN}]`),
                media,
                property: property as Property,
                value,
                weight: [layer, specificityOf(selector), place++],
              });
      }
    };
    // Unlayered rules take precedence over all layers.
    read(css.replaceAll(/\/\*[\s\S]*?\*\//g, ""), [], 1_000);
  }

  private add(rule: Rule): void {
    if (UNKNOWN_STATE.test(rule.selector)) return;
    const last = /[^\s>+~]*$/.exec(withoutBrackets(rule.selector))?.[0] ?? "";
    const key = /[#.][\w-]+/.exec(last)?.[0] ?? /^[a-z][\w-]*/i.exec(last)?.[0]?.toUpperCase() ?? "*";
    this.byKey.set(key, [...(this.byKey.get(key) ?? []), rule]);
  }

  /** `display` of an element, without regard to its ancestors. */
  displayOf(element: Element, viewport: Viewport): string {
    const inline = (element as HTMLElement).style?.display;
    return inline || (this.said(element, "display", viewport) ?? ownDisplay(element));
  }

  /** Specified `visibility` of an element; null if inherited. */
  visibilityOf(element: Element, viewport: Viewport): string | null {
    return (element as HTMLElement).style?.visibility || this.said(element, "visibility", viewport);
  }

  private said(element: Element, property: Property, viewport: Viewport): string | null {
    const keys = [...element.classList].map((name) => `.${name}`);
    let best: Rule | null = null;
    for (const key of [...keys, `#${element.id}`, element.tagName.toUpperCase(), "*"])
      for (const rule of this.byKey.get(key) ?? [])
        if (
          rule.property === property &&
          (best === null || isHeavier(rule, best)) &&
          rule.media.every((query) => matchesMedia(query, viewport)) &&
          element.matches(rule.selector)
        )
          best = rule;
    return best?.value ?? null;
  }
}

function ownDisplay(element: Element): string {
  const name = element.tagName.toUpperCase();
  if (element.hasAttribute("hidden")) return "none";
  if (element.hasAttribute("popover") && !element.hasAttribute(POPOVER_OPEN)) return "none";
  if (name === "DIALOG" && !element.hasAttribute("open")) return "none";
  if (name === "INPUT" && element.getAttribute("type") === "hidden") return "none";
  return OWN_DISPLAY[name] ?? "inline";
}

const REM_PX = 16;

/** Whether a media query matches a window. @throws Error for unsupported queries */
export function matchesMedia(query: string, viewport: Viewport): boolean {
  return query.split(",").some((each) =>
    each
      .trim()
      .replace(/^(?:only\s+)?screen\b(?:\s+and\s+)?/, "")
      .split(/\s+and\s+/)
      .every((part) => part === "" || part === "all" || holds(part.trim(), viewport)),
  );
}

function holds(part: string, viewport: Viewport): boolean {
  const [, feature = "", said = ""] = /^\(\s*([\w-]+)\s*(?::\s*([^)]+?)\s*)?\)$/.exec(part) ?? [];
  const [, bound, side] = /^(min|max)-(width|height)$/.exec(feature) ?? [];
  if (bound !== undefined) {
    const px = Number.parseFloat(said) * (/em$/.test(said) ? REM_PX : 1);
    const is = viewport[side as "width" | "height"];
    return bound === "min" ? is >= px : is <= px;
  }
  if (feature === "prefers-color-scheme") return said === viewport.colorScheme;
  if (feature === "prefers-reduced-motion") return said === "no-preference";
  if (feature === "hover" || feature === "pointer") return said !== "none" && said !== "coarse";
  if (part === "print") return false;
  throw new Error(`the pages of tests know no media query ${part}.`);
}

function isHeavier({ weight }: Rule, { weight: other }: Rule): boolean {
  const at = weight.findIndex((each, index) => each !== other[index]);
  return (weight[at] ?? 0) > (other[at] ?? 0);
}

/** Rules of a sheet in order; those without a block are statements. */
function* blocksOf(css: string): Generator<{ readonly prelude: string; readonly body: string | null }> {
  let at = 0;
  while (at < css.length) {
    const end = css.slice(at).search(/[{;]/);
    if (end < 0) return;
    const prelude = css.slice(at, at + end).trim();
    at += end + 1;
    if (css[at - 1] === ";") {
      yield { prelude, body: null };
      continue;
    }
    const begin = at;
    for (let depth = 1; depth > 0 && at < css.length; at += 1) depth += css[at] === "{" ? 1 : css[at] === "}" ? -1 : 0;
    yield { prelude, body: css.slice(begin, at - 1) };
  }
}

function splitAtCommas(selectors: string): string[] {
  const parts = [""];
  let depth = 0;
  for (const sign of selectors) {
    depth += sign === "(" ? 1 : sign === ")" ? -1 : 0;
    if (sign === "," && depth === 0) parts.push("");
    else parts[parts.length - 1] += sign;
  }
  return parts.map((each) => each.trim());
}

/** Without the arguments in parentheses: they do not name further elements. */
function withoutBrackets(selector: string): string {
  let before = "";
  let now = selector;
  while (before !== now) [before, now] = [now, now.replaceAll(/\([^()]*\)|\[[^[\]]*\]/g, "")];
  return now;
}

function specificityOf(selector: string): number {
  const plain = selector.replaceAll(/:where\([^)]*\)/g, "").replaceAll(/:(?:is|not|has)\b/g, " ");
  const count = (form: RegExp) => plain.match(form)?.length ?? 0;
  return (
    count(/#[\w-]+/g) * 10_000 + count(/\.[\w-]+|\[[^\]]*\]|:(?!:)[\w-]+/g) * 100 + count(/(?:^|[\s>+~(])[a-z][\w-]*/gi)
  );
}
