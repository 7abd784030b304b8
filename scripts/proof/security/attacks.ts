// Attempts of a user with some rights to gain more, or to keep the appliance busy: credential assignments, foreign
// addresses, path traversal, prototype pollution, formulas, texts with catastrophic regular expression matching.

import { mkdirSync } from "node:fs";
import { parseCsv } from "../../../test/support/contract/csv.ts";
import { processorMsOf } from "../../testing/processes.ts";
import type { Finding, Proving } from "../part.ts";
import { headerOf, type RawAnswer } from "./raw-client.ts";
import { median, quantile } from "./samples.ts";
import {
  dataOf,
  type Json,
  MEMBER_EMAIL,
  OWNER_EMAIL,
  OWNER_PASSWORD,
  PERSON_PASSWORD,
  type People,
  populate,
  Stage,
} from "./stage.ts";

/** Limit for every crafted request, or this multiple of the usual duration: an allowance for a busy machine. */
const PROMPT_MS = 1_500;
const PROMPT_TIMES = 100;

export async function proveAttacks(proving: Proving): Promise<Finding[]> {
  const stage = new Stage(proving, "attacks");
  const secrets = stage.path("secrets");
  mkdirSync(secrets);
  // A listener on loopback that records its visitors.
  const guests: string[] = [];
  const service = Bun.listen({
    hostname: "127.0.0.1",
    port: 0,
    socket: { data: () => {}, open: (socket) => void guests.push(socket.remoteAddress) },
  });
  try {
    const people = await populate(stage, [
      "--secrets-folder",
      secrets,
      "--scan-tcp-ports",
      String(service.port),
      "--snmp-port",
      "9",
    ]);
    const [owner, member] = [
      await stage.cookieOf(OWNER_EMAIL, OWNER_PASSWORD),
      await stage.cookieOf(MEMBER_EMAIL, PERSON_PASSWORD),
    ];
    return [
      await credentials(stage, people, owner, member),
      await targets(stage, people, owner, member, guests),
      await paths(stage, people, owner),
      await pollution(stage, people, owner),
      await formulas(stage, people, owner),
      await expressions(stage, people, owner),
    ];
  } finally {
    service.stop(true);
    await stage.close();
  }
}

async function credentials(
  stage: Stage,
  people: People,
  owner: [string, string],
  member: [string, string],
): Promise<Finding> {
  const body = {
    organization_id: people.organizationId,
    name: "c",
    credential_type: { type: "SnmpV2c", community: { mode: "Inline", value: "a community" } },
    assigned_network_ids: [],
    host_assignments: [],
    tags: [],
  };
  const credential = dataOf(await stage.send("POST", "/api/v1/credentials", body, [owner]));
  const host = dataOf(
    await stage.send("POST", "/api/v1/hosts", { name: "own laptop", network_id: people.networkId }, [member]),
  );
  const assigned = [{ credential_id: credential.id }];
  const tries = await Promise.all([
    stage.send("PUT", `/api/v1/hosts/${host.id}`, { ...host, credential_assignments: assigned }, [member]),
    stage.send(
      "POST",
      "/api/v1/hosts",
      { name: "another", network_id: people.networkId, credential_assignments: assigned },
      [member],
    ),
    stage.send(
      "POST",
      "/api/v1/hosts/bulk",
      { hosts: [{ name: "a third", network_id: people.networkId, credential_assignments: assigned }] },
      [member],
    ),
    stage.send(
      "POST",
      "/api/v1/hosts/bulk",
      [{ name: "a third", network_id: people.networkId, credential_assignments: assigned }],
      [member],
    ),
    stage.send(
      "PUT",
      `/api/v1/credentials/${credential.id}`,
      { ...credential, assigned_network_ids: [people.networkId] },
      [member],
    ),
    stage.send("PUT", `/api/v1/credentials/${credential.id}`, { ...credential, target_ips: ["127.0.0.1"] }, [member]),
    stage.send("POST", "/api/v1/credentials", body, [member]),
    stage.send("DELETE", `/api/v1/credentials/${credential.id}`, undefined, [member]),
  ]);
  const now = dataOf(await stage.send("GET", `/api/v1/credentials/${credential.id}`, undefined, [owner]));
  return {
    claim: "a Member cannot assign a credential by any operation",
    held:
      tries.every(({ status }) => status === 403 || status === 400) &&
      tries[0]?.status === 403 &&
      tries[1]?.status === 403 &&
      now.updated_at === credential.updated_at,
    figure: tries.map(({ status }) => status).join(", "),
  };
}

