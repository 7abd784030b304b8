// Repository documents: valid links, length of the README, and a reason for every dependency.

import { expect, test } from "bun:test";
import { existsSync, readFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import manifest from "../../package.json" with { type: "json" };
import { readRepository } from "../support/source/syntax.ts";

const ROOT = resolve(import.meta.dir, "../..");
const DOCUMENTS = readRepository([], (path) => path.endsWith(".md"));

test("the README has at most 150 lines", () => {
  expect(DOCUMENTS["README.md"]?.trimEnd().split("\n").length).toBeLessThanOrEqual(150);
});

test("every link between documents leads to an existing file and heading", () => {
  const brokenLinks: string[] = [];
  for (const [path, text] of Object.entries(DOCUMENTS)) {
    const html = Bun.markdown.html(text, { headings: { ids: true } });
    for (const [, link = ""] of html.matchAll(/href="([^"]+)"/g)) {
      // Pages served by the appliance, and other hosts.
      if (/^(\/|https?:)/.test(link)) continue;
      const [to = "", anchor] = link.split("#");
      const target = to === "" ? path : join(dirname(path), to);
      const exists = existsSync(join(ROOT, target));
      const hasAnchor = anchor === undefined || (exists && headingsOf(target).includes(anchor));
      if (!exists || !hasAnchor) brokenLinks.push(`${path} links to ${link}`);
    }
  }
  expect(brokenLinks).toEqual([]);
});

test("handbook citations in sources and tests exist under their heading", () => {
  const sources = readRepository(["src", "test", "scripts"], (path) => path.endsWith(".ts"));
  const brokenLinks: string[] = [];
  let citationCount = 0;
  for (const [path, text] of Object.entries(sources)) {
    const unwrapped = text.replace(/\n\s*(?:\/\/|\*) ?/g, " ");
    for (const [citation, topic, headings = ""] of unwrapped.matchAll(/\(handbook: ([a-z-]+)((?:, "[^"]+")*)\)/g)) {
      citationCount += 1;
      const page = (DOCUMENTS[`src/handbook/${topic}.md`] ?? "").replaceAll("`", "");
      const exists = [...headings.matchAll(/"([^"]+)"/g)].every(([, heading]) =>
        new RegExp(`^#+ ${heading}$`, "m").test(page),
      );
      if (page === "" || !exists) brokenLinks.push(`${path} cites ${citation}`);
    }
  }
  expect(brokenLinks).toEqual([]);
  expect(citationCount).toBeGreaterThan(10);
});

test("every dependency has its reason in the handbook, and no other package is listed there", () => {
  const listed = [...(DOCUMENTS["src/handbook/dependencies.md"] ?? "").matchAll(/^\| ([^|]+) \|/gm)]
    .flatMap(([, names = ""]) => names.split(", "))
    .map((name) => name.trim());
  const packages = listed.filter((name) => name !== "dependency" && !/^-+$/.test(name));
  const dependencies = [...Object.keys(manifest.dependencies), ...Object.keys(manifest.devDependencies)];
  expect(packages.sort()).toEqual(dependencies.sort());
});

function headingsOf(path: string): string[] {
  const html = Bun.markdown.html(readFileSync(join(ROOT, path), "utf8"), { headings: { ids: true } });
  return [...html.matchAll(/<h\d id="([^"]+)"/g)].map((match) => match[1] ?? "");
}
