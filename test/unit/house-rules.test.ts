// House rules: restricted APIs (time, randomness, environment, console, process exit) and file heads. The rules and
// their owners are the data at the top; the checkers below are themselves tested on sources that break them.

import { describe, expect, test } from "bun:test";
import { resolve } from "node:path";
import type { Node, SourceFile } from "typescript/unstable/ast";
import {
  isBinaryExpression,
  isBindingElement,
  isCallExpression,
  isCaseClause,
  isElementAccessExpression,
  isIdentifier,
  isMetaProperty,
  isNewExpression,
  isObjectBindingPattern,
  isObjectLiteralExpression,
  isPropertyAccessExpression,
  isPropertyAssignment,
  isStringLiteral,
  isSwitchStatement,
  isVariableDeclaration,
} from "typescript/unstable/ast/is";
import manifest from "../../package.json" with { type: "json" };
import { RECORD_KINDS } from "../../src/console/kinds/kinds.ts";
import { looseLookupsIn, looseLookupsOf } from "../support/source/loose-lookups.ts";
import { importsOf, isSource, lineOf, parse, readRepository, type Tree, walk } from "../support/source/syntax.ts";

interface RestrictedUse {
  /**
   * Dotted names; `import:module#name` for a named import; `new Date()` for one without arguments; `.*` for every
   * member.
   */
  uses: string[];
  owners: string[];
  hint: string;
}

/** In src, every source of nondeterminism has one owner; other code receives it as a parameter. */
const RESTRICTED_USES: RestrictedUse[] = [
  {
    uses: ["Date.now", "new Date()", "Date()", "Temporal.Now.*", "performance.timeOrigin"],
    owners: ["src/base/clock.ts", "src/console/time/clock.ts"],
    hint: "take a Clock",
  },
  {
    uses: [
      ..."Math.random crypto.getRandomValues crypto.randomUUID Bun.randomUUIDv7 Bun.randomUUIDv5".split(" "),
      ..."randomBytes randomFill randomFillSync randomInt randomUUID getRandomValues webcrypto"
        .split(" ")
        .map((name) => `import:crypto#${name}`),
    ],
    owners: ["src/base/random.ts", "src/console/forms/request-key.ts"],
    hint: "take a Random",
  },
  {
    uses: ["process.env", "Bun.env", "import.meta.env", "import:process#env"],
    owners: ["src/cli/config.ts"],
    hint: "take a setting of Config",
  },
  { uses: ["console.*"], owners: ["src/base/log.ts"], hint: "take a Log" },
  {
    uses: ["process.exit", "process.abort", "process.reallyExit", "import:process#exit"],
    owners: ["src/main.ts"],
    hint: "return or throw",
  },
];

/** In test, nothing waits for a fixed time; system tests start processes and may. */
const SLEEPS = [
  ..."setTimeout setInterval Bun.sleep Bun.sleepSync".split(" "),
  ..."import:timers/promises#setTimeout import:timers#setTimeout".split(" "),
];
const MAY_SLEEP = ["test/system/"];

/** In test, calls that skip a test or ignore its result. */
const SILENCERS = ["test", "it", "describe"].flatMap((name) =>
  ["skip", "only", "todo", "failing"].map((mode) => `${name}.${mode}`),
);

/** Files that may access the text of a version as written: to prove, measure, pack or upgrade it. */
const VERSION_TEXT_FILES = new Set([
  "src/db/packing.ts",
  "src/db/hash.ts",
  "src/db/writing/statements.ts",
  "src/history/pack-versions.ts",
]);

/** The two files that check for an own property before reading it. */
const OWN_LOOKUPS = new Set(["src/base/fields.ts", "src/console/text/own-value.ts"]);

const MAX_HEAD_COMMENT_LINES = 3;
/** Heads that explain an entire mechanism, exempt from the limit, each with its reason. */
const LONG_COMMENTS: ReadonlyMap<string, string> = new Map([
  ["src/db/writing/ledger.ts", "the ledger's format and invariants span a dozen files, and no other place states them"],
  ["src/db/writing/read-fence.ts", "a race between two threads needs a timeline for each interleaving"],
  ["src/records/read-instant.ts", "the path from a timestamp to a sequence spans seven modules"],
]);
/** Heads and docstrings that are clauses instead of noun phrases. */
const CLAUSE_HEAD = /^\/\/ (What|Which|Where|How|Who|Whose|Whatever|Whoever)\b/;
const CLAUSE_DOCSTRING = /^\s*\/\*\* (What|Which|Where|How|Who|Whose|Whatever|Whoever)\b/;
/** Headings of documents that are clauses instead of noun phrases. */
const CLAUSE_HEADING = /^#+ (What|Which|Where|How|Why|Who|Whose)\b/;
/** Words that no engineer of the field writes in comments. */
const BANNED_WORDS =
  /\b(nought|anew|whoever|for ever|for good|be it|comes to|that is none|which is none|knows (nothing|about)|fates?|any more(?=[.,;:)])|very many|whatever (the|its|their)|hearsay)\b/i;