/** A Member's scans probe no address of this machine itself, however the network is described. */
async function targets(
  stage: Stage,
  people: People,
  owner: [string, string],
  member: [string, string],
  guests: readonly string[],
): Promise<Finding> {
  const refused: number[] = [];
  const askedFor = async (target: string): Promise<number> =>
    (
      await stage.send(
        "POST",
        "/api/v1/discovery/scans",
        { network_id: people.networkId, kind: "full", targets: [target] },
        [member],
      )
    ).status;
  for (const target of [
    "127.0.0.1",
    "169.254.169.254",
    "10.0.0.1",
    "::1",
    "::ffff:127.0.0.1",
    "0.0.0.0",
    "fd00:ec2::254",
  ])
    refused.push(await askedFor(target));
  refused.push(
    (
      await stage.send(
        "POST",
        "/api/v1/discovery/schedules",
        {
          network_id: people.networkId,
          name: "s",
          cron: "* * * * *",
          kind: "full",
          targets: ["127.0.0.1"],
          timezone: "UTC",
        },
        [member],
      )
    ).status,
  );
  const subnets: number[] = [];
  for (const cidr of ["127.0.0.0/30", "127.0.0.1/32", "::1/128", "0.0.0.0/30"]) {
    for (const subnet_type of ["Lan"])
      subnets.push(
        (
          await stage.send(
            "POST",
            "/api/v1/subnets",
            { network_id: people.networkId, cidr, name: cidr, subnet_type, tags: [] },
            [member],
          )
        ).status,
      );
  }
  // Not even if a subnet claims that they belong to the network.
  for (const target of ["127.0.0.1", "127.0.0.0/30", "::1"]) refused.push(await askedFor(target));
  const scanned = async (fields: Json, by: [string, string]): Promise<string> => {
    const { id } = dataOf(
      await stage.send("POST", "/api/v1/discovery/scans", { network_id: people.networkId, kind: "full", ...fields }, [
        by,
      ]),
    );
    // The scan's end closes its event stream.
    await stage.send("GET", `/api/v1/discovery/scans/${id}/events`, undefined, [by, ["Accept", "text/event-stream"]]);
    return dataOf(await stage.send("GET", `/api/v1/discovery/scans/${id}`, undefined, [by])).status;
  };
  const ended = await scanned({}, member);
  const guestsOfMember = guests.length;
  // A caller who may name the target reaches it, which proves that there is a listener.
  const endedOfOwner = await scanned({ targets: ["127.0.0.1"] }, owner);
  return {
    claim:
      "a Member cannot name targets outside the network's subnets, and subnets of loopback addresses never make the appliance probe its own machine",
    held:
      refused.every((status) => status === 403 || status === 400) &&
      // These two are not host addresses: refused for every caller.
      refused.every((status, at) => status === 403 || at === 4 || at === 5) &&
      guestsOfMember === 0 &&
      guests.length > 0 &&
      ended === "Completed" &&
      endedOfOwner === "Completed",
    figure: `targets ${refused.join(", ")}; subnets ${subnets.join(", ")}; the scan is ${ended}, and ${guestsOfMember} connections came to loopback; by the Owner who names it ${guests.length - guestsOfMember}`,
  };
}

