// Rights withdrawn from a user with queued writes: delay of the withdrawal, and no writes afterwards.

import { HANG_MS } from "../../../test/support/measure/limits.ts";
import type { Finding, Proving } from "../part.ts";
import { askRaw, headerOf, type RawAnswer } from "./raw-client.ts";
import {
  changeMember,
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

/** Queued bulks at the time of the withdrawal, and hosts per bulk. */
const CROWDS: Readonly<Record<Proving["form"], { readonly bulks: number; readonly hosts: number }>> = {
  short: { bulks: 10, hosts: 500 },
  long: { bulks: 48, hosts: 1_000 },
};
/** The withdrawal waits for the running write: as a multiple of the longest, plus its own time. */
const LONGEST_WAITED_FOR = 1.5;

type Header = readonly [string, string];

/** A way for a Member to lose the right to write, and to regain it. */
interface Way {
  readonly name: string;
  /** Of the Member's requests. */
  readonly by: "session" | "key";
  readonly takeAway: (owner: Header, ids: { readonly keyId: string; readonly session: Header }) => Promise<RawAnswer>;
  /** Status of requests that wrote nothing. */
  readonly refused: readonly number[];
}

export async function proveLateRights(proving: Proving): Promise<Finding[]> {
  const stage = new Stage(proving, "late-rights");
  try {
    const people = await populate(stage);
    return await withdrawn(stage, people);
  } finally {
    await stage.close();
  }
}

async function withdrawn(stage: Stage, people: People): Promise<Finding[]> {
  const crowd = CROWDS[stage.proving.form];
  const owner = await stage.cookieOf(OWNER_EMAIL, OWNER_PASSWORD);
  const member = (fields: Json) => changeMember(stage, people, fields, owner);
  const ways: readonly Way[] = [
    { name: "disabling the user", by: "session", refused: [401], takeAway: () => member({ is_enabled: false }) },
    { name: "a role that may only read", by: "session", refused: [403], takeAway: () => member({ role: "Viewer" }) },
    { name: "taking the network away", by: "key", refused: [400], takeAway: () => member({ network_ids: [] }) },
    {
      name: "signing out",
      by: "session",
      refused: [401],
      takeAway: (_owner, { session }) => stage.send("POST", "/api/auth/logout", undefined, [session]),
    },
    {
      name: "deleting the API key",
      by: "key",
      refused: [401],
      takeAway: (_owner, { keyId }) => stage.send("DELETE", `/api/v1/auth/keys/${keyId}`, undefined, [owner]),
    },
    {
      name: "another secret of the API key",
      by: "key",
      refused: [401],
      takeAway: (_owner, { keyId }) => stage.send("POST", `/api/v1/auth/keys/${keyId}/rotate`, {}, [owner]),
    },
  ];
  const rounds: Round[] = [];
  for (const way of ways) {
    const round = await once(stage, people, owner, way, crowd);
    stage.proving.say(`${way.name}: ${round.figure}`);
    rounds.push(round);
    dataOf(await member({ is_enabled: true, role: "Member", network_ids: [people.networkId] }));
  }
  const figure = rounds.map((round) => `${round.name}: ${round.figure}`).join("; ");
  return [
    {
      claim: "nothing is written for a caller after the answer that revoked the right, however much is queued",
      held: rounds.every(({ isHeld }) => isHeld),
      figure,
    },
    {
      claim: `while a Member's bulks wait, a revocation of rights waits for the running one only: at most ${LONGEST_WAITED_FOR} times the longest of them`,
      held: rounds.every(({ tookMs, longestMs }) => tookMs < LONGEST_WAITED_FOR * longestMs),
      figure: rounds
        .map(
          ({ name, tookMs, longestMs }) =>
            `${name} after ${Math.round(tookMs)} ms, the longest bulk ${Math.round(longestMs)} ms`,
        )
        .join("; "),
    },
    await scans(stage, people, owner),
  ];
}

interface Round {
  readonly name: string;
  readonly isHeld: boolean;
  readonly figure: string;
  readonly tookMs: number;
  readonly longestMs: number;
}

async function once(
  stage: Stage,
  people: People,
  owner: Header,
  way: Way,
  { bulks, hosts }: { readonly bulks: number; readonly hosts: number },
): Promise<Round> {
  const session = await stage.cookieOf(MEMBER_EMAIL, PERSON_PASSWORD);
  const body = keyBody(people, way.name, "Member");
  const key = dataOf(await stage.send("POST", "/api/v1/auth/keys", body, [session]));
  const by: Header = way.by === "session" ? session : ["Authorization", `Bearer ${key.key}`];
  const answeredAt: number[] = [];
  const sent = Array.from({ length: bulks }, async (_, n) => {
    const items = Array.from({ length: hosts }, (_each, k) => ({
      network_id: people.networkId,
      name: `${way.name} ${n}-${k}`,
      ports: [{ number: 22, protocol: "Tcp" }],
    }));
    const answer = await askRaw(stage.port, {
      method: "POST",
      path: "/api/v1/hosts/bulk",
      headers: [["Content-Type", "application/json"], by],
      body: JSON.stringify(items),
    });
    if (answer.status === 200) answeredAt.push(performance.now());
    return answer;
  });
  const began = performance.now();
  // Some are written, most are queued.
  while (answeredAt.length < 2 && performance.now() - began < HANG_MS) await Bun.sleep(5);
  const askedAt = performance.now();
  const taken = await way.takeAway(owner, { keyId: key.api_key.id, session });
  const tookMs = performance.now() - askedAt;
  const sequence = await headOf(stage, owner);
  const answers = await Promise.all(sent);
  const written = answers.filter(({ status }) => status === 200).length;
  const { before, after: late } = await made(stage, owner, sequence, [
    way.by === "session" ? people.memberId : key.api_key.id,
  ]);
  const others = answers.filter(({ status }) => status !== 200);
  const isRefused = (answer: RawAnswer) =>
    way.refused.includes(answer.status) && (answer.status !== 401 || headerOf(answer, "www-authenticate") === "Bearer");
  const isHeld =
    taken.status === 200 &&
    late === 0 &&
    written >= 2 &&
    before >= written &&
    written < bulks &&
    others.every(isRefused);
  const times = [began, ...answeredAt].sort((a, b) => a - b);
  const longestMs = Math.max(...times.slice(1).map((at, n) => at - (times[n] as number)));
  const statuses = [...new Set(others.map(({ status }) => status))].join(", ");
  return {
    name: way.name,
    isHeld,
    tookMs,
    longestMs,
    figure: `${taken.status}; ${written} of ${bulks} bulks written, the others ${statuses}, ${late} afterwards`,
  };
}

/** A scan of loopback addresses by an Admin who is then disabled. */
async function scans(stage: Stage, people: People, owner: Header): Promise<Finding> {
  const admin = { email: "scanner@acme.example", role: "Admin", password: PERSON_PASSWORD, network_ids: [] };
  const { id: adminId } = dataOf(await stage.send("POST", "/api/v1/users", admin, [people.key]));
  const session = await stage.cookieOf(admin.email, PERSON_PASSWORD);
  const order = { network_id: people.networkId, kind: "sweep", targets: ["127.99.0.0/18"] };
  const { id } = dataOf(await stage.send("POST", "/api/v1/discovery/scans", order, [session]));
  const scan = async () => dataOf(await stage.send("GET", `/api/v1/discovery/scans/${id}`, undefined, [people.key]));
  const waitFor = async (isThere: (found: Json) => boolean | Promise<boolean>) => {
    let found = await scan();
    for (
      const until = performance.now() + HANG_MS;
      !(await isThere(found)) && performance.now() < until;
      found = await scan()
    )
      await Bun.sleep(20);
    return found;
  };
  // The scan has written something, and most is still to come.
  const begun = await waitFor(async () => (await made(stage, owner, Number.POSITIVE_INFINITY, [id])).before > 0);
  const path = `/api/v1/users/${adminId}`;
  const stored = dataOf(await stage.send("GET", path, undefined, [people.key]));
  dataOf(await stage.send("PUT", path, { ...stored, is_enabled: false }, [owner]));
  const disabled = await headOf(stage, owner);
  const ended = await waitFor(({ status }) => status !== "Queued" && status !== "Running");
  const { before, after: late } = await made(stage, owner, disabled, [id]);
  return {
    claim: "a scan is cancelled, and writes nothing more, when its user is disabled",
    held: begun.status === "Running" && ended.status === "Cancelled" && before > 0 && late === 0,
    figure: `${begun.status} with ${begun.progress?.addresses_done} of ${begun.progress?.addresses_total} addresses done, then ${ended.status} with ${ended.progress?.addresses_done}: ${ended.outcome?.problem}; ${before} transactions before, ${late} afterwards`,
  };
}

async function headOf(stage: Stage, owner: Header): Promise<number> {
  return dataOf(await stage.send("GET", "/api/v1/ledger", undefined, [owner])).sequence;
}

/** Number of the actors' latest transactions up to a sequence, and after it. */
async function made(
  stage: Stage,
  owner: Header,
  sequence: number,
  actorIds: readonly string[],
): Promise<{ readonly before: number; readonly after: number }> {
  const newest = dataOf(
    await stage.send("GET", "/api/v1/transactions?limit=1000", undefined, [owner]),
  ) as unknown as Json[];
  const theirs = newest.filter((each) => actorIds.includes(each.actor.id));
  const after = theirs.filter((each) => each.sequence > sequence).length;
  return { before: theirs.length - after, after };
}
