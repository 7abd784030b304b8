// Permissions revoked from a user with queued writes: the revocation takes effect without delay, and nothing is written
// afterwards.

import { HANG_MS } from "../../../test/support/measure/limits.ts";
import type { Finding, ProofContext } from "../part.ts";
import { headerOf, type RawResponse } from "./raw-client.ts";
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

/** Number of bulk requests queued when the permission is revoked, and hosts per bulk request. */
const QUEUES: Readonly<Record<ProofContext["form"], { readonly bulkWrites: number; readonly hosts: number }>> = {
  short: { bulkWrites: 10, hosts: 500 },
  long: { bulkWrites: 48, hosts: 1_000 },
};
/** Maximum wait of a revocation for the running write, as a multiple of the longest bulk request. */
const WAIT_MAX_BULK_WRITES = 1.5;

/** Way for a Member to lose permission to write. */
interface Revocation {
  readonly name: string;
  /** Credential of the Member's requests. */
  readonly via: "session" | "key";
  readonly revoke: (keyId: string, session: Caller) => Promise<RawResponse>;
  /** Possible statuses of requests that wrote nothing. */
  readonly refused: readonly number[];
}

export async function proveRevokedPermissions(context: ProofContext): Promise<Finding[]> {
  const testbed = new Testbed(context, "revoked-permissions");
  try {
    const people = await populate(testbed);
    return await proveRevocations(testbed, people);
  } finally {
    await testbed.close();
  }
}

async function proveRevocations(testbed: Testbed, people: People): Promise<Finding[]> {
  const queue = QUEUES[testbed.context.form];
  const owner = await testbed.asOwner();
  const member = (fields: Json) => changeMember(people, fields, owner);
  const revocations: readonly Revocation[] = [
    { name: "disabling the user", via: "session", refused: [401], revoke: () => member({ is_enabled: false }) },
    { name: "a read-only role", via: "session", refused: [403], revoke: () => member({ role: "Viewer" }) },
    { name: "removing the network", via: "key", refused: [400], revoke: () => member({ network_ids: [] }) },
    { name: "signing out", via: "session", refused: [401], revoke: (_, session) => session.post("/api/auth/logout") },
    { name: "deleting the API key", via: "key", refused: [401], revoke: (keyId) => owner.delete(`auth/keys/${keyId}`) },
    {
      name: "rotating the API key",
      via: "key",
      refused: [401],
      revoke: (keyId) => owner.post(`auth/keys/${keyId}/rotate`, {}),
    },
  ];
  const rounds: Round[] = [];
  for (const revocation of revocations) {
    const round = await revokeDuringBulks(testbed, people, owner, revocation, queue);
    testbed.context.say(`${revocation.name}: ${round.figure}`);
    rounds.push(round);
    dataOf(await member({ is_enabled: true, role: "Member", network_ids: [people.networkId] }));
  }
  const figure = rounds.map((round) => `${round.name}: ${round.figure}`).join("; ");
  return [
    {
      claim: "nothing is written for a caller once a permission is revoked, however much is queued",
      held: rounds.every(({ holds }) => holds),
      figure,
    },
    {
      claim: `while a Member's bulk writes wait, a revocation of permissions waits for the running one only: at most ${WAIT_MAX_BULK_WRITES} times the longest bulk`,
      held: rounds.every(({ tookMs, longestMs }) => tookMs < WAIT_MAX_BULK_WRITES * longestMs),
      figure: rounds
        .map(
          ({ name, tookMs, longestMs }) =>
            `${name} after ${Math.round(tookMs)} ms, the longest bulk ${Math.round(longestMs)} ms`,
        )
        .join("; "),
    },
    await testScan(testbed, people, owner),
  ];
}

interface Round {
  readonly name: string;
  readonly holds: boolean;
  readonly figure: string;
  readonly tookMs: number;
  readonly longestMs: number;
}