/** Negated nouns, as in `is no switch`; `is not a switch` is idiomatic. */
const NEGATED_NOUN = /(?<!\bthere )\b(is|are|was|were) no (?!longer|more|other)[a-z]+(?=[.,;:)]|$)/i;
/** Additional words that documents and displayed text must not use. */
const BANNED_IN_PROSE =
  /\b(nought|anew|whoever|whomever|for ever|be it|comes to|for good|any more(?=[.,;:)])|of before|however soon|nobody|somebody|beside|tells|that is none|which is none|it is none)\b/i;
/** Documents exempt from BANNED_IN_PROSE, each with its reason. */
const PROSE_EXCEPTIONS: ReadonlyMap<string, string> = new Map([
  ["src/handbook/changes.md", "release notes keep the words in which each version was announced"],
  ["src/handbook/upgrading.md", "its steps are revised with the release that they belong to"],
]);
const QUOTED = /"(?:[^"\\]|\\.)*"|`(?:[^`\\]|\\.)*`/g;

/** Titles that are clauses, or that miss the noun or the term of the field. */
const BANNED_TITLE =
  /^(What|Which|Where|How|Who|Whose|Whom|Whatever|Whoever)\b|\b(nought|anew|who(m|se)?ever|nobody|for ever|be it|comes to|tells?|told|stands for|(that|which) (is|are) none|in its place|brought in|mend(s|ed)?|of (then|before))\b/i;
const TITLED_CALLS = new Set(["describe", "test", "it"]);
const COMMENT_LINE = /^\s*(?:\/\/|\/?\*)/;
/** Private members are `private`: the compiler checks them, and `#` would be a second notation. */
const HASH_PRIVATES = /\bthis\.#\w/;
const ROOT = resolve(import.meta.dir, "../..");

/** Header of the sources in the checker's own tests. */
const LOOKUP_HEAD = `export const RACKS: Record<string, number> = { a: 1 };
export const NESTED: Record<string, Record<string, number>> = { a: { a: 1 } };
export const MAP = new Map([["a", 1]]);
export declare const name: string, known: "a";
`;

// Concatenated, so that this file does not match itself.
const MARKERS = new RegExp(`\\b(${["TO" + "DO", "FIX" + "ME", "XX" + "X"].join("|")})\\b`);
const MACHINE_PATHS = new RegExp(`(?<![\\w$}./])/(home|Users|root|work${"/"}main)/[\\w.~-]`);
const REGISTRY_HOSTS = new RegExp(`registry\\.(${"npm"}js|${"yarn"}pkg)\\b`);

const EXPORTED = /^export (?:async |abstract )?(?:const|let|function\*?|class|interface|type|enum) (\w+)/gm;

test("time, randomness, environment, console and exit are used in src by their owners only", async () => {
  const tree = readRepository(["src"], isSource);
  expect(Object.keys(tree).length).toBeGreaterThan(10);
  expect(await restrictedUses(tree)).toEqual([]);
});

test("every file of src starts with its purpose, in at most three lines", () => {
  expect(badHeads(readRepository(["src"], isSource))).toEqual([]);
});

test("heads are noun phrases, and comments use the field's terms", () => {
  expect(bannedComments(readRepository(["src", "test", "scripts"], (path) => /\.tsx?$/.test(path)))).toEqual([]);
});

test("documents and displayed text use the field's terms", () => {
  const documents = readRepository([], (path) => path.endsWith(".md"));
  const texts = readRepository(["src"], isSource);
  expect(Object.keys(documents).length).toBeGreaterThan(25);
  expect(bannedProse({ ...documents, ...texts })).toEqual([]);
});

