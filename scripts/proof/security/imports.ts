// Malicious sources of imports: token and key in a log or in the ledger, requests through a foreign proxy, endless
// imports, stack traces. The sources are random.

import { type Finished, finished, spawnPiped } from "../../../test/support/executable/executable.ts";
import {
  emptyWorld,
  type FakeNetboxOptions,
  type NetboxWorld,
  serveNetbox,
} from "../../../test/support/imports/fake-netbox.ts";
import { openProxy, PROXY_VARIABLES } from "../../../test/support/imports/proxy.ts";
import { randomNetbox } from "../../../test/support/imports/random-netbox.ts";
import { type SeededRandom, seededRandom } from "../../../test/support/injected/seeded-random.ts";
import type { Finding, Proving } from "../part.ts";
import { dataOf, populate, Stage } from "./stage.ts";

const SOURCES: Readonly<Record<Proving["form"], number>> = { short: 2, long: 20 };
const TOKEN = "5ca1ab1e0ddba11c0ffee0facade0fee1deadbea7";
/** Lists of the records that an import creates. */
const LISTS = ["tags", "networks", "vlans", "subnets", "hosts", "ip-ranges", "custom-fields"];

export async function proveImports(proving: Proving): Promise<Finding[]> {
  const stage = new Stage(proving, "imports");
  try {
    const { key, keyText } = await populate(stage);
    const importer = new Importer(stage, keyText);
    const random = seededRandom(proving.seed);
    return [await repeating(importer, random, key), await throughProxies(importer), await goingOn(importer, random)];
  } finally {
    await stage.close();
  }
}

class Importer {
  readonly stage: Stage;
  readonly secrets: readonly string[];
  private readonly env: Record<string, string>;

  constructor(stage: Stage, key: string) {
    this.stage = stage;
    this.secrets = [TOKEN, key];
    this.env = { NETLEDGER_TOKEN: TOKEN, NETLEDGER_KEY: key, NETLEDGER_SERVER: `http://127.0.0.1:${stage.port}` };
  }

  run(args: readonly string[], env: Record<string, string> = {}): Promise<Finished> {
    const child = spawnPiped([this.stage.proving.executable, "import", "netbox", ...args], { ...this.env, ...env });
    child.stdin.end();
    return finished(child, "netledger import netbox");
  }

  /** Imports from a NetBox that runs for the duration. */
  async of(world: NetboxWorld, options: FakeNetboxOptions = {}, args: readonly string[] = []): Promise<Finished> {
    const netbox = serveNetbox(world, { token: TOKEN, ...options });
    try {
      return await this.run([netbox.url, "--verbose", "--default-network", "Rest", ...args]);
    } finally {
      await netbox.stop();
    }
  }

  /** Number of secrets in a text, in any case. */
  found(text: string): number {
    const lower = text.toLowerCase();
    return this.secrets.reduce((count, secret) => count + lower.split(secret.toLowerCase()).length - 1, 0);
  }
}

/** Exits normally, without a stack trace. */
function isOrderly({ code, err }: Finished): boolean {
  return (code === 0 || code === 1) && !/^\s+at /m.test(err);
}

async function repeating(importer: Importer, random: SeededRandom, key: readonly [string, string]): Promise<Finding> {
  const { stage, secrets } = importer;
  const members = Object.getOwnPropertyNames(Object.prototype);
  const says = secrets.flatMap((secret) => [secret, `a ${secret.toUpperCase()}`, `${"x".repeat(190)}${secret}`]);
  const runs: Finished[] = [];
  for (let source = 0; source < SOURCES[stage.proving.form]; source += 1)
    runs.push(await importer.of(randomNetbox(random, [...says, ...members])));
  for (const status of [400, 401, 403, 404, 500])
    for (const says of secrets)
      runs.push(
        await importer.of(emptyWorld(), {
          intercept: () =>
            Response.json({ detail: says }, { status, headers: { "content-type": `application/json; of=${says}` } }),
        }),
      );
  const lists = await Promise.all(
    LISTS.map((list) => stage.send("GET", `/api/v1/${list}?limit=1000`, undefined, [key])),
  );
  const brought = JSON.stringify(lists.map(dataOf));
  const printed = runs.map(({ out, err }) => out + err).join("\n");
  const disorderly = runs.filter((run) => !isOrderly(run));
  return {
    claim:
      "whatever objects are named in a source, an import ends without a stack trace, and neither token nor key is printed or stored in the ledger",
    held: importer.found(printed) + importer.found(brought) === 0 && disorderly.length === 0,
    figure: `${runs.length} imports of ${(printed.match(/^created /gm) ?? []).length} records; ${importer.found(printed)} secrets printed and ${importer.found(brought)} brought, ${printed.split("[hidden]").length - 1} masked; ${disorderly.length} stack traces${disorderly.length === 0 ? "" : `: ${disorderly[0]?.err.slice(0, 300)}`}`,
  };
}

