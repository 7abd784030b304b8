// Import rules over all actual imports, including type-only and dynamic ones and Worker files. The rules and their
// exceptions are the data at the top; the checker below is itself tested on trees that break them.

import { describe, expect, test } from "bun:test";
import type { SourceFile } from "typescript/unstable/ast";
import { isExportDeclaration, isImportDeclaration } from "typescript/unstable/ast/is";
import { type Import, importsOf, isSource, parse, readRepository, type Tree } from "../support/source/syntax.ts";

/** Paths in src, from names separated by spaces. */
function inSrc(names: string): string[] {
  return names.split(" ").map((name) => `src/${name}`);
}

/** From top to bottom: a layer may import any layer below it. A name that ends in `/` is a directory of src. */
const LAYERS = [
  ["main.ts"],
  ["cli/"],
  // Importers of other products for the command line, as API clients.
  ["importers/"],
  ["server/appliance.ts"],
  ["server/tls-listener.ts"],
  ["server/listener.ts", "server/store.ts", "server/threads.ts"],
  ["server/workers/"],
  // Loaded by serve on demand, and by a separate thread.
  ["demo/"],
  ["server/open-writer.ts"],
  ["registry/bare-app.ts"],
  ["registry/app.ts", "registry/long-reads.ts"],
  ["registry/commands.ts", "registry/row-lists.ts"],
  "resources/*/routes.ts sessions/ history/ discovery/ backup/ operations/ reports/ bulk/ handbook/".split(" "),
  // Code for all resources; then the resources, each in its directory; then their shared code.
  ["records/"],
  ["resources/*/"],
  ["resources/"],
  ["access/"],
  ["http/", "db/", "tls/"],
  ["schemas/"],
  ["base/"],
];

/** Parts of one layer with permitted imports between them. */
const ALLOWED_SIDEWAYS: [from: string, to: string][] = [
  ["backup/", "history/"],
  ["operations/", "history/"],
  ["reports/", "history/"],
  ["reports/", "discovery/"],
];

/** HTTP-aware modules below the app: routes and their responses. */
const HTTP_MODULES = [
  ...inSrc("*/routes.ts */*-routes.ts */*/routes.ts */*/*-routes.ts sessions/gate.ts"),
  ...inSrc("records/*-responses.ts records/backend.ts records/broken-stream.ts records/standard-operations.ts"),
];

/**
 * Files and directories with a limited set of importers; a path that ends in `/` is a directory, `*` one or more
 * characters except `/`.
 */
const RESTRICTED_TARGETS: { target: string; importers: string[]; reason: string }[] = [
  {
    target: "src/cli/config.ts",
    importers: ["src/main.ts", "src/cli/", "src/server/appliance.ts"],
    reason: "settings are passed as values",
  },
  {
    target: "src/http/",
    importers: [
      ...inSrc("cli/ server/appliance.ts server/threads.ts server/workers/bodies.ts registry/bare-app.ts"),
      "src/registry/app.ts",
      ...HTTP_MODULES,
    ],
    reason: "commands and reads are independent of HTTP",
  },
  {
    target: "src/schemas/",
    importers: [
      ...inSrc("cli/ importers/ registry/app.ts http/ records/ resources/ sessions/ history/ discovery/"),
      ...inSrc("backup/ operations/ reports/ bulk/"),
    ],
    reason: "the store is independent of the API format",
  },
  {
    target: "package.json",
    importers: ["src/main.ts", "src/cli/", "src/schemas/", "src/registry/app.ts"],
    reason: "only the version is read from it",
  },
  { target: "migrations/", importers: ["src/db/"], reason: "db runs the migrations" },
  // The package exports no name for the script, so the import is by path.
  {
    target: "node_modules/@scalar/api-reference/",
    importers: ["src/http/documentation.ts"],
    reason: "it is a browser script",
  },
];