test("test titles name a subject and its behavior in the field's terms", async () => {
  const tree = readRepository(["test"], isSource);
  expect(Object.keys(tree).length).toBeGreaterThan(300);
  expect(await bannedTitles(tree)).toEqual([]);
});

test("no test sleeps, and every test runs and counts", async () => {
  expect(await testViolations(readRepository(["test"], (path) => path.endsWith(".ts")))).toEqual([]);
});

test("every script named in the manifest and in documents exists", async () => {
  const documents = Object.values(readRepository([], (path) => path.endsWith(".md"))).join("\n");
  const named = [...Object.values(manifest.scripts), ...(documents.match(/\.\/scripts\/[\w./-]+[\w-]/g) ?? [])]
    .flatMap((text) => text.split(" "))
    .filter((word) => word.includes("/"));
  expect(named.length).toBeGreaterThan(10);
  const paths = [...new Set(named)];
  const existing = await Promise.all(paths.map((path) => Bun.file(resolve(ROOT, path)).exists()));
  expect(paths.filter((_, position) => !existing[position])).toEqual([]);
});

test("SQL reads versions only through packing.ts and shape.ts", () => {
  expect(rawVersions(readRepository(["src"], isSource))).toEqual([]);
});

test("src looks up names unknown to the compiler among own properties only: by ownValue, a Map or hasOwn", async () => {
  const found = [
    ...(await looseLookupsIn("tsconfig.json", "src/")),
    ...(await looseLookupsIn("src/console/tsconfig.json", "src/console/")),
  ].filter(({ path }) => !OWN_LOOKUPS.has(path));
  expect(found.map(({ path, line, code }) => `${path}:${line} ${code}`)).toEqual([]);
});

test("no name exported by src has two meanings", () => {
  expect(sharedNames(readRepository(["src"], isSource))).toEqual([]);
});

test("no file has open tasks, local paths, a registry's host or # privates", () => {
  expect(leftovers(readRepository([], isText))).toEqual([]);
});

test("the console has switches over kinds and tables of them in kinds/ only", async () => {
  const tree = readRepository(["src"], (path) => path.startsWith("src/console/") && isSource(path));
  expect(await kindTables(tree)).toEqual([]);
});

