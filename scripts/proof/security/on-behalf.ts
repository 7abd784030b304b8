// Actions that the appliance takes on users' behalf: fair access to scans when Members flood a network, and log entries
// before any probe.

import { HANG_MS } from "../../../test/support/measure/limits.ts";
import { communityCredential } from "../../benchmark/requests.ts";
import type { Finding, ProofContext } from "../part.ts";
import {
  bearer,
  type Caller,
  changeMember,
  dataOf,
  type Json,
  keyBody,
  PERSON_PASSWORD,
  type People,
  populate,
  Testbed,
} from "./testbed.ts";

const MEMBERS = 3;
/** Number of concurrent scan requests per user. */
const SCANS_PER_USER = 12;
const SUBNET = "127.99.0.0/28";
const SILENT = "127.99.0.3";
/** Target whose scan outlasts all concurrent requests. */
const LONG_TARGET = "127.98.0.0/16";

export async function proveOnBehalf(context: ProofContext): Promise<Finding[]> {
  const testbed = new Testbed(context, "on-behalf");
  const received: string[] = [];
  // An agent that receives and never responds.
  const agent = await Bun.udpSocket({
    hostname: SILENT,
    socket: { data: (_socket, _data, _port, address) => void received.push(address) },
  });
  try {
    const args = ["--snmp-port", String(agent.port), "--scan-tcp-ports", "9"];
    const people = await populate(testbed, args);
    const owner = await testbed.asOwner();
    dataOf(await owner.post("subnets", { network_id: people.networkId, cidr: SUBNET }));
    const body = communityCredential(people.organizationId, "community", "public", [people.networkId]);
    const credential = dataOf(await owner.post("credentials", body));
    return [
      await proveFairShares(testbed, people, owner),
      await proveRevokedTrial(testbed, people, credential.id, received),
      await proveLogFailure(testbed, people, credential.id, received, args),
    ];
  } finally {
    agent.close();
    await testbed.close();
  }
}

/** Has Members request many scans, including with API keys, and then an Admin request one, and an address check. */
async function proveFairShares(testbed: Testbed, people: People, owner: Caller): Promise<Finding> {
  const scanRequest = { network_id: people.networkId, kind: "sweep" };
  const requestScan = (caller: Caller, fields: Json = {}) =>
    caller.post("discovery/scans", { ...scanRequest, ...fields });
  const host = { network_id: people.networkId, name: "checked", ip_addresses: [{ ip_address: "127.99.0.5" }] };
  const { ip_addresses: addresses } = dataOf(await owner.post("hosts", host));
  const running = dataOf(await requestScan(owner, { targets: [LONG_TARGET] }));
  const acceptedPerUser: number[] = [];
  const session = await testbed.asMember();
  const members: Array<{ readonly id: string; readonly session: Caller }> = [{ id: people.memberId, session }];
  while (members.length < MEMBERS)
    members.push(await createUser(testbed, people, "Member", `member-${members.length}`));
  for (const { id, session } of members) {
    const body = keyBody({ ...people, memberId: id }, id, "Member");
    const callers = [session, testbed.as(bearer(dataOf(await session.post("auth/keys", body)).key))];
    const responses = await Promise.all(
      Array.from({ length: SCANS_PER_USER }, (_, n) => requestScan(callers[n % 2] as Caller)),
    );
    acceptedPerUser.push(responses.filter(({ status }) => status === 200).length);
  }
  const admin = await createUser(testbed, people, "Admin", "late-admin");
  const statuses = [
    await requestScan(admin.session),
    await admin.session.post(`ip-addresses/${addresses[0].id}/check`, {}),
  ].map(({ status }) => status);
  dataOf(await owner.post(`discovery/scans/${running.id}/cancel`, {}));
  const scans = await waitForScans(people);
  const userIds = [...members, admin].map(({ id }) => id);
  // The log names a key by the id of its user.
  const startedBy = [...testbed.running.log.matchAll(/ scan_started scan_id=(\S+)/g)]
    .map(([, id]) => scans.find((scan) => scan.id === id)?.requested_by as Json)
    .map(({ type, id, name }) => userIds.indexOf(type === "ApiKey" ? name : id))
    .slice(1);
  const firstRound = new Set(startedBy.slice(0, MEMBERS + 1)).size;
  const accepted = acceptedPerUser.reduce((sum, count) => sum + count, 0);
  return {
    claim:
      "however many scans Members request, even with API keys, a user gets three of ten slots and Members get eight; an Admin's scan and check are accepted, and users take turns",
    held:
      acceptedPerUser.every((count) => count <= 3) &&
      accepted === 8 &&
      statuses.every((status) => status === 200) &&
      firstRound > MEMBERS,
    figure: `${MEMBERS} Members sent ${SCANS_PER_USER} requests each, of which ${acceptedPerUser.join(", ")} were accepted; an Admin's scan and check ${statuses.join(", ")}; started for Members 0 to ${MEMBERS - 1} and Admin ${MEMBERS}: ${startedBy.join(", ")}`,
  };
}