/** The browser program: it shares no module with the server, not even a type. Its tests and its build may import it. */
const CONSOLE = "src/console/";
/** `#api`: types of the OpenAPI document; `#forms`: fields of its bodies; `#fields`: those of its lists; `#limits`: limits. */
const CONSOLE_PACKAGES = "#api #fields #forms #limits preact @preact/signals openapi-fetch papaparse".split(" ");

/** Packages limited to a few files, so that they remain replaceable. */
const PACKAGES: { name: string; importers: string[]; reason: string }[] = [
  {
    name: "elysia",
    importers: ["src/http/", "src/registry/app.ts", "src/*/routes.ts", "src/*/*/routes.ts"],
    reason: "prepares the move to Elysia 2",
  },
  {
    name: "@elysiajs/*",
    importers: ["src/http/", "src/registry/app.ts", "src/*/routes.ts", "src/*/*/routes.ts"],
    reason: "prepares the move to Elysia 2",
  },
  {
    name: "drizzle-orm",
    importers: inSrc("db/ resources/ access/ sessions/ history/ discovery/"),
    reason: "tables belong to db and to definitions",
  },
  {
    name: "papaparse",
    importers: ["src/bulk/", "src/console/bulk/"],
    reason: "one folder reads tables, on either side",
  },
  { name: "preact", importers: [CONSOLE], reason: "the server renders nothing" },
  { name: "@peculiar/x509", importers: ["src/tls/"], reason: "one folder makes certificates" },
  { name: "bun:sqlite", importers: ["src/db/"], reason: "one folder opens the store" },
  { name: "node:sqlite", importers: ["src/db/"], reason: "one folder opens the store" },
];

/** Forbidden transitive imports. Modules under `modules` are forbidden as types as well. */
const FORBIDDEN_TRANSITIVE: { from: string; except?: string; packages?: string[]; modules?: string[] }[] = [
  // Workers of the executable must not load the web framework. One exception: it checks bodies by the app's own routes.
  { from: "src/server/workers/*.ts", except: "src/server/workers/bodies.ts", modules: ["src/http/"] },
  { from: "src/server/workers/*.ts", except: "src/server/workers/bodies.ts", packages: ["elysia", "@elysiajs/*"] },
  // A start must not pay for the certificate generator.
  { from: "src/main.ts", packages: ["@peculiar/*", "reflect-metadata"] },
];

/** Single imports that break a rule, with the reason. An obsolete entry fails. */
const EXCEPTIONS: { from: string; to: string; reason: string }[] = [];

/** Words without information about a file's purpose. */
const MEANINGLESS_NAMES = new Set(["util", "utils", "helper", "helpers", "common", "manager", "managers"]);

const ROUTES = /(^|[/-])routes\.ts$/;
const COMMANDS = /(^|[/-])commands\.ts$/;

test("every import of src obeys the layers, and no modules of src, scripts or test form a cycle", async () => {
  const tree = readRepository(["src", "scripts", "test", "migrations", "package.json"], () => true);
  expect(Object.keys(tree).filter((path) => path.startsWith("src/")).length).toBeGreaterThan(10);
  expect(await violations(tree)).toEqual([]);
});

test("no file or directory has a meaningless name", () =>
  expect(meaninglessNames(readRepository([], () => true))).toEqual([]));