describe("the checkers of the house rules", () => {
  test.each([
    ["a switch", `switch (kind) { case "host": return 1; case "subnet": return 2; }`],
    ["a comparison", `const path = kind === "host" ? "/hosts" : "/others";`],
    ["a comparison of a part", `const isHost = list.kind !== "host";`],
    ["a table", `const PAGES = { host: "/hosts", if_entry: "/interfaces", vlan: "/vlans" };`],
  ])("refuse %s of kinds outside kinds/", async (_, text) => {
    expect(await kindTables({ "src/console/lists/list.ts": text })).toEqual(["src/console/lists/list.ts:1"]);
    expect(await kindTables({ "src/console/kinds/kinds.ts": text })).toEqual([]);
  });

  test("accept words that resemble kinds", async () => {
    const text = `
      switch (parsed.type) { case "instant": break; case "marker": break; }
      const text = { host: "Host", network: "Network", port: "Port", service: "Service" };
      const isFull = kind === "full";
      const live = { how: "refresh", types: ["host", "if_entry", "ip_address"] };`;
    expect(await kindTables({ "src/console/time/parse-time-input.ts": text })).toEqual([]);
  });

  test("refuse a name that two files export, and accept a schema and its type in one", () => {
    const schema = "export const Rack = 1;\nexport type Rack = typeof Rack;";
    expect(sharedNames({ "src/a.ts": schema, "src/b.ts": "const Rack = 1;\nexport class Racks {}" })).toEqual([]);
    const shared = sharedNames({ "src/a.ts": schema, "src/b.ts": "export interface Rack {}" });
    expect(shared).toEqual(["Rack: src/a.ts, src/b.ts"]);
  });

  test.each([
    "`SELECT v.members FROM history_versions v`",
    "`SELECT ('{' || w.members || '}') ->> '$.a' ${version}`",
    "`SELECT max(key), sort_keys FROM history_versions`",
    '"SELECT members FROM history_versions WHERE key = 1"',
  ])("refuse the SQL %s outside of packing.ts", (sql) => {
    const found = rawVersions({ "src/db/reading/reader.ts": `const a = 1;\nconst text = ${sql};` });
    expect(found).toEqual(["src/db/reading/reader.ts:2"]);
    expect(rawVersions({ "src/db/packing.ts": `const text = ${sql};` })).toEqual([]);
  });

  test.each([
    '`SELECT ${membersSql(kind, "v")} FROM history_versions v WHERE v.members IS NOT NULL`',
    "`SELECT l.members FROM hosts l`",
  ])("accept the SQL %s", (sql) => {
    expect(rawVersions({ "src/db/reading/reader.ts": `const text = ${sql};` })).toEqual([]);
  });

  const ARBITRARY_LOOKUPS =
    "RACKS[name];RACKS?.[name];RACKS[name as string];RACKS[name] ??= 1;RACKS[name]++;NESTED[name]![name] = 1;" +
    "name in RACKS;const { [name]: rack, ...others } = RACKS;(JSON.parse(name) as any)[name];" +
    "RACKS[JSON.parse(name)];(<K extends string>(key: K) => RACKS[key])(name);`${name}` in { a: 1 }";
  test.each(ARBITRARY_LOOKUPS.split(";"))("refuse the lookup %s by an arbitrary name", async (code) => {
    expect((await looseLookupsOf({ "a.ts": `${LOOKUP_HEAD}${code};` })).map(({ line }) => line)).toEqual([5]);
  });

  const SAFE_LOOKUPS =
    'RACKS.a;RACKS["a"];RACKS[known];RACKS[name] = 1;delete RACKS[name];' +
    "const { [name]: _gone, ...others } = RACKS;MAP.get(name);Object.hasOwn(RACKS, name);[1][name.length];name[0];" +
    "(<T extends object, K extends keyof T>(of: T, key: K) => of[key])({ a: 1 }, known)";
  test.each(SAFE_LOOKUPS.split(";"))("accept the lookup %s", async (code) => {
    expect(await looseLookupsOf({ "a.ts": `${LOOKUP_HEAD}${code};` })).toEqual([]);
  });

  test.each([
    ["Date.now()"],
    ["const now = Date.now;"],
    ["globalThis.Date.now()"],
    [`Date["now"]()`],
    ["const { now } = Date;"],
    ["new Date()"],
    ["new Date"],
    ["Date()"],
    ["Temporal.Now.instant()"],
    ["Math.random()"],
    ["crypto.getRandomValues(a)"],
    ["globalThis.crypto.randomUUID()"],
    [`import { randomBytes } from "node:crypto";`],
    [`import { randomUUID as id } from "crypto";`],
    [`import * as nodeCrypto from "node:crypto"; nodeCrypto.randomBytes(3);`],
    ["process.env.A"],
    ["const { env } = process;"],
    ["process?.env"],
    ["Bun.env"],
    ["import.meta.env"],
    [`import { env } from "node:process";`],
    ["console.log(1)"],
    ["const log = console;"],
    ["f(console)"],
    ["process.exit(1)"],
    [`import process from "node:process"; process.exit()`],
  ])("refuse %s in a file that does not own it", async (code) => {
    const found = await restrictedUses({ "src/db/kind.ts": `export const x = 1;\n${code}` });
    expect(found).toHaveLength(1);
    expect(found[0]).toStartWith("src/db/kind.ts:2 ");
  });

  test.each([
    ["new Date(0)"],
    ["new Date(instant)"],
    ["// Date.now()"],
    [`const text = "Date.now() process.env";`],
    ["performance.now()"],
    ["clock.now()"],
    ["const x = { console: 1, env: 2 }; x.console; x.env;"],
    ["process.pid"],
    [`import { createHash } from "node:crypto";`],
    [`import type { Random } from "../base/random.ts";`],
  ])("accept %s", async (code) => expect(await restrictedUses({ "src/db/kind.ts": code })).toEqual([]));

  test("accept each use in its owner", async () => {
    const tree = {
      "src/base/clock.ts": "Date.now();",
      "src/base/random.ts": "crypto.getRandomValues(a);",
      "src/cli/config.ts": "process.env",
      "src/base/log.ts": "console.error(1)",
      "src/main.ts": "process.exit(0)",
    };
    expect(await restrictedUses(tree)).toEqual([]);
    const swapped = { "src/main.ts": "Date.now();", "src/base/clock.ts": "process.exit(0)" };
    expect(await restrictedUses(swapped)).toHaveLength(2);
  });

  test("refuse a file without a head comment, or with one that is too long", () => {
    const line = "// Purpose of the file.\n";
    const tree = {
      "src/a.ts": `${line}\nexport const a = 1;`,
      "src/b.ts": `${line.repeat(3)}\nexport const b = 1;`,
      "src/c.ts": `${line.repeat(4)}\nexport const c = 1;`,
      "src/d.ts": "export const d = 1;",
      "src/e.ts": "/** Docstring of e. */\nexport const e = 1;",
      "src/f.ts": `\n${line}export const f = 1;`,
      "src/g.ts": "",
      "src/db/writing/ledger.ts": `${line.repeat(80)}\nexport const h = 1;`,
      "src/db/writing/read-fence.ts": `${line}\nexport const i = 1;`,
    };
    expect(badHeads(tree).map((found) => found.split(" ")[0])).toEqual(
      "src/c.ts src/d.ts src/e.ts src/f.ts src/g.ts src/db/writing/read-fence.ts".split(" "),
    );
  });

  test("refuse a clause as head, and banned words", () => {
    const tree = {
      "src/a.ts": "// Decoder for dot1dTpFdbTable (RFC 4188).\n/** Whether the port has learned addresses. */",
      "src/b.ts": "// What a bridge has learned.\n",
      "src/c.ts": "// Bridge ports.\n// Which one it is: a clause within the file is not a head.\n",
      "src/d.ts": "// Retry timer.\n/**\n * Starts it anew.\n */\n// A hub is no switch, and there is no other.",
      "src/e.ts": 'const text = "whoever";\n  // Closed by whoever opened it.\n/** What it holds. */',
    };
    expect(bannedComments(tree)).toEqual([
      "src/b.ts:1 // What a bridge has learned.",
      "src/d.ts:3 * Starts it anew.",
      "src/d.ts:5 // A hub is no switch, and there is no other.",
      "src/e.ts:2 // Closed by whoever opened it.",
      "src/e.ts:3 /** What it holds. */",
    ]);
  });

  test("refuse banned words and headings that are clauses in documents, banned words in sentences, and nothing in code", () => {
    const tree = {
      "a.md": "It tells why.\n```sh\nls anew\n```\nRun `whoever`. They are told apart.",
      "b.md": "# What ends\n\nanew. What\n# Where-clauses\n```sh\n# How it ends\n```",
      "src/handbook/changes.md": "Search finds names of before.",
      "src/c.ts": 'import "./beside-change.ts";\nconst beside = { nobody: "somebody" };\nconst a = "Nobody is here.";',
      "src/d.ts": "const b = `Lists ${nobody} of ${whoever}`;\n  // It tells nothing.\nconst c = `Starts anew.`;",
    };
    expect(bannedProse(tree)).toEqual([
      "a.md:1 It tells why.",
      "b.md:1 # What ends",
      "b.md:3 anew. What",
      "b.md:4 # Where-clauses",
      "src/c.ts:3 Nobody is here.",
      "src/d.ts:3 Starts anew.",
    ]);
  });

  test("refuse titles that are clauses or odd, including those of tables, and accept other strings", async () => {
    const code = [
      `test("is refused with the word nobody", f);`,
      `describe("What a test does", () => { it("starts it " + "anew", f); });`,
      "test.each([[1]])(`${name} tells %p`, f);",
      `test("is accepted", () => expect("told by nobody").toBe(1));`,
    ];
    const found = await bannedTitles({ "test/a.test.ts": code.join("\n") });
    expect(found.map((text) => text.slice(0, 17))).toEqual([1, 2, 2, 3].map((line) => `test/a.test.ts:${line} `));
  });

  test.each([
    ["await Bun.sleep(10);"],
    ["await new Promise((done) => setTimeout(done, 10));"],
    ["globalThis.setTimeout(f, 1);"],
    [`import { setTimeout as sleep } from "node:timers/promises";`],
    [`test.skip("a", f);`],
    [`describe.only("a", f);`],
    [`test.only.each([1])("a", f);`],
    [`it.todo("a");`],
  ])("refuse %s in a test", async (code) =>
    expect(await testViolations({ "test/unit/a.test.ts": code })).toHaveLength(1),
  );

  test("let system tests wait, but not skip", async () => {
    const waiting = { "test/system/a.test.ts": "await Bun.sleep(10);" };
    expect(await testViolations({ ...waiting, "test/unit/b.test.ts": `const text = "Bun.sleep(1)";` })).toEqual([]);
    expect(await testViolations({ "test/system/a.test.ts": `test.skip("a", f);` })).toHaveLength(1);
  });

  test("refuse open tasks, local paths, registry hosts and # privates in any file", () => {
    const marker = "TO" + "DO";
    const [home, root, host] = ["/ho" + "me/ann/a", "/ro" + "ot/a", "registry.npm" + "js.org"];
    const refused = [`a ${marker}: b`, `cd ${home}`, `"${root}"`, `return ${"this"}.#key;`, `https://${host}/a`];
    for (const text of refused) expect(leftovers({ "README.md": text })).toHaveLength(1);
    const accepted = `${marker}S, "$root/dist", /$bunfs/root/x, the root/a, https://a.example/home/b`;
    expect(leftovers({ "README.md": accepted })).toEqual([]);
  });
});