async function revokeDuringBulks(
  testbed: Testbed,
  people: People,
  owner: Caller,
  revocation: Revocation,
  { bulkWrites, hosts }: { readonly bulkWrites: number; readonly hosts: number },
): Promise<Round> {
  const session = await testbed.asMember();
  const key = dataOf(await session.post("auth/keys", keyBody(people, revocation.name, "Member")));
  const caller = revocation.via === "session" ? session : testbed.as(bearer(key.key));
  const answeredAt: number[] = [];
  const sent = Array.from({ length: bulkWrites }, async (_, n) => {
    const items = Array.from({ length: hosts }, (_, k) => ({
      network_id: people.networkId,
      name: `${revocation.name} ${n}-${k}`,
      ports: [{ number: 22, protocol: "Tcp" }],
    }));
    const response = await caller.post("hosts/bulk", items);
    if (response.status === 200) answeredAt.push(performance.now());
    return response;
  });
  const startedAt = performance.now();
  // By then some are written, and most are queued.
  while (answeredAt.length < 2 && performance.now() - startedAt < HANG_MS) await Bun.sleep(5);
  const requestedAt = performance.now();
  const revoked = await revocation.revoke(key.api_key.id, session);
  const tookMs = performance.now() - requestedAt;
  const sequence = await headOf(owner);
  const responses = await Promise.all(sent);
  const written = responses.filter(({ status }) => status === 200).length;
  const actorId = revocation.via === "session" ? people.memberId : key.api_key.id;
  const { before, after: lateWrites } = await countTransactions(owner, sequence, actorId);
  const others = responses.filter(({ status }) => status !== 200);
  const isRefused = (response: RawResponse) =>
    revocation.refused.includes(response.status) &&
    (response.status !== 401 || headerOf(response, "www-authenticate") === "Bearer");
  const holds =
    revoked.status === 200 &&
    lateWrites === 0 &&
    written >= 2 &&
    before >= written &&
    written < bulkWrites &&
    others.every(isRefused);
  const times = [startedAt, ...answeredAt].sort((a, b) => a - b);
  const longestMs = Math.max(...times.slice(1).map((at, n) => at - (times[n] as number)));
  const statuses = [...new Set(others.map(({ status }) => status))].join(", ");
  return {
    name: revocation.name,
    holds,
    tookMs,
    longestMs,
    figure: `${revoked.status}; ${written} of ${bulkWrites} bulk writes committed, the others ${statuses}, ${lateWrites} afterwards`,
  };
}

/** Tests a scan of loopback addresses by an Admin who is then disabled. */
async function testScan(testbed: Testbed, people: People, owner: Caller): Promise<Finding> {
  const admin = { email: "scanner@acme.example", role: "Admin", password: PERSON_PASSWORD, network_ids: [] };
  const { id: adminId } = dataOf(await people.byKey.post("users", admin));
  const session = await testbed.signedIn(admin.email, PERSON_PASSWORD);
  const request = { network_id: people.networkId, kind: "sweep", targets: ["127.99.0.0/18"] };
  const { id } = dataOf(await session.post("discovery/scans", request));
  const scan = async () => dataOf(await people.byKey.get(`discovery/scans/${id}`));
  const waitFor = async (isDone: (found: Json) => boolean | Promise<boolean>) => {
    let found = await scan();
    for (
      const until = performance.now() + HANG_MS;
      !(await isDone(found)) && performance.now() < until;
      found = await scan()
    )
      await Bun.sleep(20);
    return found;
  };
  // The scan has written something, and most of it is still pending.
  const started = await waitFor(async () => (await countTransactions(owner, Number.POSITIVE_INFINITY, id)).before > 0);
  dataOf(await changeMember({ ...people, memberId: adminId }, { is_enabled: false }, owner));
  const disabled = await headOf(owner);
  const ended = await waitFor(({ status }) => status !== "Queued" && status !== "Running");
  const { before, after: lateWrites } = await countTransactions(owner, disabled, id);
  return {
    claim: "a scan is canceled, and writes nothing more, when its user is disabled",
    held: started.status === "Running" && ended.status === "Cancelled" && before > 0 && lateWrites === 0,
    figure: `${started.status} with ${started.progress?.addresses_done} of ${started.progress?.addresses_total} addresses done, then ${ended.status} with ${ended.progress?.addresses_done}: ${ended.outcome?.problem}; ${before} transactions before, ${lateWrites} afterwards`,
  };
}

async function headOf(owner: Caller): Promise<number> {
  return dataOf(await owner.get("ledger")).sequence;
}

/** Counts an actor's latest transactions up to a sequence and after it. */
async function countTransactions(
  owner: Caller,
  sequence: number,
  actorId: string,
): Promise<{ readonly before: number; readonly after: number }> {
  const newest = dataOf(await owner.get("transactions?limit=1000")) as unknown as Json[];
  const byActor = newest.filter(({ actor }) => actor.id === actorId);
  const after = byActor.filter((transaction) => transaction.sequence > sequence).length;
  return { before: byActor.length - after, after };
}