async function paths(stage: Stage, people: People, owner: [string, string]): Promise<Finding> {
  const statuses: number[] = [];
  for (const path of [
    "../outside",
    "/etc/passwd",
    "a/../../outside",
    "..",
    "a\u0000b",
    "./../outside",
    "/",
    "//etc/passwd",
  ]) {
    const body = {
      organization_id: people.organizationId,
      name: path.replaceAll("\0", ""),
      credential_type: { type: "SnmpV2c", community: { mode: "FilePath", path } },
      assigned_network_ids: [],
      host_assignments: [],
      tags: [],
    };
    statuses.push((await stage.send("POST", "/api/v1/credentials", body, [owner])).status);
  }
  const backups: RawAnswer[] = [];
  for (const name of [
    "..%2f..%2fnetledger.db",
    "%2e%2e%2fnetledger.key",
    "..%5cnetledger.key",
    "netledger.key",
    "%00",
    "..%2f..%2f..%2fetc%2fpasswd",
    "netledger-20260101T000000000Z.db%00",
  ]) {
    backups.push(await stage.send("GET", `/api/v1/backups/${name}`, undefined, [owner]));
    backups.push(await stage.ask({ path: `/docs/${name}` }));
    backups.push(await stage.ask({ path: `/../../${name}` }));
  }
  return {
    claim: "no path leads out of the folders of secrets and backups, and no URL to a file",
    held:
      statuses.every((status) => status === 400) &&
      backups.every(({ status, text }) => status >= 400 && status < 500 && !text.includes("root:")),
    figure: `secret files ${statuses.join(", ")}; backups and URLs ${[...new Set(backups.map(({ status }) => status))].join(", ")}`,
  };
}

async function pollution(stage: Stage, people: People, owner: [string, string]): Promise<Finding> {
  const poison = [
    '"__proto__":{"role":"Owner","is_enabled":true,"polluted":"yes"}',
    '"constructor":{"prototype":{"polluted":"yes"}}',
    '"toString":"x"',
    '"hasOwnProperty":1',
    '"__proto__":null',
  ];
  const answers: RawAnswer[] = [];
  for (const each of poison) {
    for (const [method, path, rest] of [
      ["POST", "/api/v1/tags", `"name":"t","color":"Red"`],
      ["POST", "/api/v1/hosts", `"name":"h","network_id":"${people.networkId}"`],
      ["POST", "/api/v1/hosts/bulk", `"hosts":[{${each}}]`],
      ["POST", "/api/auth/login", `"email":"${OWNER_EMAIL}","password":"x"`],
      [
        "POST",
        "/api/v1/credentials",
        `"organization_id":"${people.organizationId}","name":"c","credential_type":{${each},"type":"SnmpV1","community":{"mode":"Inline","value":"x"}},"assigned_network_ids":[],"host_assignments":[],"tags":[]`,
      ],
    ] as const)
      answers.push(await stage.send(method, path, `{${each},${rest}}`, [owner], `127.230.${answers.length}.1`));
  }
  for (const name of [
    "__proto__",
    "constructor",
    "toString",
    "__proto__[polluted]",
    "constructor.prototype.polluted",
    "limit[__proto__]",
  ]) {
    answers.push(await stage.send("GET", `/api/v1/hosts?${encodeURIComponent(name)}=1`, undefined, [owner]));
    for (const parameter of ["order_by", "group_by", "types"])
      answers.push(
        await stage.send(
          "GET",
          `/api/v1/${parameter === "types" ? "diff?from=2020-01-01T00:00:00Z&" : "hosts?"}${parameter}=${encodeURIComponent(name)}`,
          undefined,
          [owner],
        ),
      );
  }
  const sound = await stage.send("POST", "/api/v1/tags", { name: "sound", color: "Red" }, [owner]);
  const health = await stage.send("GET", "/api/health", undefined);
  return {
    claim: "names like __proto__ and constructor in bodies and queries are unknown fields, and pollute nothing",
    held:
      answers.every(({ status }) => status === 400 || status === 429 || status === 415) &&
      sound.status === 200 &&
      !sound.text.includes("polluted") &&
      !health.text.includes("polluted"),
    figure: `${answers.length} requests: ${[...new Set(answers.map(({ status }) => status))].join(", ")}; others are answered as ever (${sound.status})`,
  };
}

