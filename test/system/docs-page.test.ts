// Documentation served by the compiled executable, including in a real browser if there is one.

import { afterAll, beforeAll, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { closeBrowser, hasChromium, Visitor } from "../support/browser/browser.ts";

const EXECUTABLE = resolve(import.meta.dir, "../../dist/netledger");

let directory: string;
let child: Bun.Subprocess<"ignore", "pipe", "ignore">;
let url: string;

const spawn = (...args: string[]) =>
  Bun.spawn([EXECUTABLE, ...args], { cwd: directory, stdin: "ignore", stdout: "pipe", stderr: "ignore" });

beforeAll(async () => {
  directory = mkdtempSync(join(tmpdir(), "netledger-docs-"));
  child = spawn("serve", "--listen", "127.0.0.1:0", "--data", join(directory, "data"));
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
  const printed = spawn("openapi");
  expect(JSON.parse(await printed.stdout.text())).toEqual(await (await fetch(`${url}/api/openapi.json`)).json());
  expect(await printed.exited).toBe(0);
});

if (!hasChromium) console.log("Chromium is not installed: the documentation pages are not tested in a browser.");

test.skipIf(!hasChromium)("the page shows the groups and an operation, without requests to other hosts", async () => {
  const document = (await (await fetch(`${url}/api/openapi.json`)).json()) as {
    tags: { name: string }[];
    paths: Record<string, { get: { summary: string; parameters: { description: string }[] } }>;
  };
  const operation = document.paths["/api/v1/if-entries"]?.get;
  const visitor = await Visitor.create(url);
  const requests = visitor.requests();
  const page = await visitor.open("/docs#tag/interface-entries/GET/api/v1/if-entries");
  const expected = [
    ...document.tags.map((tag) => tag.name),
    operation?.summary ?? "",
    operation?.parameters[0]?.description ?? "",
  ];
  for (const text of expected) await page.getByText(text).first().waitFor({ state: "attached" });
  const paths = ["/docs", "/docs/scalar.js", "/api/openapi.json"];
  expect(requests.filter((request) => !request.startsWith("data:"))).toEqual(paths.map((path) => url + path));
  expect(visitor.problems()).toEqual([]);
  await visitor.close();
});

test.skipIf(!hasChromium)(
  "the handbook is searched while typing, without console messages or requests to other hosts",
  async () => {
    const visitor = await Visitor.create(url);
    const requests = visitor.requests();
    const page = await visitor.open("/handbook");
    await page.getByRole("searchbox").fill("half-open");
    for (const text of ["The netledger handbook", "Versions and their intervals", "half-open interval"])
      await page.getByText(text).first().waitFor();
    const paths = ["", "/handbook.css", "/search.js", "/search.json"].map((path) => `${url}/handbook${path}`);
    expect(requests.filter((request) => !request.startsWith("data:"))).toEqual(paths);
    expect(visitor.problems()).toEqual([]);
    await visitor.close();
  },
);

/** Listen address printed by the executable. */
async function listeningUrl(stdout: ReadableStream<Uint8Array>): Promise<string> {
  const decoder = new TextDecoder();
  let output = "";
  for await (const chunk of stdout) {
    output += decoder.decode(chunk, { stream: true });
    const match = /listens on (http:\/\/\S+)/.exec(output);
    if (match?.[1] !== undefined) return match[1];
  }
  throw new Error(`${EXECUTABLE} exited before listening: ${output}`);
}
