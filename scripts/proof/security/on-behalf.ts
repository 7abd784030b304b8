// Actions of the appliance on a user's behalf: access to scans when Members crowd a network, and log entries before any
// probe.

import { HANG_MS } from "../../../test/support/measure/limits.ts";
import type { Finding, Proving } from "../part.ts";
import type { RawAnswer } from "./raw-client.ts";
import {
  dataOf,
  type Json,
  keyBody,
  MEMBER_EMAIL,
  OWNER_EMAIL,
  OWNER_PASSWORD,
  PERSON_PASSWORD,
  type People,
  populate,
  Stage,
} from "./stage.ts";

type Header = readonly [string, string];

const PEOPLE = 3;
/** Per user, concurrent. */
const ORDERS = 12;
const SUBNET = "127.99.0.0/28";
const SILENT = "127.99.0.3";
/** Takes long enough for all concurrent requests. */
const LONG_TARGET = "127.98.0.0/16";

export async function proveOnBehalf(proving: Proving): Promise<Finding[]> {
  const stage = new Stage(proving, "on-behalf");
  const received: string[] = [];
  // An agent that receives and never answers.
  const agent = await Bun.udpSocket({
    hostname: SILENT,
    socket: { data: (_socket, _data, _port, address) => void received.push(address) },
  });
  try {
    const args = ["--snmp-port", String(agent.port), "--scan-tcp-ports", "9"];
    const people = await populate(stage, args);
    const owner = await stage.cookieOf(OWNER_EMAIL, OWNER_PASSWORD);
    dataOf(await send(stage, "subnets", { network_id: people.networkId, cidr: SUBNET }, owner));
    const credential = dataOf(
      await send(
        stage,
        "credentials",
        {
          organization_id: people.organizationId,
          name: "community",
          credential_type: { type: "SnmpV2c", community: { mode: "Inline", value: "public" } },
          assigned_network_ids: [people.networkId],
          host_assignments: [],
          tags: [],
        },
        owner,
      ),
    );
    return [
      await crowded(stage, people, owner),
      await withdrawn(stage, people, credential.id, received),
      await unlogged(stage, people, credential.id, received, args),
    ];
  } finally {
    agent.close();
    await stage.close();
  }
}

/** Members with all their keys request the maximum number of scans; an Admin requests one, and an address check. */
async function crowded(stage: Stage, people: People, owner: Header): Promise<Finding> {
  const order = { network_id: people.networkId, kind: "sweep" };
  const ask = (by: Header, fields: Json = {}) => send(stage, "discovery/scans", { ...order, ...fields }, by);
  const host = { network_id: people.networkId, name: "checked", ip_addresses: [{ ip_address: "127.99.0.5" }] };
  const { ip_addresses: addresses } = dataOf(await send(stage, "hosts", host, owner));
  const running = dataOf(await ask(owner, { targets: [LONG_TARGET] }));
  const perPerson: number[] = [];
  const session = await stage.cookieOf(MEMBER_EMAIL, PERSON_PASSWORD);
  const members: Array<{ readonly id: string; readonly session: Header }> = [{ id: people.memberId, session }];
  while (members.length < PEOPLE) members.push(await person(stage, people, "Member", `crowd${members.length}`));
  for (const { id, session } of members) {
    const body = keyBody({ ...people, memberId: id }, id, "Member");
    const key = dataOf(await send(stage, "auth/keys", body, session)).key as string;
    const names: readonly Header[] = [session, ["Authorization", `Bearer ${key}`]];
    const answers = await Promise.all(Array.from({ length: ORDERS }, (_, n) => ask(names[n % 2] as Header)));
    perPerson.push(answers.filter(({ status }) => status === 200).length);
  }
  const admin = await person(stage, people, "Admin", "late-admin");
  const statuses = [
    await ask(admin.session),
    await send(stage, `ip-addresses/${addresses[0].id}/check`, {}, admin.session),
  ].map(({ status }) => status);
  dataOf(await send(stage, `discovery/scans/${running.id}/cancel`, {}, owner));
  const scans = await untilNoneWaits(stage, people);
  const userIds = [...members, admin].map(({ id }) => id);
  // The log names a key by the id of its user.
  const startedBy = [...stage.running.log.matchAll(/ scan_started scan_id=(\S+)/g)]
    .map(([, id]) => scans.find((scan) => scan.id === id)?.requested_by as Json)
    .map(({ type, id, name }) => userIds.indexOf(type === "ApiKey" ? name : id))
    .slice(1);
  const firstRound = new Set(startedBy.slice(0, PEOPLE + 1)).size;
  const taken = perPerson.reduce((sum, each) => sum + each, 0);
  return {
    claim:
      "however many scans Members request, also by API keys, a user has three slots of ten and Members have eight; an Admin's scan and check are accepted, and users take turns",
    held:
      perPerson.every((each) => each <= 3) &&
      taken === 8 &&
      statuses.every((status) => status === 200) &&
      firstRound > PEOPLE,
    figure: `${PEOPLE} Members asked ${ORDERS} times each and had ${perPerson.join(", ")} taken; an Admin's scan and check ${statuses.join(", ")}; started for Members 0 to ${PEOPLE - 1} and Admin ${PEOPLE}: ${startedBy.join(", ")}`,
  };
}