describe("the checker of the import rules", () => {
  const lower = {
    "src/base/ip.ts": "export const ip = 1;",
    "src/db/kind.ts": "export const kind = 1;",
    "src/http/errors.ts": "export const errors = 1;",
  };

  test("accepts a compliant tree", async () => {
    const tree = {
      ...lower,
      "src/main.ts": `import { serve } from "./cli/serve.ts"; import { config } from "./cli/config.ts"; import { version } from "../package.json";`,
      "src/cli/serve.ts": `import { appliance } from "../server/appliance.ts"; import { config } from "./config.ts";`,
      "src/cli/config.ts": `import { ip } from "../base/ip.ts"; import { join } from "node:path";`,
      "src/server/appliance.ts": `import { app } from "../registry/app.ts"; new Worker(new URL("./workers/writer.ts", import.meta.url));`,
      "src/registry/app.ts": `import { Elysia } from "elysia"; import { routes } from "../resources/hosts/routes.ts";`,
      "src/server/workers/writer.ts": `import { commands } from "../../resources/hosts/commands.ts"; import { kind } from "../../db/kind.ts";`,
      "src/resources/hosts/routes.ts": `import { Elysia } from "elysia"; import { errors } from "../../http/errors.ts"; import { host } from "./host.ts";`,
      "src/resources/hosts/commands.ts": `import { host } from "./host.ts"; import { network } from "../networks/network.ts";`,
      "src/resources/hosts/host.ts": `import { text } from "drizzle-orm/sqlite-core"; import { network } from "../networks/network.ts"; import { role } from "../../access/role.ts";`,
      "src/resources/networks/network.ts": `import { kind } from "../../db/kind.ts";`,
      "src/access/role.ts": "export const role = 1;",
      "src/db/migrate.ts": `import sql from "../../migrations/0001.sql" with { type: "text" };`,
      "src/assets.d.ts": `declare module "*.sql";`,
      "migrations/0001.sql": "",
      "src/console/url/page-paths.ts": "export const page = 1;",
      "package.json": "{}",
    };
    expect(await violations(tree)).toEqual([]);
  });

  const [APP, WRITER, ROLE] = ["src/registry/app.ts", "src/server/workers/writer.ts", "src/access/role.ts"];
  const [PROBE, HOST] = ["src/discovery/probe.ts", "src/resources/hosts/host.ts"];
  const NETWORK_COMMANDS = "src/resources/networks/commands.ts";
  test.each([
    ["a console that imports the server", "src/console/main.tsx", `import { ip } from "../base/ip.ts";`],
    ["a console that imports server types", "src/console/main.tsx", `import type { ip } from "../base/ip.ts";`],
    ["a console that imports a server package", "src/console/main.tsx", `import { Elysia } from "elysia";`],
    ["a server that imports the console", "src/main.ts", `import { page } from "./console/url/page-paths.ts";`],
    ["a server that renders", "src/http/errors.ts", `import { h } from "preact";`],
    ["a lower layer that imports a higher one", "src/db/kind.ts", `import { app } from "../registry/app.ts";`],
    ["a type-only import upwards", "src/base/ip.ts", `import type { kind } from "../db/kind.ts";`],
    ["an import type upwards", "src/base/ip.ts", `export type A = import("../db/kind.ts").A;`],
    ["a dynamic import upwards", "src/base/ip.ts", `await import("../db/kind.ts");`],
    ["a re-export upwards", "src/base/ip.ts", `export { kind } from "../db/kind.ts"; export const ip = 1;`],
    ["a Worker file upwards", "src/db/kind.ts", `new Worker(new URL("../server/workers/writer.ts", import.meta.url));`],
    ["db that imports http", "src/db/kind.ts", `import { errors } from "../http/errors.ts";`],
    ["http that imports db", "src/http/errors.ts", `import { kind } from "../db/kind.ts";`],
    ["app and writer that import each other", APP, `import { writer } from "../server/workers/writer.ts";`],
    ["a resource that imports history", HOST, `import { timeline } from "../../history/timeline.ts";`],
    ["a resource that imports discovery", HOST, `import { probe } from "../../discovery/probe.ts";`],
    ["access that imports a resource", "src/access/role.ts", `import { host } from "../resources/hosts/host.ts";`],
    ["a resource that imports sessions", HOST, `import { gate } from "../../sessions/gate.ts";`],
    ["access that imports history", "src/access/role.ts", `import { timeline } from "../history/timeline.ts";`],
    ["history that imports discovery", "src/history/timeline.ts", `import { probe } from "../discovery/probe.ts";`],
    ["a resource that imports another one's routes", HOST, `import { routes } from "../networks/routes.ts";`],
    ["a resource that imports another one's commands", HOST, `import { commands } from "../networks/commands.ts";`],
    ["access that imports commands", ROLE, `import { commands } from "../resources/networks/commands.ts";`],
    ["discovery that imports routes", PROBE, `import { routes } from "../resources/networks/routes.ts";`],
    ["a definition that imports HTTP", HOST, `import type { errors } from "../../http/errors.ts";`],
    ["a sweep that imports HTTP", "src/discovery/probe.ts", `import { errors } from "../http/errors.ts";`],
    ["http that imports a resource", "src/http/errors.ts", `import type { host } from "../resources/hosts/host.ts";`],
    ["schemas that import HTTP", "src/schemas/csv.ts", `import type { errors } from "../http/errors.ts";`],
    ["schemas that import the store", "src/schemas/csv.ts", `import type { kind } from "../db/kind.ts";`],
    ["schemas that import Elysia", "src/schemas/csv.ts", `import { t } from "elysia";`],
    ["db that imports schemas", "src/db/kind.ts", `import type { csv } from "../schemas/csv.ts";`],
    ["commands that import HTTP", NETWORK_COMMANDS, `import { errors } from "../../http/errors.ts";`],
    ["a writer that imports HTTP", "src/server/workers/writer.ts", `import { errors } from "../../http/errors.ts";`],
    ["a writer that imports routes", WRITER, `import { routes } from "../../resources/networks/routes.ts";`],
    ["settings read below the appliance", "src/access/role.ts", `import { config } from "../cli/config.ts";`],
    ["Elysia outside http, app and routes", "src/resources/hosts/host.ts", `import { t } from "elysia";`],
    ["an Elysia plugin outside them", "src/access/role.ts", `import { cookie } from "@elysiajs/cookie";`],
    ["drizzle in http", "src/http/errors.ts", `import { eq } from "drizzle-orm";`],
    ["a subpath of drizzle in base", "src/base/ip.ts", `import { text } from "drizzle-orm/sqlite-core";`],
    ["SQLite outside db", "src/access/role.ts", `import { Database } from "bun:sqlite";`],
    ["migrations read outside db", ROLE, `import sql from "../../migrations/0001.sql" with { type: "text" };`],
    [
      "a file of a package by its path",
      "src/http/errors.ts",
      `import script from "../../node_modules/@scalar/api-reference/dist/a.js" with { type: "file" };`,
    ],
    ["a file outside src", "src/base/ip.ts", `import { f } from "../../test/support/f.ts";`],
    ["a missing file", "src/base/ip.ts", `import { f } from "./nothing.ts";`],
    ["a relative import without its extension", "src/base/ip.ts", `import { mac } from "./mac";`],
    ["a star export", "src/base/ip.ts", `export * from "./mac.ts";`],
    ["a file that only re-exports", "src/base/ip.ts", `import "./mac.ts"; export { mac } from "./mac.ts";`],
    ["a file named index.ts", "src/base/index.ts", `export const a = 1;`],
    ["a file outside all layers", "src/extra.ts", `export const a = 1;`],
  ])("refuses %s", async (title, path, text) => {
    const modules = [
      ...inSrc("registry/app.ts server/workers/writer.ts cli/config.ts access/role.ts history/timeline.ts"),
      ...inSrc("discovery/probe.ts sessions/gate.ts schemas/csv.ts resources/hosts/host.ts base/mac.ts"),
      ...inSrc("resources/networks/network.ts resources/networks/routes.ts resources/networks/commands.ts"),
      "src/console/url/page-paths.ts",
      "test/support/f.ts",
    ];
    const sources = Object.fromEntries(modules.map((module) => [module, "export const a = 1;"]));
    const tree: Tree = { ...lower, ...sources, "migrations/0001.sql": "" };
    expect(await violations(tree)).toEqual([]);
    tree[path] = text;
    const found = await violations(tree);
    expect(found).toHaveLength(1);
    // Otherwise a mistyped path in a case would be refused for that reason.
    const isPathError = ["a missing file", "a relative import without its extension"].includes(title);
    expect(found[0]?.includes("there is no such file")).toBe(isPathError);
    expect(found[0]).toStartWith(path);
  });

  test("refuses a cycle of modules and names it, even of types only, in src and outside", async () => {
    const cycle = {
      "src/base/a.ts": `import { b } from "./b.ts"; export const a = 1;`,
      "src/base/b.ts": `import { c } from "./c.ts"; export const b = 1;`,
      "src/base/c.ts": `import { a } from "./a.ts"; export const c = 1;`,
    };
    expect(await violations(cycle)).toEqual([
      "src/base/a.ts → src/base/b.ts → src/base/c.ts → src/base/a.ts: a cycle of modules",
    ]);
    for (const c of [
      `import type { a } from "./a.ts"; export const c = 1;`,
      `export const c = () => import("./a.ts");`,
      `export type C = import("./a.ts").A;`,
    ])
      expect(await violations({ ...cycle, "src/base/c.ts": c })).toHaveLength(1);
    for (const folder of ["scripts", "test/support"])
      expect(
        await violations({
          [`${folder}/a.ts`]: `import type { b } from "./b.ts"; export const a = 1;`,
          [`${folder}/b.ts`]: `import { a } from "./a.ts"; export const b = 1;`,
        }),
      ).toEqual([`${folder}/a.ts → ${folder}/b.ts → ${folder}/a.ts: a cycle of modules`]);
  });

  test("refuses resources that refer to each other in a cycle, even by types only", async () => {
    const cyclic = {
      "src/resources/hosts/host.ts": `import type { port } from "../ports/port-name.ts"; export const host = 1;`,
      "src/resources/hosts/host-name.ts": "export const host = 1;",
      "src/resources/ports/port.ts": `import type { host } from "../hosts/host-name.ts"; export const port = 1;`,
      "src/resources/ports/port-name.ts": "export const port = 1;",
    };
    expect(await violations(cyclic)).toEqual([
      "src/resources/hosts/ → src/resources/ports/ → src/resources/hosts/: references must follow the foreign keys",
    ]);
  });

  test("refuses a cycle among directories of one part", async () => {
    const cyclic = {
      "src/discovery/device.ts": `import type { walk } from "./mib/walk.ts"; export const device = 1;`,
      "src/discovery/mib/walk.ts": "export const walk = 1;",
      "src/discovery/mib/lldp.ts": `import { rows } from "../rows.ts"; export const lldp = 1;`,
      "src/discovery/rows.ts": "export const rows = 1;",
    };
    const cycle = "src/discovery/ → src/discovery/mib/ → src/discovery/: a cycle of folders";
    expect(await violations(cyclic)).toEqual([cycle]);
  });

  test("refuses Elysia in the writer through any number of files, and HTTP even by types only", async () => {
    const tree = {
      ...lower,
      "src/http/errors.ts": `import { Elysia } from "elysia"; export const errors = 1;`,
      "src/server/workers/writer.ts": `import { commands } from "../../discovery/commands.ts";`,
      "src/discovery/commands.ts": `import { answer } from "../records/list-responses.ts"; export const commands = 1;`,
      "src/records/list-responses.ts": `import { errors } from "../http/errors.ts"; export const answer = 1;`,
    };
    const chain = "src/server/workers/writer.ts → src/discovery/commands.ts → src/records/list-responses.ts";
    expect(await violations(tree)).toEqual([
      `${chain}: loads src/http/errors.ts transitively`,
      `${chain} → src/http/errors.ts: loads elysia transitively`,
    ]);
    tree["src/records/list-responses.ts"] = `import type { errors } from "../http/errors.ts"; export const answer = 1;`;
    expect(await violations(tree)).toEqual([`${chain}: loads src/http/errors.ts transitively`]);
  });

  test("refuses an unused exception", async () => {
    const exception = { from: "src/base/ip.ts", to: "src/db/kind.ts", reason: "a test" };
    const needed = { ...lower, "src/base/ip.ts": `import { kind } from "../db/kind.ts";` };
    expect(await violations(needed, [exception])).toEqual([]);
    expect(await violations(lower, [exception])).toEqual([
      "src/base/ip.ts → src/db/kind.ts: an exception that is no longer needed",
    ]);
  });

  test("refuses meaningless names of files and directories", () => {
    const names = ["src/http/utils.ts", "src/common/a.ts", "src/db/query-helpers.ts", "test/manager.test.ts"];
    const tree = Object.fromEntries([...names, "src/db/kind.ts"].map((name) => [name, ""]));
    expect(meaninglessNames(tree)).toEqual(names);
  });
});

