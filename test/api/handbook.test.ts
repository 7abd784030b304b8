// Handbook as served by the appliance: every page with its title, working links, and a complete search index.

import { afterAll, beforeAll, expect, test } from "bun:test";
import { readdirSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import type { Section } from "../../src/handbook/render.ts";
import { newUnclaimedAppliance, type UnclaimedAppliance } from "../support/appliance/appliance.ts";

const FOLDER = resolve(import.meta.dir, "../../src/handbook");
const TOPICS = readdirSync(FOLDER)
  .filter((name) => name.endsWith(".md") && name !== "contents.md")
  .map((name) => name.replace(".md", ""));
const PAGES = ["/handbook", ...TOPICS.map((topic) => `/handbook/${topic}`)];
const FILES = ["/handbook/search.js", "/handbook/search.json", "/handbook/handbook.css"];

let appliance: UnclaimedAppliance;
beforeAll(() => {
  appliance = newUnclaimedAppliance();
});
afterAll(() => appliance.close());

const get = (path: string, headers: Record<string, string> = {}) =>
  appliance.handle(new Request(`http://localhost${path}`, { headers }));
const textAt = async (path: string) => (await get(path)).text();
/** Final status of a link, through the appliance's redirects. */
const statusAt = async (path: string): Promise<number> => {
  const { status, headers } = await get(path, { accept: "text/html" });
  return status === 302 ? statusAt(headers.get("location") ?? "") : status;
};
const idsOf = (html: string) => [...html.matchAll(/ id="([^"]+)"/g)].map((match) => match[1] ?? "");

test("every page is public, with its own title and one first-level heading", async () => {
  expect(TOPICS.length).toBeGreaterThan(10);
  const titles = new Set<string>();
  for (const path of PAGES) {
    const response = await get(path, { "x-request-id": "mine" });
    expect([path, response.status, response.headers.get("content-type"), response.headers.get("x-request-id")]).toEqual(
      [path, 200, "text/html; charset=utf-8", "mine"],
    );
    const html = await response.text();
    titles.add(/<title>(.+?)<\/title>/.exec(html)?.[1] ?? "");
    expect([path, html.match(/<h1/g)?.length]).toEqual([path, 1]);
    const ids = idsOf(html);
    expect([path, new Set(ids).size]).toEqual([path, ids.length]);
  }
  expect(titles.size).toBe(PAGES.length);
});

test("page titles match the contents, and these list every page once", async () => {
  const contents = readFileSync(join(FOLDER, "contents.md"), "utf8");
  const listed = [...contents.matchAll(/^- \[(.+?)\]\((.+?)\.md\)/gm)];
  expect(listed.map(([, , topic = ""]) => topic).sort()).toEqual([...TOPICS].sort());
  for (const [, title = "", topic = ""] of listed) {
    expect(readFileSync(join(FOLDER, `${topic}.md`), "utf8")).toStartWith(`# ${title}\n`);
    const html = await textAt(`/handbook/${topic}`);
    expect(html).toContain(`<title>${title} · netledger handbook</title>`);
    expect(html).toContain(`<a href="/handbook/${topic}" aria-current="page">${title}</a>`);
  }
});

test("every link and anchor resolves to something the appliance serves", async () => {
  const anchors = new Map<string, string[]>();
  for (const path of PAGES) anchors.set(path, idsOf(await textAt(path)));
  const broken: string[] = [];
  for (const path of PAGES) {
    const html = await textAt(path);
    for (const [, link = ""] of html.matchAll(/(?:href|src)="([^"]*)"/g)) {
      const [to = "", anchor] = link.split("#");
      const target = to === "" ? path : to;
      const known = anchors.get(target);
      const isServed =
        link === "data:," ||
        (anchor === undefined ? (await statusAt(target)) === 200 : known?.includes(anchor) === true);
      if (!isServed) broken.push(`${path} links to ${link}`);
    }
  }
  expect(broken).toEqual([]);
});

