// Malicious sources of imports, with random contents: they must not get the token or key into a log or the ledger,
// redirect requests through another proxy, or cause endless imports or stack traces.

import { type CommandResult, spawnPiped, waitForExit } from "../../../test/support/executable/executable.ts";
import {
  emptyFixture,
  type FakeNetboxOptions,
  type NetboxFixture,
  serveNetbox,
} from "../../../test/support/imports/fake-netbox.ts";
import { openProxy, PROXY_VARIABLES } from "../../../test/support/imports/proxy.ts";
import { randomNetbox } from "../../../test/support/imports/random-netbox.ts";
import { type SeededRandom, seededRandom } from "../../../test/support/injected/seeded-random.ts";
import { type Finding, findingOf, type ProofContext } from "../part.ts";
import { type Caller, dataOf, populate, Testbed } from "./testbed.ts";

const SOURCES: Readonly<Record<ProofContext["form"], number>> = { short: 2, long: 20 };
const TOKEN = "5ca1ab1e0ddba11c0ffee0facade0fee1deadbea7";
/** Kinds of records that an import creates, as plurals. */
const LISTS = ["tags", "networks", "vlans", "subnets", "hosts", "ip-ranges", "custom-fields"];

export async function proveImports(context: ProofContext): Promise<Finding[]> {
  const testbed = new Testbed(context, "imports");
  try {
    const { byKey, keyText } = await populate(testbed);
    const importer = new Importer(testbed, keyText);
    const random = seededRandom(context.seed);
    return [
      await proveRandomSources(importer, random, byKey),
      await proveProxies(importer),
      await proveBounds(importer, random),
    ];
  } finally {
    await testbed.close();
  }
}

class Importer {
  readonly testbed: Testbed;
  readonly secrets: readonly string[];
  private readonly env: Record<string, string>;

  constructor(testbed: Testbed, key: string) {
    this.testbed = testbed;
    this.secrets = [TOKEN, key];
    this.env = { NETLEDGER_TOKEN: TOKEN, NETLEDGER_KEY: key, NETLEDGER_SERVER: `http://127.0.0.1:${testbed.port}` };
  }

  run(args: readonly string[], env: Record<string, string> = {}): Promise<CommandResult> {
    const child = spawnPiped([this.testbed.context.executable, "import", "netbox", ...args], { ...this.env, ...env });
    child.stdin.end();
    return waitForExit(child, "netledger import netbox");
  }

  /** Imports from a NetBox that runs for the duration of the import. */
  async runFrom(data: NetboxFixture, options: FakeNetboxOptions = {}): Promise<CommandResult> {
    const netbox = serveNetbox(data, { token: TOKEN, ...options });
    try {
      return await this.run([netbox.url, "--verbose", "--default-network", "Rest"]);
    } finally {
      await netbox.stop();
    }
  }

  /** Counts secrets in a string, in upper or lower case. */
  countSecrets(text: string): number {
    const lower = text.toLowerCase();
    return this.secrets.reduce((count, secret) => count + lower.split(secret.toLowerCase()).length - 1, 0);
  }
}

/** Whether a run exited normally, without a stack trace. */
function isOrderly({ code, err }: CommandResult): boolean {
  return (code === 0 || code === 1) && !/^\s+at /m.test(err);
}

async function proveRandomSources(importer: Importer, random: SeededRandom, byKey: Caller): Promise<Finding> {
  const { testbed, secrets } = importer;
  const members = Object.getOwnPropertyNames(Object.prototype);
  const texts = secrets.flatMap((secret) => [secret, `a ${secret.toUpperCase()}`, `${"x".repeat(190)}${secret}`]);
  const runs: CommandResult[] = [];
  for (let source = 0; source < SOURCES[testbed.context.form]; source += 1)
    runs.push(await importer.runFrom(randomNetbox(random, [...texts, ...members])));
  for (const status of [400, 401, 403, 404, 500])
    for (const secret of secrets) {
      const headers = { "content-type": `application/json; of=${secret}` };
      const intercept = () => Response.json({ detail: secret }, { status, headers });
      runs.push(await importer.runFrom(emptyFixture(), { intercept }));
    }
  const lists = await Promise.all(LISTS.map((list) => byKey.get(`${list}?limit=1000`)));
  const imported = JSON.stringify(lists.map(dataOf));
  const printed = runs.map(({ out, err }) => out + err).join("\n");
  const irregular = runs.filter((run) => !isOrderly(run));
  return {
    claim:
      "regardless of what a source contains, an import ends without a stack trace, and neither token nor key is printed or stored in the ledger",
    held: importer.countSecrets(printed) + importer.countSecrets(imported) === 0 && irregular.length === 0,
    figure: `${runs.length} imports of ${(printed.match(/^created /gm) ?? []).length} records; ${importer.countSecrets(printed)} secrets printed and ${importer.countSecrets(imported)} imported, ${printed.split("[hidden]").length - 1} masked; ${irregular.length} stack traces${irregular.length === 0 ? "" : `: ${irregular[0]?.err.slice(0, 300)}`}`,
  };
}