interface Edge extends Import {
  from: string;
  /** A path of the tree, or null for a package. */
  to: string | null;
}

/** Every violation in the tree, one sentence each, starting with the file. */
async function violations(tree: Tree, exceptions = EXCEPTIONS): Promise<string[]> {
  const isProgram = (path: string) => isSource(path) && !path.endsWith(".d.ts");
  const sources = Object.fromEntries(Object.entries(tree).filter(([path]) => isProgram(path)));
  const found: string[] = [];
  const edges: Edge[] = [];
  const outside: Edge[] = [];
  for (const [path, file] of await parse(sources)) {
    if (!path.startsWith("src/")) {
      for (const imported of importsOf(file))
        outside.push({ ...imported, from: path, to: resolveSpecifier(path, imported.specifier) });
      continue;
    }
    if (layerOf(path) === -1 && !path.startsWith(CONSOLE)) found.push(`${path}: belongs to no layer`);
    if (path.endsWith("/index.ts")) found.push(`${path}: a barrel`);
    else if (isBarrel(file)) found.push(`${path}: only re-exports`);
    for (const use of importsOf(file)) edges.push({ ...use, from: path, to: resolveSpecifier(path, use.specifier) });
  }
  const used = new Set<(typeof exceptions)[number]>();
  for (const edge of edges) {
    const reason = edge.to === null ? refusePackage(edge) : refuseImport(edge.from, edge.to, tree);
    if (reason === null) continue;
    const exception = exceptions.find((rule) => rule.from === edge.from && rule.to === (edge.to ?? edge.specifier));
    if (exception === undefined)
      found.push(`${edge.from}:${edge.line} imports ${edge.to ?? edge.specifier}: ${reason}`);
    else used.add(exception);
  }
  for (const exception of exceptions) {
    if (!used.has(exception)) found.push(`${exception.from} → ${exception.to}: an exception that is no longer needed`);
  }
  return [
    ...found,
    ...moduleCycles([...edges, ...outside]),
    ...resourceCycles(edges),
    ...folderCycles(edges),
    ...transitiveViolations(edges),
  ];
}

