// Bill of materials of the executable, and known vulnerabilities of its components.

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { Spec, Validation } from "@cyclonedx/cyclonedx-library";
import manifest from "../../package.json" with { type: "json" };
import { sbomOf } from "../../scripts/sbom.ts";
import { fetchAdvisories } from "../../scripts/testing/advisories.ts";
import { EXECUTABLE, ensureExecutable } from "../support/executable/executable.ts";

const ROOT = resolve(import.meta.dir, "../..");

interface Component {
  readonly type: string;
  readonly name: string;
  readonly version: string;
  readonly purl: string;
  readonly licenses?: unknown[];
  readonly hashes?: { alg: string; content: string }[];
  readonly components?: Component[];
}

describe("the bill of materials next to the executable", () => {
  let text: string;
  let components: Component[];
  beforeAll(() => {
    ensureExecutable();
    text = readFileSync(`${EXECUTABLE}.cdx.json`, "utf8");
    components = JSON.parse(text).components;
  });

  test("is valid CycloneDX 1.6", async () => {
    const validator = new Validation.JsonStrictValidator(Spec.Version.v1dot6);
    expect(await validator.validate(text)).toBeNull();
    expect(await validator.validate(text.replace('"type": "library"', '"type": "nonsense"'))).not.toBeNull();
  });

  test("lists every dependency, and no development dependency", () => {
    const names = components.map(({ name }) => name);
    expect(names).toEqual(expect.arrayContaining(Object.keys(manifest.dependencies)));
    const development = Object.keys(manifest.devDependencies).filter((name) => name !== "bun");
    expect(names.filter((name) => development.includes(name))).toEqual([]);
    // Includes their transitive dependencies.
    expect(names).toEqual(expect.arrayContaining(["exact-mirror", "asn1-ber", "tsyringe"]));
    expect(components.every(({ purl, version }) => purl.startsWith("pkg:npm/") && version !== "")).toBe(true);
    expect(components.filter(({ licenses }) => licenses === undefined).map(({ name }) => name)).toEqual([]);
  });

  test("names the bundled Bun, and its SQLite", () => {
    const bun = components.find(({ name }) => name === "bun");
    expect([bun?.type, bun?.version]).toEqual(["platform", Bun.version]);
    const sqlite = { version: process.versions.sqlite, licenses: [{ license: { id: "blessing" } }] };
    expect(bun?.components?.find(({ name }) => name === "sqlite")).toMatchObject(sqlite);
  });

  test("has the checksums of bun.lock", () => {
    const lock = readFileSync(join(ROOT, "bun.lock"), "utf8");
    for (const { name, hashes } of components) {
      const [hash] = hashes ?? [];
      const isLocked = lock.includes(Buffer.from(hash?.content ?? "", "hex").toString("base64"));
      expect([name, hash?.alg, isLocked]).toEqual([name, "SHA-512", true]);
    }
  });

  test("is reproducible, and changes with its input", () => {
    const sbomFor = (...paths: string[]) =>
      sbomOf({
        root: ROOT,
        bundles: [
          { outputs: { a: { inputs: Object.fromEntries(paths.map((path) => [path, { bytesInOutput: 1 }])) } } },
        ],
        runtimePackage: "@oven/bun-linux-x64",
        runtimeVersions: process.versions,
      });
    const first = sbomFor("src/main.ts", "node_modules/elysia/a.js", "node_modules/elysia/node_modules/cookie/b.js");
    expect(first).toBe(
      sbomFor("../x/node_modules/elysia/node_modules/cookie/b.js", "src/main.ts", "node_modules/elysia/c.js"),
    );
    const names = JSON.parse(first).components.map(({ name }: Component) => name);
    expect(names.sort()).toEqual(["bun", "cookie", "elysia", "oui-data"]);
    const second = sbomFor("src/main.ts");
    expect(JSON.parse(second).serialNumber).not.toBe(JSON.parse(first).serialNumber);
    expect(JSON.parse(second).serialNumber).toMatch(
      /^urn:uuid:[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/,
    );
  });

  test("is refused for a package missing from bun.lock", () => {
    expect(() =>
      sbomOf({ root: ROOT, bundles: [{ outputs: {} }], runtimePackage: "@oven/bun-nowhere", runtimeVersions: {} }),
    ).toThrow("bun.lock does not list @oven/bun-nowhere@");
  });
});

describe("a vulnerability of a bundled package", () => {
  const rating = { severity: "high", vulnerable_versions: "<99", cwe: [], cvss: { score: 9, vectorString: null } };
  const ADVISORY = { id: 1, url: "https://advisories.example/1", title: "made up", ...rating };
  let requestedPackages: Record<string, string[]> = {};
  let registryResponse: object = {};
  const registry = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    fetch: async (request) => {
      const body = new Uint8Array(await request.arrayBuffer());
      requestedPackages = JSON.parse(
        new TextDecoder().decode(request.headers.get("content-encoding") === "gzip" ? Bun.gunzipSync(body) : body),
      );
      return Response.json(registryResponse);
    },
  });
  afterAll(() => registry.stop(true));

  test("is detected, and the audit is skipped without a registry", async () => {
    registryResponse = {};
    expect(await fetchAdvisories(registry.url.origin)).toEqual({ outcome: "clean" });
    expect(requestedPackages).toMatchObject({
      elysia: [manifest.dependencies.elysia],
      "@peculiar/x509": [manifest.dependencies["@peculiar/x509"]],
    });
    expect(Object.keys(requestedPackages)).not.toContain("fast-check");
    registryResponse = { elysia: [ADVISORY] };
    expect(await fetchAdvisories(registry.url.origin)).toEqual({ outcome: "vulnerable", packages: ["elysia"] });
    registry.stop(true);
    expect(await fetchAdvisories(registry.url.origin)).toMatchObject({ outcome: "unavailable" });
  });
});
