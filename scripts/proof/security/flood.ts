// Concurrent sign-ins, first claims and password changes by the hundreds: latency of reads, memory, and access for
// legitimate users.

import { PASSWORD_MAX_RUNNING, PASSWORD_MEMORY_KIB } from "../../../src/access/password.ts";
import { systemTimers } from "../../../src/base/timers.ts";
import { ATTEMPTS_MAX_WAITING } from "../../../src/sessions/sign-in-throttle.ts";
import { seededRandom } from "../../../test/support/injected/seeded-random.ts";
import type { Finding, Proving } from "../part.ts";
import { headerOf, memberOf, type RawAnswer, sessionOf } from "./raw-client.ts";
import { median, quantile } from "./samples.ts";
import {
  DISABLED_EMAIL,
  dataOf,
  MEMBER_EMAIL,
  OWNER_EMAIL,
  OWNER_PASSWORD,
  PERSON_PASSWORD,
  populate,
  Stage,
  sources,
} from "./stage.ts";
import { hashTime } from "./timing.ts";

/** Per wave. */
const AT_ONCE = 200;
/** 90th percentile of a read during a flood. */
const READ_P90_MS = 150;
const READ_EVERY_MS = 25;
/** Shorter than a queue of waiting hashes. */
const WAVE_PAUSE_MS = 100;
/** Memory beyond that of the concurrent hashes, in KiB: connections, answers, garbage. */
const SLACK_KIB = 96 * 1024;
/** The running one and the queue; as many again arrive during their verification. */
const RIGHT_CHANGES_MAX = 2 * (1 + ATTEMPTS_MAX_WAITING);
/** Time to get in during the flood with prescribed retries, for a user with an earlier sign-in from that address. */
const GET_IN_MS = 5_000;

export async function proveFlood(proving: Proving): Promise<Finding[]> {
  const stage = new Stage(proving, "flood");
  try {
    const claims = await claimed(stage);
    await stage.close();
    return [...claims, ...(await flooded(new Stage(proving, "flooded"), proving))];
  } finally {
    await stage.close();
  }
}

/** The first claim, two hundred times concurrently with the correct token. */
async function claimed(stage: Stage): Promise<Finding[]> {
  await stage.start();
  const { setupToken } = stage.running;
  const next = sources();
  const claim = (token: string) =>
    stage.send(
      "POST",
      "/api/auth/setup",
      {
        setup_token: token,
        organization_name: "Acme",
        network_name: "Main",
        email: OWNER_EMAIL,
        password: OWNER_PASSWORD,
      },
      [],
      next(),
    );
  const guesses = await Promise.all(Array.from({ length: AT_ONCE }, () => claim("0000-0000-0000-0000-0000-0000-0000")));
  const claims = await Promise.all(Array.from({ length: AT_ONCE }, () => claim(setupToken)));
  const counts = countsOf(claims);
  const signedIn = claims.filter((answer) => answer.status === 200);
  const owner = signedIn[0];
  const organizations =
    owner === undefined
      ? []
      : ((memberOf(
          await stage.send("GET", "/api/v1/users", undefined, [["Cookie", `session_id=${sessionOf(owner)}`]]),
          "data",
        ) as unknown[]) ?? []);
  return [
    {
      claim: `of ${AT_ONCE} concurrent first claims with the correct token one succeeds, and the others are refused; guesses of the token all fail`,
      held:
        counts.get(200) === 1 &&
        [...counts.keys()].every((status) => [200, 409, 429].includes(status)) &&
        organizations.length === 1 &&
        refusedInTime(claims) &&
        guesses.every(({ status }) => status === 401 || status === 429),
      figure: `${told(counts)}; guesses ${told(countsOf(guesses))}; ${organizations.length} user afterwards`,
    },
  ];
}