/** Index of a file's layer; -1 for none. */
function layerOf(path: string): number {
  return LAYERS.findIndex((parts) => parts.some((part) => matches(path, `src/${part}`)));
}

/** Part of its layer that a file belongs to, as named in LAYERS. */
function partOf(path: string): string {
  return LAYERS.flat().find((part) => matches(path, `src/${part}`)) ?? "";
}

function matches(path: string, pattern: string): boolean {
  const source = pattern.replaceAll(/[.+^${}()|[\]\\]/g, "\\$&").replaceAll("*", "[^/]+");
  return new RegExp(`^${source}${pattern.endsWith("/") ? "" : "$"}`).test(path);
}

/** A path of the tree for a relative specifier; null for a package. */
function resolveSpecifier(from: string, specifier: string): string | null {
  if (!specifier.startsWith(".")) return null;
  return new URL(specifier, `file:///${from}`).pathname.slice(1);
}

function refuseImport(from: string, to: string, tree: Tree): string | null {
  // The compiler resolves modules in node_modules.
  if (tree[to] === undefined && !to.startsWith("node_modules/")) return "there is no such file";
  const restricted = RESTRICTED_TARGETS.find((rule) => matches(to, rule.target));
  const isInside = restricted !== undefined && matches(from, restricted.target);
  if (restricted !== undefined && !isInside && !restricted.importers.some((importer) => matches(from, importer)))
    return restricted.reason;
  if (!to.startsWith("src/")) return restricted === undefined ? "it is outside src" : null;
  if (from.startsWith(CONSOLE) !== to.startsWith(CONSOLE)) return "the console is a separate program";
  if (from.startsWith(CONSOLE)) return null;

  const [fromPart, toPart] = [partOf(from), partOf(to)];
  if (layerOf(to) < layerOf(from)) return "it is in a higher layer";
  const isSideways = ALLOWED_SIDEWAYS.some(([source, target]) => source === fromPart && target === toPart);
  if (layerOf(to) === layerOf(from) && fromPart !== toPart && !isSideways)
    return `${fromPart} must not import ${toPart}`;

  const sameFolder = folderOf(from) === folderOf(to);
  if (ROUTES.test(to) && !sameFolder && from !== "src/registry/app.ts") return "routes are assembled by app.ts alone";
  if (COMMANDS.test(to) && !sameFolder && layerOf(from) >= layerOf("src/records/a.ts"))
    return "only the definition of another resource may be imported";
  return null;
}

