// Attacks by a user with some permissions, to gain more or to keep the appliance busy: credential assignments, foreign
// addresses, path traversal, prototype pollution, formulas, strings that make regular expressions backtrack.

import { mkdirSync } from "node:fs";
import { parseCsv } from "../../../test/support/contract/csv.ts";
import { communityCredential } from "../../benchmark/requests.ts";
import { processorMsOf } from "../../testing/processes.ts";
import type { Finding, ProofContext } from "../part.ts";
import { texts } from "../string-list.ts";
import { type Header, headerOf, type RawResponse } from "./raw-client.ts";
import { median, quantile } from "./samples.ts";
import { bearer, type Caller, dataOf, type Json, OWNER_EMAIL, type People, populate, Testbed } from "./testbed.ts";

/** Limit for crafted requests; on a busy machine, a multiple of the usual duration applies instead. */
const PROMPT_MS = 1_500;
const PROMPT_FACTOR = 100;

export async function proveAttacks(context: ProofContext): Promise<Finding[]> {
  const testbed = new Testbed(context, "attacks");
  const secrets = testbed.path("secrets");
  mkdirSync(secrets);
  // A listener on loopback that records its clients.
  const visitors: string[] = [];
  const service = Bun.listen({
    hostname: "127.0.0.1",
    port: 0,
    socket: { data: () => {}, open: (socket) => void visitors.push(socket.remoteAddress) },
  });
  try {
    const args = ["--secrets-folder", secrets, "--scan-tcp-ports", String(service.port), "--snmp-port", "9"];
    const people = await populate(testbed, args);
    const owner = await testbed.asOwner();
    const member = await testbed.asMember();
    return [
      await testCredentials(people, owner, member),
      await testTargets(people, owner, member, visitors),
      await testPaths(testbed, people, owner),
      await testPollution(testbed, people, owner),
      await testFormulas(people, owner),
      await testExpressions(testbed, people, owner),
    ];
  } finally {
    service.stop(true);
    await testbed.close();
  }
}

async function testCredentials(
  { organizationId, networkId: network_id }: People,
  owner: Caller,
  member: Caller,
): Promise<Finding> {
  const body = communityCredential(organizationId, "c", "a community");
  const credential = dataOf(await owner.post("credentials", body));
  const host = dataOf(await member.post("hosts", { name: "own laptop", network_id }));
  const credential_assignments = [{ credential_id: credential.id }];
  const third = { name: "a third", network_id, credential_assignments };
  const path = `credentials/${credential.id}`;
  const attempts = await Promise.all([
    member.put(`hosts/${host.id}`, { ...host, credential_assignments }),
    member.post("hosts", { name: "another", network_id, credential_assignments }),
    member.post("hosts/bulk", { hosts: [third] }),
    member.post("hosts/bulk", [third]),
    member.put(path, { ...credential, assigned_network_ids: [network_id] }),
    member.put(path, { ...credential, target_ips: ["127.0.0.1"] }),
    member.post("credentials", body),
    member.delete(path),
  ]);
  const after = dataOf(await owner.get(path));
  return {
    claim: "a Member cannot assign a credential by any operation",
    held:
      attempts.every(({ status }) => status === 403 || status === 400) &&
      attempts[0]?.status === 403 &&
      attempts[1]?.status === 403 &&
      after.updated_at === credential.updated_at,
    figure: attempts.map(({ status }) => status).join(", "),
  };
}