async function flooded(stage: Stage, proving: Proving): Promise<Finding[]> {
  const random = seededRandom(proving.seed);
  try {
    const people = await populate(stage);
    for (let n = 0; n < 50; n += 1)
      dataOf(
        await stage.send("POST", "/api/v1/hosts", { name: `host ${n}`, network_id: people.networkId }, [people.key]),
      );
    const durationMs = proving.form === "short" ? 3_000 : 20_000;
    const hashMs = await hashTime();
    // The usual address of a user.
    const desk = "127.250.0.1";
    const session = await stage.cookieOf(MEMBER_EMAIL, PERSON_PASSWORD, desk);
    const { answers: calm, times: quiet } = await besides(stage, people.key, durationMs / 2, async () => [
      await stage.ask({ path: "/api/auth/setup" }),
    ]);
    const before = stage.running.memoryKib("VmRSS");

    const next = sources();
    const accounts = [OWNER_EMAIL, MEMBER_EMAIL, DISABLED_EMAIL];
    // Each from a separate address, so that the flood reaches the hashing and not the throttle.
    const attempt = () => {
      const email = random.integer(2) === 0 ? random.pick(accounts) : `nobody${random.integer(1_000_000)}@acme.example`;
      return stage.signIn(email, `wrong ${random.integer(1_000_000)}`, next());
    };
    const cheap = await besides(stage, people.key, durationMs / 2, () =>
      Promise.all(Array.from({ length: AT_ONCE }, () => stage.ask({ path: "/api/auth/setup", source: next() }))),
    );
    let peak = before;
    const stopWatching = every(10, () => {
      peak = Math.max(peak, stage.running.memoryKib("VmRSS"));
    });
    const flood = besides(stage, people.key, durationMs, () => Promise.all(Array.from({ length: AT_ONCE }, attempt)));
    const inMs = await getIn(stage, desk);
    const { answers, times: beside, refused } = await flood;
    stopWatching();
    const counts = countsOf(answers);
    const hashed = counts.get(401) ?? 0;
    const allowedRefusals = Math.max(0.05, 3 * cheap.refused);
    // On a busy machine even requests without hashing are slow: that must not excuse everything.
    const blockedMs = AT_ONCE * hashMs;
    const allowedMs = Math.min(Math.max(READ_P90_MS, 5 * quantile(cheap.times, 0.9)), blockedMs / 4);

    const { findings, session: later } = await changes(stage, session, desk);
    const { times: after } = await besides(stage, people.key, 500, async () => []);
    const alive = await stage.send("GET", "/api/auth/me", undefined, [later]);
    const allowedKib = PASSWORD_MAX_RUNNING * PASSWORD_MEMORY_KIB + SLACK_KIB;
    return [
      {
        claim: `reads continue during waves of ${AT_ONCE} concurrent sign-ins from as many addresses: nine of ten take at most ${READ_P90_MS} ms, or five times their duration next to as many requests without hashing, and hardly any is refused`,
        held:
          beside.length > 20 &&
          refused <= allowedRefusals &&
          quantile(beside, 0.9) <= allowedMs &&
          calm.every(({ status }) => status === 200),
        figure: `${toldTimes(beside)} of ${beside.length} reads, ${share(refused)} refused; beside as many that hash nothing ${toldTimes(cheap.times)}, ${share(cheap.refused)} refused; alone ${toldTimes(quiet)}; ${AT_ONCE} hashes on the thread that answers would take ${Math.round(blockedMs)} ms`,
      },
      {
        claim: "excess concurrent sign-ins are refused with 429 and Retry-After, and every one is answered",
        held:
          [...counts.keys()].every((status) => status === 401 || status === 429) &&
          hashed > 0 &&
          (counts.get(429) ?? 0) > 0 &&
          refusedInTime(answers),
        figure: `${told(counts)}; ${Math.round((hashed * 1000) / durationMs)} passwords verified a second`,
      },
      {
        claim: `a flood of sign-ins takes the memory of the few concurrent hashes and a bounded rest, not of ${AT_ONCE}`,
        held: peak - before <= allowedKib && allowedKib < (AT_ONCE * PASSWORD_MEMORY_KIB) / 10,
        figure: `${Math.round((peak - before) / 1024)} MiB above the ${Math.round(before / 1024)} MiB of before; ${Math.round(allowedKib / 1024)} are allowed (hashes at once: ${PASSWORD_MAX_RUNNING}), ${Math.round((AT_ONCE * PASSWORD_MEMORY_KIB) / 1024)} would be all at once`,
      },
      {
        claim: "a user who signed in from their desk before can sign in during the flood",
        held: inMs !== null && inMs <= GET_IN_MS,
        figure: inMs === null ? `not within ${GET_IN_MS} ms` : `${Math.round(inMs)} ms`,
      },
      ...findings,
      {
        claim: "after the flood reads are as fast as before, and sessions continue",
        held: median(after) <= Math.max(20, 5 * median(quiet)) && alive.status === 200,
        figure: `median ${median(after).toFixed(1)} ms, before ${median(quiet).toFixed(1)} ms`,
      },
    ];
  } finally {
    await stage.close();
  }
}