function refusePackage(edge: Edge): string | null {
  if (edge.from.startsWith(CONSOLE) && !CONSOLE_PACKAGES.some((name) => belongsTo(edge.specifier, name)))
    return "the console runs in the browser";
  const rule = PACKAGES.find((restriction) => belongsTo(edge.specifier, restriction.name));
  if (rule === undefined || rule.importers.some((importer) => matches(edge.from, importer))) return null;
  return rule.reason;
}

/** Whether a specifier names a package or one of its subpaths. */
function belongsTo(specifier: string, name: string): boolean {
  return matches(specifier, name) || matches(specifier, `${name}/`);
}

/** Whether a file only imports and re-exports, or re-exports all of another file. */
function isBarrel(file: SourceFile): boolean {
  const exports = file.statements.filter(isExportDeclaration);
  if (exports.some((node) => node.moduleSpecifier !== undefined && node.exportClause === undefined)) return true;
  return exports.length > 0 && file.statements.every((node) => isExportDeclaration(node) || isImportDeclaration(node));
}

function folderOf(path: string): string {
  return path.slice(0, path.lastIndexOf("/"));
}

function moduleCycles(edges: Edge[]): string[] {
  const imports = edges.filter((edge) => edge.kind !== "worker");
  return cyclesOf(graphOf(imports, (path) => path)).map((cycle) => `${cycle.join(" → ")}: a cycle of modules`);
}