/** Uses of RESTRICTED_USES by files that do not own them, one sentence each. */
async function restrictedUses(tree: Tree): Promise<string[]> {
  const found: string[] = [];
  for (const [path, file] of await parse(tree))
    for (const use of usesOf(file)) {
      const rule = RESTRICTED_USES.find(({ uses }) => uses.some((pattern) => covers(pattern, use.name)));
      if (rule !== undefined && !rule.owners.includes(path))
        found.push(`${path}:${use.line} uses ${use.name}: ${rule.hint}`);
    }
  return found;
}

/** Lines whose SQL reads a version's text as written. Statements alias versions as v, w, x or fv. */
function rawVersions(tree: Tree): string[] {
  const isRaw = (line: string) =>
    /(?<!")\b(v|w|x|fv)\.(members|observed|sort_keys)\b(?! IS (NOT )?NULL)/.test(line) ||
    (/(?<![.\w"{])(members|observed|sort_keys)(?![\w:"]| IS (NOT )?NULL)/.test(line) &&
      /\bFROM history_versions\b/.test(line));
  return Object.entries(tree).flatMap(([path, text]) =>
    VERSION_TEXT_FILES.has(path)
      ? []
      : text.split("\n").flatMap((line, index) => (isRaw(line) ? [`${path}:${index + 1}`] : [])),
  );
}

/** Names exported by more than one file. */
function sharedNames(tree: Tree): string[] {
  const files = new Map<string, Set<string>>();
  for (const [path, text] of Object.entries(tree)) {
    // A separate program.
    const program = path.startsWith("src/console/") ? "console" : "";
    for (const [, name = ""] of text.matchAll(EXPORTED)) {
      const named = `${program} ${name}`.trim();
      files.set(named, (files.get(named) ?? new Set()).add(path));
    }
  }
  return [...files].filter(([, paths]) => paths.size > 1).map(([name, paths]) => `${name}: ${[...paths].join(", ")}`);
}

function badHeads(tree: Tree): string[] {
  const found: string[] = [];
  for (const [path, text] of Object.entries(tree)) {
    const lines = text.split("\n");
    const end = lines.findIndex((line) => !line.startsWith("//"));
    const count = end === -1 ? lines.length : end;
    if (count === 0) found.push(`${path} does not begin with a comment`);
    const isLong = count > MAX_HEAD_COMMENT_LINES;
    if (isLong && !LONG_COMMENTS.has(path)) found.push(`${path} begins with ${count} lines of comment`);
    if (!isLong && LONG_COMMENTS.has(path)) found.push(`${path} is in LONG_COMMENTS without need`);
  }
  return found;
}

function bannedComments(tree: Tree): string[] {
  return Object.entries(tree).flatMap(([path, text]) =>
    text.split("\n").flatMap((line, index) => {
      const isOdd = COMMENT_LINE.test(line) && (BANNED_WORDS.test(line) || NEGATED_NOUN.test(line));
      return isOdd || CLAUSE_DOCSTRING.test(line) || (index === 0 && CLAUSE_HEAD.test(line))
        ? [`${path}:${index + 1} ${line.trim()}`]
        : [];
    }),
  );
}

/** Lines of documents, and strings of sources that are sentences. Inline code and embedded expressions are skipped. */
function bannedProse(tree: Tree): string[] {
  return Object.entries(tree).flatMap(([path, text]) => {
    if (PROSE_EXCEPTIONS.has(path)) return [];
    const isDocument = path.endsWith(".md");
    let isCode = false;
    return text.split("\n").flatMap((line, index) => {
      if (isDocument && line.trimStart().startsWith("```")) isCode = !isCode;
      const prose = isDocument
        ? [isCode ? "" : line.replace(/`[^`]*`/g, "`")]
        : COMMENT_LINE.test(line)
          ? []
          : [...line.matchAll(QUOTED)]
              .map(([quoted]) => quoted.slice(1, -1).replace(/\$\{[^}]*\}/g, "$"))
              .filter((sentence) => sentence.includes(" "));
      const isOdd = (part: string) =>
        BANNED_IN_PROSE.test(part) || NEGATED_NOUN.test(part) || (isDocument && CLAUSE_HEADING.test(part));
      return prose.filter(isOdd).map((part) => `${path}:${index + 1} ${part.trim()}`);
    });
  });
}

async function bannedTitles(tree: Tree): Promise<string[]> {
  const found: string[] = [];
  for (const [path, file] of await parse(tree))
    walk(file, (node) => {
      if (!isCallExpression(node) || !TITLED_CALLS.has(rootOf(node.expression))) return;
      const title = node.arguments[0]?.getText() ?? "";
      if (/^["'`]/.test(title) && (BANNED_TITLE.test(title.slice(1)) || NEGATED_NOUN.test(title.slice(1, -1))))
        found.push(`${path}:${lineOf(file, node)} ${title}`);
    });
  return found;
}

/** `test` of `test.each([1])`; empty for anything that does not begin with a name. */
function rootOf(node: Node): string {
  if (isCallExpression(node) || isPropertyAccessExpression(node)) return rootOf(node.expression);
  return isIdentifier(node) ? node.text : "";
}

async function testViolations(tree: Tree): Promise<string[]> {
  const found: string[] = [];
  for (const [path, file] of await parse(tree)) {
    const maySleep = MAY_SLEEP.some((folder) => path.startsWith(folder));
    for (const { name, line } of usesOf(file)) {
      if (SILENCERS.some((pattern) => covers(pattern, name)))
        found.push(`${path}:${line} uses ${name}: a test runs and counts`);
      else if (SLEEPS.some((pattern) => covers(pattern, name)) && !maySleep)
        found.push(`${path}:${line} uses ${name}: tests do not wait for time to pass`);
    }
  }
  return found;
}

function leftovers(tree: Tree): string[] {
  const found: string[] = [];
  for (const [path, text] of Object.entries(tree))
    for (const [index, line] of text.split("\n").entries())
      for (const pattern of [MARKERS, MACHINE_PATHS, REGISTRY_HOSTS, HASH_PRIVATES]) {
        const match = line.match(pattern);
        if (match !== null) found.push(`${path}:${index + 1} contains ${match[0]}`);
      }
  return found;
}

/** Names ignored by .gitignore. */
const ignored = new Set(
  (readRepository([".gitignore"], () => true)[".gitignore"] ?? "").split("\n").map((line) => line.replace(/\/$/, "")),
);

/** Text files written by a person or pinned by a tool: no logs, no images, nothing ignored by Git. */
function isText(path: string): boolean {
  return !/\.(log|png|jpe?g|gif|ico|webp|woff2?)$/.test(path) && !ignored.has(path.split("/")[0] ?? "");
}

/**
 * Globals used by a file, as dotted names from their root, and names imported from built-in modules. Destructuring a
 * global counts as a use of its members; passing it on whole, as a use of itself.
 */
function usesOf(file: SourceFile): { name: string; line: number }[] {
  const uses: { name: string; line: number }[] = [];
  const modules = namespaceImports(file);
  walk(file, (node) => {
    for (const name of namesAt(node)) {
      const [first = "", ...rest] = name.split(".");
      const module = modules.get(first);
      const used = module !== undefined && rest[0] !== undefined ? `import:${module}#${rest[0]}` : name;
      uses.push({ name: used, line: lineOf(file, node) });
    }
  });
  for (const imported of importsOf(file))
    for (const name of imported.kind === "type" ? [] : imported.names)
      uses.push({ name: `import:${imported.specifier.replace(/^node:/, "")}#${name}`, line: imported.line });
  return uses.filter(
    (use, index) => uses.findIndex((other) => other.line === use.line && other.name === use.name) === index,
  );
}

/** Local names of whole built-in modules: `import * as x` and `import x`. */
function namespaceImports(file: SourceFile): Map<string, string> {
  const modules = new Map<string, string>();
  for (const match of file.text.matchAll(/^import (?:\* as )?(\w+) from "(?:node:)?([\w/]+)"/gm))
    modules.set(match[1] ?? "", match[2] ?? "");
  return modules;
}

function namesAt(node: Node): string[] {
  if (isNewExpression(node))
    return dottedName(node.expression) === "Date" && (node.arguments?.length ?? 0) === 0 ? ["new Date()"] : [];
  if (isCallExpression(node)) {
    const name = dottedName(node.expression);
    if (name === "Date") return ["Date()"];
    return name !== null && !name.includes(".") ? [name] : [];
  }
  if (isVariableDeclaration(node) && node.initializer !== undefined && isObjectBindingPattern(node.name)) {
    const base = dottedName(node.initializer);
    const keys = node.name.elements.filter(isBindingElement).map((element) => element.propertyName ?? element.name);
    return base === null
      ? []
      : keys.flatMap((name) => (name !== undefined && isIdentifier(name) ? [`${base}.${name.text}`] : []));
  }
  if (isPropertyAccessExpression(node) || isElementAccessExpression(node)) {
    // Only the whole `a.b.c`: the inner access `a.b` is not a separate use.
    const isInner = isPropertyAccessExpression(node.parent) && dottedName(node.parent) !== null;
    const name = isInner ? null : dottedName(node);
    return name === null ? [] : [name];
  }
  if (isIdentifier(node) && node.text === "console" && isValueUse(node)) return ["console"];
  return [];
}

/** Whether an identifier is used as a value: neither a member's name nor the object of a member access. */
function isValueUse(node: Node): boolean {
  const parent = node.parent;
  if (isPropertyAccessExpression(parent) || isElementAccessExpression(parent)) return false;
  return (
    (isCallExpression(parent) && parent.expression !== node) ||
    (isVariableDeclaration(parent) && parent.initializer === node && isIdentifier(parent.name))
  );
}

/** `a.b.c` for such an expression, including `a["b"]` and `a?.b`, without a leading globalThis; null for others. */
function dottedName(node: Node): string | null {
  if (isIdentifier(node)) return node.text;
  if (isMetaProperty(node)) return "import.meta";
  if (isPropertyAccessExpression(node)) return join(dottedName(node.expression), node.name.text);
  if (isElementAccessExpression(node) && isStringLiteral(node.argumentExpression))
    return join(dottedName(node.expression), node.argumentExpression.text);
  return null;
}

function join(object: string | null, member: string): string | null {
  if (object === null) return null;
  return object === "globalThis" ? member : `${object}.${member}`;
}

/** Whether a pattern covers a use: of the name itself or of a member. With `.*` the name is the object's. */
function covers(pattern: string, name: string): boolean {
  const base = pattern.replace(/\.\*$/, "");
  return name === base || name.startsWith(`${base}.`);
}

/** Kinds with unambiguous names: an object with one of them and two other kinds as keys is a table of kinds. */
const UNAMBIGUOUS_KINDS = new Set(["if_entry", "ip_range", "custom_field", "api_key"]);

/** `path:line` of tables of kinds in the console, outside their directory. */
async function kindTables(tree: Tree): Promise<string[]> {
  const isKind = (name: string) => RECORD_KINDS.some((kind) => kind === name);
  const found: string[] = [];
  for (const [path, file] of await parse(tree)) {
    if (path.startsWith("src/console/kinds/")) continue;
    walk(file, (node) => {
      if (isTableOfKinds(node, isKind)) found.push(`${path}:${lineOf(file, node)}`);
    });
  }
  return found;
}

function isTableOfKinds(node: Node, isKind: (name: string) => boolean): boolean {
  if (isSwitchStatement(node)) {
    const cases = node.caseBlock.clauses.map((clause) => (isCaseClause(clause) ? clause.expression : null));
    return cases.filter((value) => value !== null && isStringLiteral(value) && isKind(value.text)).length > 1;
  }
  if (isBinaryExpression(node))
    return isStringLiteral(node.right) && isKind(node.right.text) && /\bkind$/.test(node.left.getText());
  if (!isObjectLiteralExpression(node)) return false;
  const keys = node.properties.flatMap((property) =>
    isPropertyAssignment(property) && isIdentifier(property.name) ? [property.name.text] : [],
  );
  return keys.some((key) => UNAMBIGUOUS_KINDS.has(key)) && keys.filter(isKind).length > 2;
}