test("every picture has alternative text, reserves its space, and is small", async () => {
  const names = readdirSync(join(FOLDER, "pictures"));
  expect(names.length).toBeGreaterThanOrEqual(6);
  const shown = (await Promise.all(PAGES.map(textAt))).flatMap((html) => html.match(/<img [^>]*>/g) ?? []);
  for (const name of names) {
    const image = shown.find((image) => image.includes(`src="/handbook/pictures/${name}"`)) ?? "";
    expect([name, /alt="[^"]{40,}"/.test(image), / width="\d+" height="\d+"/.test(image)]).toEqual([name, true, true]);
    const response = await get(`/handbook/pictures/${name}`);
    expect([name, response.headers.get("content-type")]).toEqual([name, "image/webp"]);
    const bytes = new Uint8Array(await response.arrayBuffer());
    expect(new TextDecoder().decode(bytes.subarray(8, 12))).toBe("WEBP");
    expect([name, bytes.length < 250_000]).toEqual([name, true]);
  }
  expect((await get("/handbook/console")).headers.get("content-security-policy")).toContain("img-src 'self' data:;");
});

test("pages load nothing from other hosts, have nothing inline, and enforce this by policy", async () => {
  for (const path of PAGES) {
    const response = await get(path);
    const html = await response.text();
    expect(html).not.toMatch(/(?:href|src)="(?:https?:)?\/\//);
    expect(html).not.toMatch(/<style|<script(?! src=)| style="| on[a-z]+="/);
    expect(Object.fromEntries(response.headers)).toMatchObject({
      "content-security-policy":
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
      "x-frame-options": "DENY",
      "x-content-type-options": "nosniff",
      "referrer-policy": "no-referrer",
      "cache-control": "no-cache",
    });
  }
});

test("search requires a script: without one its box is hidden, and the text remains", async () => {
  const html = await textAt("/handbook/time");
  expect(html).toContain("<search hidden>");
  expect(html).toContain("half-open interval");
  expect(html).toContain('<div class="table" tabindex="0"><table>');
});

test("the search index has every page and every heading, with their locations", async () => {
  const sections = (await (await get("/handbook/search.json")).json()) as Section[];
  expect(new Set(sections.map((section) => section.url.split("#")[0]))).toEqual(new Set(PAGES.slice(1)));
  for (const path of PAGES.slice(1)) {
    const headings = [...(await textAt(path)).matchAll(/<h[23] id="([^"]+)"/g)].map((match) => `${path}#${match[1]}`);
    const found = sections.filter((section) => section.url.startsWith(`${path}#`)).map((section) => section.url);
    expect(found).toEqual(headings);
  }
  const at = sections.find((section) => section.url === "/handbook/time#the-at-parameter");
  expect([at?.page, at?.heading]).toEqual(["Time", "The at parameter"]);
  expect(at?.text).toContain("resolves once per request");
  expect(sections.some((section) => section.text.includes("--secrets-folder DIR"))).toBe(true);
});

test.each(["/handbook", "/handbook/time", ...FILES])(
  "%s is compressed on request, revalidated by ETag, and refuses other methods",
  async (path) => {
    const plain = await get(path);
    const text = await plain.text();
    const packed = await get(path, { "accept-encoding": "gzip" });
    expect(packed.headers.get("content-encoding")).toBe("gzip");
    expect(new TextDecoder().decode(Bun.gunzipSync(await packed.arrayBuffer()))).toBe(text);
    const revalidated = await get(path, { "if-none-match": plain.headers.get("etag") ?? "" });
    expect([revalidated.status, await revalidated.text()]).toEqual([304, ""]);
    const head = await appliance.handle(new Request(`http://localhost${path}`, { method: "HEAD" }));
    expect([head.status, head.headers.get("etag")]).toEqual([200, plain.headers.get("etag")]);
    const posted = await appliance.anonymous.send("POST", path);
    expect([posted.status, posted.headers.get("allow"), posted.body.code]).toEqual([
      405,
      "GET, HEAD",
      "method_not_allowed",
    ]);
  },
);

test("unknown pages are 404, and the reference and the handbook link to each other", async () => {
  expect((await get("/handbook/nothing")).status).toBe(404);
  expect(await textAt("/handbook")).toContain('href="/docs"');
  expect(await textAt("/api/openapi.json")).toContain("(/handbook)");
  expect(await textAt("/handbook")).toContain('<a href="/handbook" aria-current="page">Handbook</a>');
  expect(await textAt("/handbook/time")).toContain('<a href="/">Console</a>');
});

test("its colors are the console's", async () => {
  const css = await textAt("/handbook/handbook.css");
  const used = new Set([...css.matchAll(/var\((--[a-z-]+)\)/g)].map(([, name = ""]) => name));
  const missing = [...used].filter((name) => !css.includes(`  ${name}:`));
  expect([used.size > 10, missing]).toEqual([true, []]);
  expect(css).toStartWith(readFileSync(join(FOLDER, "../console/styles/tokens.css"), "utf8"));
  expect(css.slice(css.indexOf("* {"))).not.toMatch(/#[0-9a-f]{3,8}[;)]/);
});