/**
 * Cycles of resource directories through their definitions: `hosts/host.ts`. The rules around a definition may go
 * against the foreign keys: a host's commands write its children, and its view shows them. A file directly in
 * resources/ counts by itself.
 */
function resourceCycles(edges: Edge[]): string[] {
  const isInside = (path: string | null) => path?.startsWith("src/resources/") === true;
  const inside = edges.filter(({ from, to }) => isInside(from) && isInside(to) && isDefinition(from));
  const graph = graphOf(inside, (path) =>
    path.split("/").length > 3 ? `${path.split("/").slice(0, 3).join("/")}/` : path,
  );
  const cycles = cyclesOf(graph).filter((cycle) => cycle.some((node) => node.endsWith("/")));
  return cycles.map((cycle) => `${cycle.join(" → ")}: references must follow the foreign keys`);
}

/**
 * Cycles of directories within one part. Resources are excluded: a host's commands write its children, whose
 * definitions name the host.
 */
function folderCycles(edges: Edge[]): string[] {
  const graph = graphOf(
    edges.filter(({ from, to }) => to !== null && !from.startsWith("src/resources/") && partOf(from) === partOf(to)),
    (path) => `${folderOf(path)}/`,
  );
  return cyclesOf(graph)
    .filter((cycle) => cycle.length > 2)
    .map((cycle) => `${cycle.join(" → ")}: a cycle of folders`);
}