const FORMULAS = [
  "=1+1",
  "+1+1",
  "-1+1",
  "@SUM(A1)",
  "\t=1+1",
  "\r=1+1",
  "\n=1+1",
  " =1+1",
  "\u00a0=1+1",
  "\uff1d1+1",
  "\uff20x",
  "a;=1+1",
  "=cmd|' /C calc'!A0",
  '"=1+1',
  "\u200b=1+1",
  "\ufeff=1+1",
  ";=1+1",
  "%0A=1",
  "|=1+1",
  ",=1+1",
  "'=1+1",
  "--1",
  "\u2212 1",
  "=\u202e1",
];

async function formulas(stage: Stage, people: People, owner: [string, string]): Promise<Finding> {
  for (const [n, formula] of FORMULAS.entries()) {
    const name = `f${n}`;
    await stage.send(
      "POST",
      "/api/v1/hosts",
      { name, network_id: people.networkId, description: formula, sys_location: formula, hidden: false },
      [owner],
    );
    await stage.send("POST", "/api/v1/hosts", { name: formula, network_id: people.networkId }, [owner]);
    await stage.send("POST", "/api/v1/tags", { name: formula, color: "Red", description: formula }, [owner]);
    await stage.send(
      "POST",
      "/api/v1/subnets",
      {
        network_id: people.networkId,
        cidr: `10.${n}.0.0/16`,
        name: formula,
        subnet_type: "Lan",
        tags: [],
        description: formula,
      },
      [owner],
    );
  }
  const cells: string[] = [];
  for (const kind of ["hosts", "tags", "subnets"]) {
    const answer = await stage.send("GET", `/api/v1/${kind}/export/csv`, undefined, [owner]);
    if (!(headerOf(answer, "content-type") ?? "").startsWith("text/csv")) throw new Error(answer.text);
    cells.push(...parseCsv(answer.text).flat());
  }
  // A cell as seen by a spreadsheet: blanks, invisible characters and text separated by semicolons do not count.
  const runs = (cell: string) =>
    cell.split(/[;\t\r\n]/).some((part) => /^[\s\p{Cc}\p{Cf}]*[=+\-@\uff1d\uff0b\uff0d\uff20]/u.test(part));
  const dangerous = cells.filter(runs);
  return {
    claim: "no cell of an export is a formula to a spreadsheet, whatever precedes it",
    held: dangerous.length === 0 && cells.length > FORMULAS.length * 3,
    figure: `${cells.length} cells of ${FORMULAS.length} formulas in names, descriptions and locations; ${dangerous.length} would run${dangerous.length === 0 ? "" : `: ${JSON.stringify(dangerous.slice(0, 4))}`}`,
  };
}

