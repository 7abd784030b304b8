// Accessibility checks of pages that mostly look like checked ones, in Chromium: axe-core skips elements in a state that
// it has found sound, and no fault.

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { Page } from "playwright-core";
import { accessibilityFindings, closeBrowser, hasChromium, Visitor } from "../support/browser/browser.ts";

const ROWS = ["core", "edge", "roof", "hall"]
  .map(
    (name) =>
      `<tr><td><a href="/${name}">${name}</a></td><td><button aria-label="Delete ${name}">Delete</button></td></tr>`,
  )
  .join("");

/** A sound page in the console's manner. */
const SOUND = `<!doctype html><html lang="en"><title>Hosts</title>
<style>
  body { color: #222; background: #fff; }
  li, label, h2 { padding: 16px; }
  td { position: relative; padding: 8px; }
  .note { color: #444; }
  .tools { display: flex; gap: 24px; padding: 24px; }
  .tools button { width: 20px; height: 20px; padding: 0; }
  @media (prefers-color-scheme: dark) { body { color: #eee; background: #111; } .note { color: #ccc; } a { color: #9cf; } }
</style>
<header><nav aria-label="Pages"><ul><li><a href="/">Find</a></li><li><a href="/hosts" id="hosts">Hosts</a></li></ul></nav></header>
<main><h1>Hosts</h1><p class="note">All hosts, <a href="/by-name">by name</a></p>
  <h2>List</h2><div class="tools"><button>+</button><button>-</button></div>
  <label for="filter">Filter</label> <input id="filter" aria-describedby="hint"><span id="hint">A name</span>
  <table><thead><tr><th scope="col">Name</th><th scope="col">Action</th></tr></thead><tbody>${ROWS}</tbody></table>
</main><footer><p class="note">Version 1</p></footer></html>`;

const rule = (css: string) =>
  `document.head.append(Object.assign(document.createElement("style"), { textContent: "${css}" }))`;

/** Faults: rule that finds it, and script that makes it. */
const FAULTS: ReadonlyArray<readonly [rule: string, script: string]> = [
  ["link-name", "document.querySelectorAll('tbody a')[2].textContent = ''"],
  ["button-name", "document.querySelectorAll('.tools button')[1].textContent = ' '"],
  ["label-content-name-mismatch", "document.querySelectorAll('td button')[3].ariaLabel = 'Remove hall'"],
  ["label", "document.querySelector('label').htmlFor = 'gone'"],
  ["label", "document.querySelector('label').textContent = ''"],
  ["aria-valid-attr-value", "document.querySelector('input').setAttribute('aria-invalid', 'perhaps')"],
  ["heading-order", "document.querySelector('h2').outerHTML = '<h4>List</h4>'"],
  ["page-has-heading-one", "document.querySelector('h1').remove()"],
  ["landmark-no-duplicate-main", "document.body.append(document.createElement('main'))"],
  ["region", "document.body.append(document.querySelector('main p'))"],
  ["list", "document.querySelector('ul').append(document.createElement('p'))"],
  ["listitem", "document.querySelector('nav').append(document.querySelector('li'))"],
  ["aria-required-parent", "document.querySelectorAll('td a')[1].setAttribute('role', 'option')"],
  ["nested-interactive", "document.querySelectorAll('td button')[1].append(document.querySelector('tbody a'))"],
  ["aria-hidden-focus", "document.querySelectorAll('tbody tr')[3].ariaHidden = 'true'"],
  ["tabindex", "document.querySelectorAll('td button')[2].tabIndex = 4"],
  ["target-size", rule(".tools { gap: 0 }")],
  ["color-contrast", rule(".note { color: #aaa }")],
  ["color-contrast", rule("tbody tr:nth-child(3) { background: #777 }")],
  ["color-contrast", rule("footer { opacity: 0.3 }")],
  [
    "color-contrast",
    rule(
      "td:last-child::after { content: none } td { color: #888; background: #999 } td button { color: #888; background: #999 }",
    ),
  ],
  [
    "color-contrast",
    "Object.assign(document.querySelectorAll('td')[4].appendChild(document.createElement('i')).style, { position: 'absolute', inset: '0', background: '#00c', zIndex: -1 })",
  ],
  ["link-in-text-block", rule(".note a { color: #446; text-decoration: none }")],
  ["html-has-lang", "document.documentElement.removeAttribute('lang')"],
  ["document-title", "document.title = ''"],
];

describe.skipIf(!hasChromium)("an accessibility check", () => {
  let visitor: Visitor;
  let page: Page;

  beforeAll(async () => {
    visitor = await Visitor.create("about:blank");
    page = await visitor.context.newPage();
  });
  afterAll(closeBrowser);

  const show = async (colorScheme: "light" | "dark") => {
    await page.emulateMedia({ colorScheme });
    await page.setContent(SOUND);
    expect(await accessibilityFindings(page)).toEqual([]);
  };

  test.each(FAULTS)("finds %s on a page that was sound: %s", async (id, script) => {
    await show("light");
    await page.evaluate(`void (${script})`);
    expect((await accessibilityFindings(page)).map((finding) => finding.split(":")[0])).toContain(id);
    // A finding makes nothing known.
    expect(await accessibilityFindings(page)).not.toEqual([]);
  });

  test("finds a dark color on a page that was sound in light colors, and at another width", async () => {
    await show("light");
    await page.evaluate(rule("@media (prefers-color-scheme: dark) { .note { color: #333 } }"));
    expect(await accessibilityFindings(page)).toEqual([]);
    await page.emulateMedia({ colorScheme: "dark" });
    expect((await accessibilityFindings(page))[0]).toMatch(/^color-contrast: .*class="note"/);
    await show("light");
    await page.evaluate(rule("@media (max-width: 400px) { .note { color: #ccc } }"));
    expect(await accessibilityFindings(page)).toEqual([]);
    await page.setViewportSize({ width: 360, height: 800 });
    expect(await accessibilityFindings(page)).not.toEqual([]);
  });
});