async function proveProxies(importer: Importer): Promise<Finding> {
  const proxy = openProxy();
  try {
    const env = Object.fromEntries(PROXY_VARIABLES.map((name) => [name, proxy.url]));
    const netbox = serveNetbox(emptyFixture(), { token: TOKEN });
    const { port } = new URL(netbox.url);
    const here = [`http://127.0.0.1:${port}`, `http://localhost:${port}`];
    const direct = [];
    for (const source of here) direct.push((await importer.run([source, "--dry-run"], env)).code);
    await netbox.stop();
    const unpermitted = (await importer.run(["http://192.0.2.7"], env)).code;
    const excepted = { ...env, NO_PROXY: "192.0.2.7" };
    const viaNoProxy = (await importer.run(["http://192.0.2.7", "--plain-http"], excepted)).code;
    const before = proxy.received();
    await importer.run(["https://netbox.example.com"], env);
    const tunnelled = proxy.received();
    return {
      claim:
        "an import connects to this machine directly under any proxy variables, sends plain text through a proxy only if permitted, and over TLS reveals no secret to it",
      held:
        direct.every((code) => code === 0) &&
        unpermitted === 2 &&
        viaNoProxy === 1 &&
        before === "" &&
        tunnelled.startsWith("CONNECT netbox.example.com:443 ") &&
        importer.countSecrets(tunnelled) === 0,
      figure: `${PROXY_VARIABLES.length} variables set; ${here.length} imports of this machine ended with ${direct.join(", ")}, plain HTTP without permission with ${unpermitted}; the proxy received ${before.length} bytes, and for TLS ${JSON.stringify(tunnelled.split("\r\n")[0])}`,
    };
  } finally {
    await proxy.stop();
  }
}

async function proveBounds(importer: Importer, random: SeededRandom): Promise<Finding> {
  const page = (results: readonly object[], count = 1_000_000) => Response.json({ count, next: "more", results });
  let first = 0;
  const cases: ReadonlyArray<readonly [string, () => Response]> = [
    ["brackets", () => new Response("[".repeat(65 + random.integer(100)))],
    ["nested objects", () => new Response(`{"results":${'{"a":'.repeat(64)}0${"}".repeat(65)}`)],
    ["too many arrays", () => new Response(`[${"[],".repeat(1_000_000)}[]]`)],
    ["the same page", () => page([{ id: 7, name: "again" }])],
    ["pages in a ring", () => page([{ id: 1 + (first++ % (3 + random.integer(5))), name: "ring" }])],
    ["more than requested", () => page(Array.from({ length: 1_001 }, (_, id) => ({ id: 1 + id, name: `${id}` })))],
    ["an endless count", () => page([{ id: 1, name: "one" }], 2 ** 53 - 1)],
  ];
  const wrong: string[] = [];
  for (const [name, respond] of cases) {
    first = 0;
    const run = await importer.runFrom(emptyFixture(), {
      intercept: (path) => (path === "/api/extras/tags/" ? respond() : null),
    });
    if (run.code !== 1 || !isOrderly(run) || run.err.trimEnd().includes("\n")) wrong.push(`${name}: ${run.err}`);
  }
  return findingOf(
    "an import from a source that nests too deep, is oversized, repetitive or endless ends with a one-line error",
    wrong,
    cases.map(([name]) => name).join(", "),
    wrong.join("; ").slice(0, 500),
  );
}