/** Checks that a Member's scans never probe this machine, regardless of the network's subnets. */
async function testTargets(
  { networkId: network_id }: People,
  owner: Caller,
  member: Caller,
  visitors: readonly string[],
): Promise<Finding> {
  const refused: number[] = [];
  const requestScan = async (target: string) => {
    const { status } = await member.post("discovery/scans", { network_id, kind: "full", targets: [target] });
    refused.push(status);
  };
  for (const target of texts(`127.0.0.1 ¦ 169.254.169.254 ¦ 10.0.0.1 ¦ ::1 ¦ ::ffff:127.0.0.1 ¦ 0.0.0.0 ¦
  fd00:ec2::254`))
    await requestScan(target);
  const schedule = { network_id, name: "s", cron: "* * * * *", kind: "full", targets: ["127.0.0.1"], timezone: "UTC" };
  refused.push((await member.post("discovery/schedules", schedule)).status);
  const subnets: number[] = [];
  for (const cidr of ["127.0.0.0/30", "127.0.0.1/32", "::1/128", "0.0.0.0/30"]) {
    const subnet = { network_id, cidr, name: cidr, subnet_type: "Lan", tags: [] };
    subnets.push((await member.post("subnets", subnet)).status);
  }
  // These are refused even if a subnet claims them for the network.
  for (const target of ["127.0.0.1", "127.0.0.0/30", "::1"]) await requestScan(target);
  const runScan = async (fields: Json, caller: Caller): Promise<string> => {
    const { id } = dataOf(await caller.post("discovery/scans", { network_id, kind: "full", ...fields }));
    // The event stream closes when the scan ends.
    await caller.get(`discovery/scans/${id}/events`, ["Accept", "text/event-stream"]);
    return dataOf(await caller.get(`discovery/scans/${id}`)).status;
  };
  const memberScan = await runScan({}, member);
  const memberVisits = visitors.length;
  // A caller allowed to name the target reaches it, which proves that the listener works.
  const ownerScan = await runScan({ targets: ["127.0.0.1"] }, owner);
  return {
    claim:
      "a Member cannot name targets outside the network's subnets, and subnets of loopback addresses never make the appliance probe its own machine",
    held:
      refused.every((status) => status === 403 || status === 400) &&
      // Two of them are not host addresses: they are refused for every caller.
      refused.every((status, index) => status === 403 || index === 4 || index === 5) &&
      memberVisits === 0 &&
      visitors.length > 0 &&
      memberScan === "Completed" &&
      ownerScan === "Completed",
    figure: `targets ${refused.join(", ")}; subnets ${subnets.join(", ")}; the Member's scan is ${memberScan} with ${memberVisits} connections to loopback; the Owner's scan made ${visitors.length - memberVisits}`,
  };
}

async function testPaths(testbed: Testbed, { organizationId }: People, owner: Caller): Promise<Finding> {
  const statuses: number[] = [];
  for (const path of texts(`../outside ¦ /etc/passwd ¦ a/../../outside ¦ .. ¦ a\u0000b ¦ ./../outside ¦ / ¦
  //etc/passwd`)) {
    const body = communityCredential(organizationId, path.replaceAll("\0", ""), "");
    const credential_type = { type: "SnmpV2c", community: { mode: "FilePath", path } };
    statuses.push((await owner.post("credentials", { ...body, credential_type })).status);
  }
  const backups: RawResponse[] = [];
  for (const name of texts(`..%2f..%2fnetledger.db ¦ %2e%2e%2fnetledger.key ¦ ..%5cnetledger.key ¦ netledger.key ¦ %00 ¦
  ..%2f..%2f..%2fetc%2fpasswd ¦ netledger-20260101T000000000Z.db%00`)) {
    backups.push(await owner.get(`backups/${name}`));
    backups.push(await testbed.request({ path: `/docs/${name}` }));
    backups.push(await testbed.request({ path: `/../../${name}` }));
  }
  return {
    claim: "no path leaves the directories of secrets and backups, and no URL reaches a file",
    held:
      statuses.every((status) => status === 400) &&
      backups.every(({ status, text }) => status >= 400 && status < 500 && !text.includes("root:")),
    figure: `secret files ${statuses.join(", ")}; backups and URLs ${[...new Set(backups.map(({ status }) => status))].join(", ")}`,
  };
}