/** Disables an Admin during their trial of a credential at a silent agent. */
async function proveRevokedTrial(
  testbed: Testbed,
  people: People,
  credentialId: string,
  received: readonly string[],
): Promise<Finding> {
  const admin = await createUser(testbed, people, "Admin", "trying");
  const before = received.length;
  const trial = admin.session.post(`credentials/${credentialId}/try`, trialBody(people));
  for (const until = performance.now() + HANG_MS; received.length === before && performance.now() < until; )
    await Bun.sleep(5);
  dataOf(await changeMember({ ...people, memberId: admin.id }, { is_enabled: false }));
  const { status } = await trial;
  const lines = testbed.running.log.split("\n").filter((line) => line.includes(" credential_trial_started "));
  const parts = [credentialId, people.networkId, SILENT, admin.id];
  const isLogged = lines.some((line) => parts.every((part) => line.includes(part)));
  return {
    claim: "a trial whose caller loses permission to run it is refused, and user, credential and target are logged",
    held: status === 403 && isLogged,
    figure: `${status}; ${lines.length} lines, ${isLogged ? "one" : "none"} with user, credential, network and address`,
  };
}

/** Tests an appliance that cannot write its log. */
async function proveLogFailure(
  testbed: Testbed,
  people: People,
  credentialId: string,
  received: string[],
  args: readonly string[],
): Promise<Finding> {
  await testbed.stop();
  await testbed.start(args, "127.0.0.1:0", "2>/dev/full");
  received.length = 0;
  const trial = await people.byKey.post(`credentials/${credentialId}/try`, trialBody(people));
  const scanRequest = { network_id: people.networkId, kind: "full", targets: [SILENT] };
  const scan = dataOf(await people.byKey.post("discovery/scans", scanRequest));
  const result = (await waitForScans(people)).find(({ id }) => id === scan.id) as Json;
  return {
    claim: "if the log cannot be written, nothing is sent to the network: a trial returns 500, and a scan fails",
    held: trial.status === 500 && result.status === "Failed" && received.length === 0,
    figure: `trial ${trial.status}; scan ${result.status}: ${result.outcome?.problem}; ${received.length} datagrams`,
  };
}

function trialBody({ networkId }: People): Json {
  return { network_id: networkId, ip_address: SILENT };
}

async function waitForScans({ byKey }: People): Promise<Json[]> {
  const list = async () => dataOf(await byKey.get("discovery/scans?limit=100")) as unknown as Json[];
  let scans = await list();
  for (
    const until = performance.now() + HANG_MS;
    scans.some(({ ended_at: at }) => at === null) && performance.now() < until;
    scans = await list()
  )
    await Bun.sleep(20);
  return scans;
}

async function createUser(
  testbed: Testbed,
  people: People,
  role: string,
  name: string,
): Promise<{ readonly id: string; readonly session: Caller }> {
  const email = `${name}@acme.example`;
  const network_ids = role === "Member" ? [people.networkId] : [];
  const body = { email, name, role, password: PERSON_PASSWORD, network_ids };
  const { id } = dataOf(await people.byKey.post("users", body));
  return { id, session: await testbed.signedIn(email, PERSON_PASSWORD) };
}