/** Concurrent password changes by a signed-in user, with wrong and right passwords. */
async function changes(
  stage: Stage,
  session: [string, string],
  desk: string,
): Promise<{ findings: Finding[]; session: [string, string] }> {
  const change = (current: string, source: string) =>
    stage.send(
      "PUT",
      "/api/auth/password",
      { current_password: current, new_password: PERSON_PASSWORD },
      [session],
      source,
    );
  const wrong = await Promise.all(Array.from({ length: AT_ONCE }, () => change("not the phrase", "127.250.0.2")));
  const right = await Promise.all(Array.from({ length: AT_ONCE }, () => change(PERSON_PASSWORD, desk)));
  const [wrongCounts, rightCounts] = [countsOf(wrong), countsOf(right)];
  const only = (counts: ReadonlyMap<number, number>, statuses: readonly number[]) =>
    [...counts.keys()].every((status) => statuses.includes(status));
  return {
    session: await stage.cookieOf(MEMBER_EMAIL, PERSON_PASSWORD, desk),
    findings: [
      {
        claim: `of ${AT_ONCE} concurrent changes of one password a few are verified, and the others are refused with 429 and Retry-After`,
        held:
          only(wrongCounts, [401, 429]) &&
          (wrongCounts.get(401) ?? 0) <= 4 &&
          only(rightCounts, [200, 401, 429]) &&
          (rightCounts.get(200) ?? 0) >= 1 &&
          (rightCounts.get(200) ?? 0) <= RIGHT_CHANGES_MAX &&
          refusedInTime([...wrong, ...right]),
        figure: `with the wrong password ${told(wrongCounts)}; with the right one ${told(rightCounts)}`,
      },
    ],
  };
}

/** Duration of a sign-in with prescribed retries; null on timeout. */
async function getIn(stage: Stage, source: string): Promise<number | null> {
  const began = performance.now();
  for (;;) {
    const answer = await stage.signIn(MEMBER_EMAIL, PERSON_PASSWORD, source);
    const tookMs = performance.now() - began;
    if (answer.status === 200) return tookMs;
    if (tookMs > GET_IN_MS) return null;
    await pause(Number(headerOf(answer, "retry-after") ?? 1) * 1000);
  }
}

/**
 * Waves of requests, each shortly after the previous one is answered, with a concurrent read every 25 ms, measured from
 * its due time: a late read delays the following ones instead of replacing them.
 */
async function besides(
  stage: Stage,
  key: readonly [string, string],
  durationMs: number,
  wave: () => Promise<RawAnswer[]>,
): Promise<{ answers: RawAnswer[]; times: number[]; refused: number }> {
  const end = performance.now() + durationMs;
  const answers: RawAnswer[] = [];
  const waves = (async () => {
    while (performance.now() < end) {
      answers.push(...(await wave()));
      await pause(WAVE_PAUSE_MS);
    }
  })();
  const reads: Promise<Read>[] = [];
  for (let due = performance.now(); due < end; due += READ_EVERY_MS) {
    await pause(due - performance.now());
    reads.push(read(stage, key, due));
  }
  const done = await Promise.all(reads);
  await waves;
  return {
    answers,
    times: done.map(({ tookMs }) => tookMs),
    refused: done.filter(({ isRefused }) => isRefused).length / done.length,
  };
}

interface Read {
  /** From the due time to the answer. */
  readonly tookMs: number;
  /** Due to too many concurrent requests. */
  readonly isRefused: boolean;
}

async function read(stage: Stage, key: readonly [string, string], due: number): Promise<Read> {
  const answer = await fetch(`${stage.running.url}/api/v1/hosts?limit=50`, { headers: { [key[0]]: key[1] } });
  await answer.arrayBuffer();
  return { tookMs: performance.now() - due, isRefused: answer.status !== 200 };
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => systemTimers.after(Math.max(0, ms), resolve));
}

/** @returns stops it */
function every(ms: number, look: () => void): () => void {
  let callOff = () => {};
  const again = () => {
    look();
    callOff = systemTimers.after(ms, again);
  };
  again();
  return () => callOff();
}

function share(part: number): string {
  return `${(100 * part).toFixed(1)} %`;
}

function toldTimes(times: readonly number[]): string {
  return `median ${median(times).toFixed(1)}, p90 ${quantile(times, 0.9).toFixed(1)}, p99 ${quantile(times, 0.99).toFixed(1)} ms`;
}

function refusedInTime(answers: readonly RawAnswer[]): boolean {
  return answers
    .filter(({ status }) => status === 429)
    .every(
      (answer) =>
        /^[1-9]\d{0,2}$/.test(headerOf(answer, "retry-after") ?? "") &&
        memberOf(answer, "code") === "rate_limit_exceeded",
    );
}

function countsOf(answers: readonly RawAnswer[]): Map<number, number> {
  const counts = new Map<number, number>();
  for (const { status } of answers) counts.set(status, (counts.get(status) ?? 0) + 1);
  return new Map([...counts].sort(([a], [b]) => a - b));
}

function told(counts: ReadonlyMap<number, number>): string {
  return [...counts].map(([status, count]) => `${count} × ${status}`).join(", ");
}
