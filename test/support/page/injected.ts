// Playwright's injected page script in the test process, so that roles, names, labels, strings and states are computed
// by the same code as in Chromium.

import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import type { Element, Node } from "happy-dom";

/** Parsed selector; only the script knows its structure. */
export type ParsedSelector = { readonly parts: readonly unknown[] };

type State = "visible" | "hidden" | "enabled" | "disabled" | "editable" | "checked" | "unchecked";

/** The part of the script's interface that the tests use. */
export interface Injected {
  parseSelector(selector: string): ParsedSelector;
  querySelectorAll(selector: ParsedSelector, root: Node): Element[];
  elementState(element: Element, state: State, frameVisible: boolean): { readonly matches: boolean };
  retarget(element: Element, behavior: "follow-label" | "none" | "button-link"): Element | null;
  selectOptions(element: Element, options: readonly object[]): readonly string[] | string;
  fill(element: Element, value: string): "done" | "needsinput" | "error:notconnected";
  strictModeViolationError(selector: ParsedSelector, matches: readonly Element[]): Error;
  previewNode(element: Element): string;
}

/** Text before the script in the package, whose version is pinned. */
const SCRIPT_MARKER = "// packages/playwright-core/src/generated/injectedScriptSource.ts";
const SCRIPT_LITERAL = /\bsource\d* = ('(?:[^'\\]|\\.)*');\n/y;

/** @throws Error if the package stores the script elsewhere */
export function injectedSource(): string {
  const bundle = readFileSync(
    join(dirname(require.resolve("playwright-core/package.json")), "lib/coreBundle.js"),
    "utf8",
  );
  const offset = bundle.indexOf(" = '", bundle.indexOf(SCRIPT_MARKER));
  SCRIPT_LITERAL.lastIndex = bundle.lastIndexOf("source", offset);
  const literal = SCRIPT_LITERAL.exec(bundle)?.[1];
  if (literal === undefined)
    throw new Error("playwright-core no longer has its injected script at the expected location.");
  return new Function(`return ${literal}`)();
}

/** Start of the script; `customEngines` and the rest are Playwright's arguments for Chromium. */
export const INJECTED_START = `new (module.exports.InjectedScript())(window, ${JSON.stringify({
  isUnderTest: false,
  sdkLanguage: "javascript",
  testIdAttributeName: "data-testid",
  stableRafCount: 1,
  browserName: "chromium",
  isUtilityWorld: false,
  customEngines: [],
})})`;

type Text = string | RegExp;

/** Playwright's selector for a string, as its locators write it. */
export const textSelector = (text: Text, isExact = false): string =>
  typeof text === "string" ? `${JSON.stringify(text)}${isExact ? "s" : "i"}` : patternSelector(text);

/** Playwright's selector for an attribute value. */
export const attributeSelector = (text: Text, isExact = false): string =>
  typeof text === "string"
    ? `"${text.replaceAll("\\", "\\\\").replaceAll('"', '\\"')}"${isExact ? "s" : "i"}`
    : patternSelector(text);

function patternSelector(pattern: RegExp): string {
  return String(pattern)
    .replaceAll(/(^|[^\\])(\\\\)*(["'`])/g, "$1$2\\$3")
    .replaceAll(">>", "\\>\\>");
}
