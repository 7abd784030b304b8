// axe-core in a page, for each state of an element once per process: the frame of a page and the rows of its tables
// look the same again and again. With `--all`, every element is checked every time.

import { readFileSync } from "node:fs";
import type { Page } from "playwright-core";
import { seedCount } from "../injected/seeds.ts";
import { ELEMENT_STATES } from "./element-states.ts";

/** WCAG 2.2, levels A and AA, and axe-core's own best practices. */
const RULES = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"];

/** Rules whose outcome depends on colors. */
const COLOR_RULES = ["color-contrast", "link-in-text-block"];

const OPTIONS = {
  resultTypes: ["violations", "incomplete"],
  // Findings quote the element itself.
  selectors: false,
  elementRef: true,
  // Preloading refetches the style sheets for one experimental rule that is not among these tags.
  preload: false,
};

/** Kinds of states: for rules that ignore colors, and for the others. */
const KINDS = ["shapes", "looks"] as const;
type States = Record<(typeof KINDS)[number], readonly number[]>;

const checksEverything = seedCount(0, 1) === 1;

/** States without findings. */
const sound = { shapes: new Set<number>(), looks: new Set<number>() };

/**
 * Lets the local rules check only the elements in `axe.chosen`. The others compare elements with each other or judge
 * the page, and always see all of it.
 */
const CHOOSE_ELEMENTS = `
window.kindOfRule = (id) => (${JSON.stringify(COLOR_RULES)}.includes(id) ? "looks" : "shapes");
for (const rule of axe._audit.rules) {
  const checks = [...rule.any, ...rule.all, ...rule.none].map((check) => axe._audit.checks[check.id ?? check]);
  if (rule.pageLevel || checks.some((check) => check.after)) continue;
  rule.gather = (context) => {
    const nodes = axe.utils.select(rule.selector, context).filter(({ actualNode }) => axe.chosen[kindOfRule(rule.id)].has(actualNode));
    return rule.excludeHidden ? nodes.filter((node) => axe.commons.dom.isVisibleToScreenReaders(node)) : nodes;
  };
}`;

/** Reads the page's distinct states; `page` is that of the whole page. */
const READ_STATES = `(() => {
  const { elements, ...states } = ${ELEMENT_STATES};
  window.readStates = { elements, states, html: document.documentElement.outerHTML };
  return { page: states.shapes[0], shapes: [...new Set(states.shapes)], looks: [...new Set(states.looks)] };
})()`;

/**
 * Checks one element of each fresh state and, where axe-core cannot decide, the others of that state: it sees no color
 * behind another element. Evaluates to null if the page has changed since its states were read.
 */
const CHECK_STATES = `(async ({ fresh, rules, options }) => {
  const { elements, states, html } = readStates;
  if (html !== document.documentElement.outerHTML) return null;
  const findings = [];
  const kinds = ["shapes", "looks"];
  const open = kinds.map((kind) => {
    const found = new Map(fresh[kind].map((state) => [state, []]));
    for (const [index, state] of states[kind].entries()) found.get(state)?.push(elements[index]);
    return found;
  });
  const checkNext = async (runOnly, count) => {
    const chosen = open.map((found) => new Map([...found].map(([state, same]) => [state, same.splice(0, count)])));
    axe.chosen = Object.fromEntries(kinds.map((kind, index) => [kind, new Set([...chosen[index].values()].flat())]));
    const { violations, incomplete } = await axe.run(document, { ...options, runOnly });
    for (const { id, help, nodes } of violations)
      for (const { element, failureSummary } of nodes)
        findings.push(id + ": " + help + ": " + element.outerHTML.slice(0, 200) + " " + (failureSummary ?? ""));
    const undecided = kinds.map(() => new Set());
    for (const { id, nodes, error } of incomplete) {
      if (error) throw new Error(error.message);
      for (const { element } of nodes) undecided[kinds.indexOf(kindOfRule(id))].add(element);
    }
    for (const [index, found] of chosen.entries())
      for (const [state, same] of found)
        if (!same.every((element) => undecided[index].has(element))) open[index].delete(state);
    return incomplete.map(({ id }) => id);
  };
  const undecidedRules = await checkNext(rules, 1);
  if (open.some((found) => [...found.values()].some((same) => same.length > 0)))
    await checkNext(undecidedRules, Number.POSITIVE_INFINITY);
  const [shapes, looks] = open.map((found) => [...found.keys()]);
  return { findings, undecided: { shapes, looks } };
})`;

/** axe-core, minified, without copies of elements' HTML in its results. */
function axeSource(): string {
  const source = readFileSync(Bun.resolveSync("axe-core/axe.min.js", import.meta.dir), "utf8");
  return `${source};axe.configure({ noHtml: true });${CHOOSE_ELEMENTS}`;
}

interface Outcome {
  readonly findings: string[];
  /** States that remain to be checked. */
  readonly undecided: States;
}

/** Findings on a page that has settled: a sentence each with the element. */
export async function findingsOfAxe(page: Page): Promise<string[]> {
  for (;;) {
    const states = await page.evaluate<States & { readonly page: number }>(READ_STATES);
    const isFresh = (kind: keyof States) => (state: number) => checksEverything || !sound[kind].has(state);
    const fresh = { shapes: states.shapes.filter(isFresh("shapes")), looks: states.looks.filter(isFresh("looks")) };
    // Elements with a new look may be on a page that is known otherwise.
    const hasKnownShape = !fresh.shapes.includes(states.page);
    if (hasKnownShape && fresh.looks.length === 0) return [];
    // Once per document: parsing its 0.5 MB takes time.
    if (!(await page.evaluate<boolean>("'axe' in window"))) await page.evaluate(axeSource());
    const input = { fresh, rules: hasKnownShape ? COLOR_RULES : RULES, options: OPTIONS };
    const outcome = await page.evaluate<Outcome | null>(`${CHECK_STATES}(${JSON.stringify(input)})`);
    if (outcome === null) continue;
    if (outcome.findings.length === 0)
      for (const kind of KINDS)
        for (const state of fresh[kind]) if (!outcome.undecided[kind].includes(state)) sound[kind].add(state);
    return outcome.findings;
  }
}