async function testPollution(testbed: Testbed, people: People, owner: Caller): Promise<Finding> {
  const poison = [
    '"__proto__":{"role":"Owner","is_enabled":true,"polluted":"yes"}',
    '"constructor":{"prototype":{"polluted":"yes"}}',
    '"toString":"x"',
    '"hasOwnProperty":1',
    '"__proto__":null',
  ];
  const responses: RawResponse[] = [];
  for (const members of poison) {
    for (const [path, rest] of [
      ["/api/v1/tags", `"name":"t","color":"Red"`],
      ["/api/v1/hosts", `"name":"h","network_id":"${people.networkId}"`],
      ["/api/v1/hosts/bulk", `"hosts":[{${members}}]`],
      ["/api/auth/login", `"email":"${OWNER_EMAIL}","password":"x"`],
      [
        "/api/v1/credentials",
        `"organization_id":"${people.organizationId}","name":"c","credential_type":{${members},"type":"SnmpV1","community":{"mode":"Inline","value":"x"}},"assigned_network_ids":[],"host_assignments":[],"tags":[]`,
      ],
    ] as const) {
      const source = `127.230.${responses.length}.1`;
      responses.push(await testbed.send("POST", path, `{${members},${rest}}`, [owner.header], source));
    }
  }
  for (const name of texts(`__proto__ ¦ constructor ¦ toString ¦ __proto__[polluted] ¦ constructor.prototype.polluted ¦
  limit[__proto__]`)) {
    const value = encodeURIComponent(name);
    responses.push(
      await owner.get(`hosts?${value}=1`),
      await owner.get(`hosts?order_by=${value}`),
      await owner.get(`hosts?group_by=${value}`),
      await owner.get(`diff?from=2020-01-01T00:00:00Z&types=${value}`),
    );
  }
  const control = await owner.post("tags", { name: "control", color: "Red" });
  const health = await testbed.send("GET", "/api/health", undefined);
  return {
    claim: "names like __proto__ and constructor in bodies and queries are unknown fields, and pollute nothing",
    held:
      responses.every(({ status }) => status === 400 || status === 429 || status === 415) &&
      control.status === 200 &&
      !control.text.includes("polluted") &&
      !health.text.includes("polluted"),
    figure: `${responses.length} requests: ${[...new Set(responses.map(({ status }) => status))].join(", ")}; other requests still succeed (${control.status})`,
  };
}

const FORMULAS = texts(`=1+1 ¦ +1+1 ¦ -1+1 ¦ @SUM(A1) ¦ \t=1+1 ¦ \r=1+1 ¦ \n=1+1 ¦ \x20=1+1 ¦ \u00a0=1+1 ¦ \uff1d1+1 ¦
  \uff20x ¦ a;=1+1 ¦ =cmd|' /C calc'!A0 ¦ "=1+1 ¦ \u200b=1+1 ¦ \ufeff=1+1 ¦ ;=1+1 ¦ %0A=1 ¦ |=1+1 ¦ ,=1+1 ¦ '=1+1 ¦
  --1 ¦ \u2212 1 ¦ =\u202e1`);

async function testFormulas({ networkId: network_id }: People, owner: Caller): Promise<Finding> {
  for (const [n, formula] of FORMULAS.entries()) {
    const fields = { description: formula, sys_location: formula };
    await owner.post("hosts", { name: `f${n}`, network_id, ...fields, hidden: false });
    await owner.post("hosts", { name: formula, network_id });
    await owner.post("tags", { name: formula, color: "Red", description: formula });
    const subnet = { network_id, cidr: `10.${n}.0.0/16`, name: formula, subnet_type: "Lan", tags: [] };
    await owner.post("subnets", { ...subnet, description: formula });
  }
  const cells: string[] = [];
  for (const kind of ["hosts", "tags", "subnets"]) {
    const response = await owner.get(`${kind}/export/csv`);
    if (!(headerOf(response, "content-type") ?? "").startsWith("text/csv")) throw new Error(response.text);
    cells.push(...parseCsv(response.text).flat());
  }
  // Spreadsheets ignore white space and invisible characters, and some split cells at semicolons.
  const isFormula = (cell: string) =>
    cell.split(/[;\t\r\n]/).some((part) => /^[\s\p{Cc}\p{Cf}]*[=+\-@\uff1d\uff0b\uff0d\uff20]/u.test(part));
  const dangerous = cells.filter(isFormula);
  return {
    claim: "a spreadsheet takes no cell of an export for a formula, regardless of preceding characters",
    held: dangerous.length === 0 && cells.length > FORMULAS.length * 3,
    figure: `${cells.length} cells of ${FORMULAS.length} formulas in names, descriptions and locations; ${dangerous.length} dangerous${dangerous.length === 0 ? "" : `: ${JSON.stringify(dangerous.slice(0, 4))}`}`,
  };
}

