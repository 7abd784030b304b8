// Documentation as served by the compiled executable, also in a real browser if there is one.

import { afterAll, beforeAll, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { closeBrowser, hasChromium, Visitor } from "../support/browser/browser.ts";

const EXECUTABLE = resolve(import.meta.dir, "../../dist/netledger");

let directory: string;
let child: Bun.Subprocess<"ignore", "pipe", "ignore">;
let url: string;

beforeAll(async () => {
  directory = mkdtempSync(join(tmpdir(), "netledger-docs-"));
  child = Bun.spawn([EXECUTABLE, "serve", "--listen", "127.0.0.1:0", "--data", join(directory, "data")], {
    cwd: directory,
    stdin: "ignore",
    stdout: "pipe",
    stderr: "ignore",
  });
  url = await listeningUrl(child.stdout);
});

afterAll(async () => {
  await closeBrowser();
  child.kill();
  await child.exited;
  rmSync(directory, { recursive: true, force: true });
});

test("the executable contains the document, the page and its script", async () => {
  const document = (await (await fetch(`${url}/api/openapi.json`)).json()) as { openapi: string; paths: object };
  expect(document.openapi).toBe("3.1.0");
  expect(Object.keys(document.paths)).toContain("/api/v1/if-entries");
  const page = await fetch(`${url}/`);
  expect(page.url).toBe(`${url}/docs`);
  expect(await page.text()).toContain('src="/docs/scalar.js"');
  const script = await fetch(`${url}/docs/scalar.js`);
  expect(script.headers.get("content-encoding")).toBe("gzip");
  expect((await script.text()).length).toBeGreaterThan(1_000_000);
  const plain = await fetch(`${url}/docs/scalar.js`, { headers: { "accept-encoding": "identity" } });
  expect(plain.headers.get("content-encoding")).toBeNull();
  expect((await plain.text()).length).toBeGreaterThan(1_000_000);
});

test("the executable prints the served document", async () => {
  const printed = Bun.spawn([EXECUTABLE, "openapi"], {
    cwd: directory,
    stdin: "ignore",
    stdout: "pipe",
    stderr: "ignore",
  });
  expect(JSON.parse(await printed.stdout.text())).toEqual(await (await fetch(`${url}/api/openapi.json`)).json());
  expect(await printed.exited).toBe(0);
});

if (!hasChromium) console.log("Chromium is not installed: the documentation pages are not tried in a browser.");

test.skipIf(!hasChromium)("the page shows the groups and an operation, without requests to other hosts", async () => {
  const document = (await (await fetch(`${url}/api/openapi.json`)).json()) as {
    tags: { name: string }[];
    paths: Record<string, { get: { summary: string; parameters: { description: string }[] } }>;
  };
  const operation = document.paths["/api/v1/if-entries"]?.get;
  const visitor = await Visitor.arrive(url);
  const requests = visitor.requests();
  const page = await visitor.open("/docs#tag/interface-entries/GET/api/v1/if-entries");
  const expected = [
    ...document.tags.map((tag) => tag.name),
    operation?.summary ?? "",
    operation?.parameters[0]?.description ?? "",
  ];
  for (const each of expected) await page.getByText(each).first().waitFor({ state: "attached" });
  expect(requests.filter((each) => !each.startsWith("data:"))).toEqual([
    `${url}/docs`,
    `${url}/docs/scalar.js`,
    `${url}/api/openapi.json`,
  ]);
  expect(visitor.troubles()).toEqual([]);
  await visitor.leave();
});

test.skipIf(!hasChromium)(
  "the handbook is searched while typing, without console messages and requests to other hosts",
  async () => {
    const visitor = await Visitor.arrive(url);
    const requests = visitor.requests();
    const page = await visitor.open("/handbook");
    await page.getByRole("searchbox").fill("half-open");
    for (const each of ["The netledger handbook", "Versions and their intervals", "half-open interval"])
      await page.getByText(each).first().waitFor();
    expect(requests.filter((each) => !each.startsWith("data:"))).toEqual([
      `${url}/handbook`,
      `${url}/handbook/handbook.css`,
      `${url}/handbook/search.js`,
      `${url}/handbook/search.json`,
    ]);
    expect(visitor.troubles()).toEqual([]);
    await visitor.leave();
  },
);

/** Listen address printed by the executable. */
async function listeningUrl(stdout: ReadableStream<Uint8Array>): Promise<string> {
  const decoder = new TextDecoder();
  let said = "";
  for await (const chunk of stdout) {
    said += decoder.decode(chunk, { stream: true });
    const match = /listens on (http:\/\/\S+)/.exec(said);
    if (match?.[1] !== undefined) return match[1];
  }
  throw new Error(`${EXECUTABLE} ended before it listened: ${said}`);
}