/** Texts that make backtracking expressions take exponential time, in all text fields. */
async function expressions(stage: Stage, people: People, owner: [string, string]): Promise<Finding> {
  const size = 100_000;
  const evil = [
    "a",
    " ",
    "0",
    "-",
    ".",
    ":",
    "1.",
    "::",
    "a@",
    "\\",
    "%",
    "/",
    "=",
    "e\u0301",
    "\u0130",
    "a b",
    "<",
    "nlk_",
    ";\t",
    "aaaa:",
  ].map((piece) => piece.repeat(Math.ceil(size / piece.length)).slice(0, size));
  const times: Array<{ what: string; tookMs: number; status: number }> = [];
  // Processor time of the appliance: wall time also includes a disk kept busy by other programs.
  const look = async (what: string, asked: Promise<RawAnswer>) => {
    const beforeMs = processorMsOf(stage.running.pid);
    const { status } = await asked;
    times.push({ what, tookMs: processorMsOf(stage.running.pid) - beforeMs, status });
  };
  for (const text of evil) {
    const short = text.slice(0, 250);
    const query = encodeURIComponent(text.slice(0, 20_000)).slice(0, 60_000).replace(/%.?$/, "");
    await look(
      `a host of ${text.slice(0, 4)}`,
      stage.send(
        "POST",
        "/api/v1/hosts",
        {
          name: short,
          network_id: people.networkId,
          description: text.slice(0, 4_000),
          management_url: text,
          sys_descr: text.slice(0, 4_000),
        },
        [owner],
      ),
    );
    await look(
      `formats of ${text.slice(0, 4)}`,
      stage.send(
        "POST",
        "/api/v1/subnets",
        { network_id: text, cidr: `${text}!`, name: text, subnet_type: text, tags: [text] },
        [owner],
      ),
    );
    await look(
      `addresses of ${text.slice(0, 4)}`,
      stage.send("POST", "/api/v1/ip-addresses", { host_id: text, ip_address: `1${text}`, mac_address: `0${text}!` }, [
        owner,
      ]),
    );
    await look(
      `sign-in of ${text.slice(0, 4)}`,
      stage.send("POST", "/api/auth/login", { email: `a@${text.slice(0, 14_000)}!`, password: "x" }),
    );
    await look(
      `a schedule of ${text.slice(0, 4)}`,
      stage.send(
        "POST",
        "/api/v1/discovery/schedules",
        {
          network_id: people.networkId,
          name: "s",
          cron: `* ${text}`,
          timezone: `A${text}`,
          kind: "full",
          targets: [`${text}!`],
        },
        [owner],
      ),
    );
    for (const path of [
      `/api/v1/hosts?search=${query}`,
      `/api/v1/hosts?at=${query}`,
      `/api/v1/hosts?ids=${query}`,
      `/api/v1/diff?from=-${query}`,
      `/api/v1/locate?hostname=${query}`,
      `/api/v1/locate?mac=${query}`,
      `/api/v1/hosts?${query}`,
      `/${query}`,
    ])
      await look(path.slice(0, 40), stage.ask({ path, headers: [owner] }));
    const header = text.slice(0, 30_000).replace(/[^\x20-\x7e]/g, "x");
    await look(
      `headers of ${text.slice(0, 4)}`,
      stage.ask({
        path: "/api/v1/hosts",
        headers: [
          ["Authorization", `Bearer ${header}`],
          ["X-Request-Id", header],
        ],
      }),
    );
    await look(
      `cookies of ${text.slice(0, 4)}`,
      stage.ask({
        path: "/api/v1/hosts",
        headers: [
          ["Cookie", header],
          ["If-None-Match", header],
          ["Accept", header],
          ["Accept-Encoding", header],
        ],
      }),
    );
    await look(
      `origins of ${text.slice(0, 4)}`,
      stage.ask({
        method: "POST",
        path: "/api/auth/logout",
        headers: [owner, ["Origin", `http://${header}`], ["Content-Type", header]],
      }),
    );
  }
  for (const cron of ["0 0 30 2 *", "0 0 29 2 1", "59 23 31 12 7", "0-59/1,0-59/1,0-59/1 * * * *", "0 0 31 4,6,9,11 *"])
    await look(
      `cron ${cron}`,
      stage.send(
        "POST",
        "/api/v1/discovery/schedules",
        { network_id: people.networkId, name: cron, cron, timezone: "Africa/Monrovia", kind: "full" } satisfies Json,
        [owner],
      ),
    );
  const slowest = [...times].sort((a, b) => b.tookMs - a.tookMs)[0];
  const failed = times.filter(({ status }) => status >= 500);
  return {
    claim: `no text causes excessive computation: each of ${times.length} crafted requests costs at most ${PROMPT_MS} ms of processor time, or ${PROMPT_TIMES} times the cost of half of them`,
    held:
      (slowest?.tookMs ?? 0) <= Math.max(PROMPT_MS, PROMPT_TIMES * median(times.map(({ tookMs }) => tookMs))) &&
      failed.length === 0 &&
      times.length > 200,
    figure: `the slowest ${slowest?.tookMs.toFixed(0)} ms (${JSON.stringify(slowest?.what)}), median ${median(times.map(({ tookMs }) => tookMs)).toFixed(1)} ms, p99 ${quantile(
      times.map(({ tookMs }) => tookMs),
      0.99,
    ).toFixed(0)} ms${failed.length === 0 ? "" : `; ${failed.length} failed: ${failed[0]?.what} ${failed[0]?.status}`}`,
  };
}