/** Sends strings that make backtracking expressions take exponential time, in all text fields. */
async function testExpressions(testbed: Testbed, { networkId: network_id }: People, owner: Caller): Promise<Finding> {
  const size = 100_000;
  const pieces = texts(`a ¦ \x20 ¦ 0 ¦ - ¦ . ¦ : ¦ 1. ¦ :: ¦ a@ ¦ \\ ¦ % ¦ / ¦ = ¦ e\u0301 ¦ \u0130 ¦ a b ¦ < ¦ nlk_ ¦
  ;\t ¦ aaaa:`);
  const evil = pieces.map((piece) => piece.repeat(Math.ceil(size / piece.length)).slice(0, size));
  const times: Array<{ name: string; tookMs: number; status: number }> = [];
  // Measures the appliance's CPU time: wall time also includes a disk kept busy by other programs.
  const measure = async (name: string, pending: Promise<RawResponse>) => {
    const beforeMs = processorMsOf(testbed.running.pid);
    const { status } = await pending;
    times.push({ name, tookMs: processorMsOf(testbed.running.pid) - beforeMs, status });
  };
  for (const text of evil) {
    const [start, description] = [text.slice(0, 4), text.slice(0, 4_000)];
    const query = encodeURIComponent(text.slice(0, 20_000)).slice(0, 60_000).replace(/%.?$/, "");
    const host = { name: text.slice(0, 250), network_id, description, management_url: text, sys_descr: description };
    await measure(`a host of ${start}`, owner.post("hosts", host));
    const subnet = { network_id: text, cidr: `${text}!`, name: text, subnet_type: text, tags: [text] };
    await measure(`formats of ${start}`, owner.post("subnets", subnet));
    const address = { host_id: text, ip_address: `1${text}`, mac_address: `0${text}!` };
    await measure(`addresses of ${start}`, owner.post("ip-addresses", address));
    await measure(`sign-in of ${start}`, testbed.signIn(`a@${text.slice(0, 14_000)}!`, "x"));
    const [cron, timezone] = [`* ${text}`, `A${text}`];
    const schedule = { network_id, name: "s", cron, timezone, kind: "full", targets: [`${text}!`] };
    await measure(`a schedule of ${start}`, owner.post("discovery/schedules", schedule));
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
      await measure(path.slice(0, 40), owner.get(path));
    const header = text.slice(0, 30_000).replace(/[^\x20-\x7e]/g, "x");
    const path = "/api/v1/hosts";
    const identified: Header[] = [bearer(header), ["X-Request-Id", header]];
    await measure(`headers of ${start}`, testbed.request({ path, headers: identified }));
    const names = ["Cookie", "If-None-Match", "Accept", "Accept-Encoding"];
    const headers = names.map((name): Header => [name, header]);
    await measure(`cookies of ${start}`, testbed.request({ path, headers }));
    const origin: Header[] = [owner.header, ["Origin", `http://${header}`], ["Content-Type", header]];
    const signOut = testbed.request({ method: "POST", path: "/api/auth/logout", headers: origin });
    await measure(`origins of ${start}`, signOut);
  }
  const crons = texts(`0 0 30 2 * ¦ 0 0 29 2 1 ¦ 59 23 31 12 7 ¦ 0-59/1,0-59/1,0-59/1 * * * * ¦ 0 0 31 4,6,9,11 *`);
  for (const cron of crons) {
    const schedule = { network_id, name: cron, cron, timezone: "Africa/Monrovia", kind: "full" };
    await measure(`cron ${cron}`, owner.post("discovery/schedules", schedule));
  }
  const allMs = times.map(({ tookMs }) => tookMs);
  const slowest = [...times].sort((a, b) => b.tookMs - a.tookMs)[0];
  const failed = times.filter(({ status }) => status >= 500);
  return {
    claim: `no text causes excessive computation: each of ${times.length} crafted requests costs at most ${PROMPT_MS} ms of CPU time, or ${PROMPT_FACTOR} times the cost of half of them`,
    held:
      (slowest?.tookMs ?? 0) <= Math.max(PROMPT_MS, PROMPT_FACTOR * median(allMs)) &&
      failed.length === 0 &&
      times.length > 200,
    figure: `the slowest ${slowest?.tookMs.toFixed(0)} ms (${JSON.stringify(slowest?.name)}), median ${median(allMs).toFixed(1)} ms, p99 ${quantile(allMs, 0.99).toFixed(0)} ms${failed.length === 0 ? "" : `; ${failed.length} failed: ${failed[0]?.name} ${failed[0]?.status}`}`,
  };
}