async function throughProxies(importer: Importer): Promise<Finding> {
  const proxy = openProxy();
  try {
    const env = Object.fromEntries(PROXY_VARIABLES.map((name) => [name, proxy.url]));
    const netbox = serveNetbox(emptyWorld(), { token: TOKEN });
    const { port } = new URL(netbox.url);
    const here = [`http://127.0.0.1:${port}`, `http://localhost:${port}`];
    const direct = [];
    for (const source of here) direct.push((await importer.run([source, "--dry-run"], env)).code);
    await netbox.stop();
    const unpermitted = (await importer.run(["http://192.0.2.7"], env)).code;
    const excepted = (await importer.run(["http://192.0.2.7", "--plain-http"], { ...env, NO_PROXY: "192.0.2.7" })).code;
    const before = proxy.received();
    await importer.run(["https://netbox.example.com"], env);
    const tunnelled = proxy.received();
    return {
      claim:
        "an import connects to this machine directly under any proxy variables, sends plain text through a proxy only if permitted, and over TLS reveals no secret to it",
      held:
        direct.every((code) => code === 0) &&
        unpermitted === 2 &&
        excepted === 1 &&
        before === "" &&
        tunnelled.startsWith("CONNECT netbox.example.com:443 ") &&
        importer.found(tunnelled) === 0,
      figure: `${PROXY_VARIABLES.length} variables set; ${here.length} imports of this machine ended with ${direct.join(", ")}, plain HTTP without permission with ${unpermitted}; the proxy received ${before.length} bytes, and of TLS ${JSON.stringify(tunnelled.split("\r\n")[0])}`,
    };
  } finally {
    await proxy.stop();
  }
}

async function goingOn(importer: Importer, random: SeededRandom): Promise<Finding> {
  const page = (results: readonly object[], count = 1_000_000) => Response.json({ count, next: "more", results });
  let first = 0;
  const answers: ReadonlyArray<readonly [string, () => Response]> = [
    ["brackets", () => new Response("[".repeat(65 + random.integer(100)))],
    ["objects in each other", () => new Response(`{"results":${'{"a":'.repeat(64)}0${"}".repeat(65)}`)],
    ["too many arrays", () => new Response(`[${"[],".repeat(1_000_000)}[]]`)],
    ["the same page", () => page([{ id: 7, name: "again" }])],
    ["pages in a ring", () => page([{ id: 1 + (first++ % (3 + random.integer(5))), name: "ring" }])],
    ["more than was asked for", () => page(Array.from({ length: 1_001 }, (_, id) => ({ id: 1 + id, name: `${id}` })))],
    ["a count without end", () => page([{ id: 1, name: "one" }], 2 ** 53 - 1)],
  ];
  const seen: string[] = [];
  const wrong: string[] = [];
  for (const [what, answer] of answers) {
    first = 0;
    const run = await importer.of(emptyWorld(), {
      intercept: (path) => (path === "/api/extras/tags/" ? answer() : null),
    });
    seen.push(what);
    if (run.code !== 1 || !isOrderly(run) || run.err.trimEnd().includes("\n")) wrong.push(`${what}: ${run.err}`);
  }
  return {
    claim: "an import from a source that nests too deep, is oversized, repetitive or endless ends in one line",
    held: wrong.length === 0,
    figure: wrong.length === 0 ? seen.join(", ") : wrong.join("; ").slice(0, 500),
  };
}