/** The file named after the record of its directory, or one outside all resource directories. */
function isDefinition(path: string): boolean {
  const [, , folder, file] = path.split("/");
  if (folder === undefined || file === undefined) return true;
  const singular = folder
    .replace(/ies$/, "y")
    .replace(/sses$/, "ss")
    .replace(/([^s])s$/, "$1");
  return file === `${singular}.ts`;
}

type Graph = Map<string, Set<string>>;

function graphOf(edges: Edge[], nodeOf: (path: string) => string): Graph {
  const graph: Graph = new Map();
  for (const edge of edges) {
    if (edge.to === null) continue;
    const [from, to] = [nodeOf(edge.from), nodeOf(edge.to)];
    if (from === to && edge.from !== edge.to) continue;
    graph.set(from, (graph.get(from) ?? new Set()).add(to));
  }
  return graph;
}

/** One cycle per strongly connected component, from its alphabetically first node back to it. */
function cyclesOf(graph: Map<string, Set<string>>): string[][] {
  const cycles: string[][] = [];
  const reported = new Set<string>();
  for (const start of [...graph.keys()].sort()) {
    if (reported.has(start)) continue;
    const cycle = shortestPath(graph, start, (node) => node === start);
    if (cycle === null) continue;
    for (const node of cycle) reported.add(node);
    cycles.push(cycle);
  }
  return cycles;
}

/** Shortest path of at least one step from a node to a target, including both; null without one. */
function shortestPath(graph: Graph, start: string, isTarget: (node: string) => boolean): string[] | null {
  const queue: string[][] = [[start]];
  const visited = new Set<string>();
  for (let path = queue.shift(); path !== undefined; path = queue.shift())
    for (const next of graph.get(path[path.length - 1] ?? "") ?? []) {
      if (isTarget(next)) return [...path, next];
      if (visited.has(next)) continue;
      visited.add(next);
      queue.push([...path, next]);
    }
  return null;
}

function transitiveViolations(edges: Edge[]): string[] {
  const found: string[] = [];
  for (const { from, except, packages = [], modules = [] } of FORBIDDEN_TRANSITIVE) {
    const graph = new Map<string, Set<string>>();
    for (const edge of edges)
      if (edge.kind !== "worker" && (modules.length > 0 || edge.kind !== "type"))
        graph.set(edge.from, (graph.get(edge.from) ?? new Set()).add(edge.to ?? edge.specifier));
    for (const entry of graph.keys()) {
      if (!matches(entry, from) || entry === except) continue;
      const isForbidden = (node: string) =>
        packages.some((name) => belongsTo(node, name)) || modules.some((name) => matches(node, name));
      const path = shortestPath(graph, entry, isForbidden);
      // Direct imports are refused in the importing file.
      if (path !== null && path.length > 2)
        found.push(`${path.slice(0, -1).join(" → ")}: loads ${path[path.length - 1]} transitively`);
    }
  }
  return found;
}

function meaninglessNames(tree: Tree): string[] {
  const wordsOf = (path: string) => path.toLowerCase().split(/[/._-]/);
  return Object.keys(tree).filter((path) => wordsOf(path).some((word) => MEANINGLESS_NAMES.has(word)));
}