/** An Admin is disabled during the trial of a credential at a silent agent. */
async function withdrawn(
  stage: Stage,
  people: People,
  credentialId: string,
  received: readonly string[],
): Promise<Finding> {
  const admin = await person(stage, people, "Admin", "trying");
  const before = received.length;
  const asked = send(stage, `credentials/${credentialId}/try`, tryAt(people), admin.session);
  for (const until = performance.now() + HANG_MS; received.length === before && performance.now() < until; )
    await Bun.sleep(5);
  const path = `/api/v1/users/${admin.id}`;
  const stored = dataOf(await stage.send("GET", path, undefined, [people.key]));
  dataOf(await stage.send("PUT", path, { ...stored, is_enabled: false }, [people.key]));
  const { status } = await asked;
  const lines = stage.running.log.split("\n").filter((line) => line.includes(" credential_trial_started "));
  const parts = [credentialId, people.networkId, SILENT, admin.id];
  const isTold = lines.some((line) => parts.every((part) => line.includes(part)));
  return {
    claim: "a trial whose caller loses the right to it is refused, and user, credential and target are logged",
    held: status === 403 && isTold,
    figure: `${status}; ${lines.length} lines, ${isTold ? "one" : "none"} with user, credential, network and address`,
  };
}

/** An appliance that cannot write its log. */
async function unlogged(
  stage: Stage,
  people: People,
  credentialId: string,
  received: string[],
  args: readonly string[],
): Promise<Finding> {
  await stage.stop();
  await stage.start(args, "127.0.0.1:0", "2>/dev/full");
  received.length = 0;
  const tried = await send(stage, `credentials/${credentialId}/try`, tryAt(people), people.key);
  const order = { network_id: people.networkId, kind: "full", targets: [SILENT] };
  const scan = dataOf(await send(stage, "discovery/scans", order, people.key));
  const ended = (await untilNoneWaits(stage, people)).find(({ id }) => id === scan.id) as Json;
  return {
    claim: "if the log cannot be written, nothing is sent to the network: a trial is answered 500, and a scan fails",
    held: tried.status === 500 && ended.status === "Failed" && received.length === 0,
    figure: `trial ${tried.status}; scan ${ended.status}: ${ended.outcome?.problem}; ${received.length} datagrams`,
  };
}

function tryAt({ networkId }: People): Json {
  return { network_id: networkId, ip_address: SILENT };
}

async function untilNoneWaits(stage: Stage, people: People): Promise<Json[]> {
  const path = "/api/v1/discovery/scans?limit=100";
  const list = async () => dataOf(await stage.send("GET", path, undefined, [people.key])) as unknown as Json[];
  let scans = await list();
  for (
    const until = performance.now() + HANG_MS;
    scans.some(({ ended_at: at }) => at === null) && performance.now() < until;
    scans = await list()
  )
    await Bun.sleep(20);
  return scans;
}

async function person(
  stage: Stage,
  people: People,
  role: string,
  name: string,
): Promise<{ readonly id: string; readonly session: Header }> {
  const email = `${name}@acme.example`;
  const body = {
    email,
    name,
    role,
    password: PERSON_PASSWORD,
    network_ids: role === "Member" ? [people.networkId] : [],
  };
  const { id } = dataOf(await send(stage, "users", body, people.key));
  return { id, session: await stage.cookieOf(email, PERSON_PASSWORD) };
}

function send(stage: Stage, path: string, body: Json, by: Header): Promise<RawAnswer> {
  return stage.send("POST", `/api/v1/${path}`, body, [by]);
}
