// Timing of failed sign-ins: whether it reveals that an account exists, is disabled or belongs to another user.

import { PASSWORD_MAX_LENGTH, PASSWORD_MEMORY_KIB, PASSWORD_TIME_COST } from "../../../src/access/password.ts";
import { type SeededRandom, seededRandom } from "../../../test/support/injected/seeded-random.ts";
import type { Finding, Proving, Table } from "../part.ts";
import { mannWhitney, median, noticedShift, shift } from "./samples.ts";
import { DISABLED_EMAIL, MEMBER_EMAIL, PERSON_PASSWORD, populate, STRANGER_EMAIL, Stage, sources } from "./stage.ts";

/** Significance level of a difference. */
const LIMIT = 1e-5;
/** Minimum samples per case when the time is used up: fewer would detect too little. */
const SAMPLES_MIN = 20;
const ROUNDS = { short: { max: 40, budgetMs: 12_000 }, long: { max: 600, budgetMs: 300_000 } } as const;

interface Case {
  readonly name: string;
  readonly email: (random: SeededRandom) => string;
  readonly password: (random: SeededRandom) => string;
}

const unknownEmail = (random: SeededRandom) => `nobody${random.integer(1e9)}@acme.example`;
const usualPassword = (random: SeededRandom) => `a wrong phrase ${random.integer(1e9)}`;
const longPassword = () => "é".repeat(PASSWORD_MAX_LENGTH);

/** Baseline first in each group: an unknown account. */
const GROUPS: readonly (readonly Case[])[] = [
  [
    { name: "no such account", email: unknownEmail, password: usualPassword },
    { name: "wrong password", email: () => MEMBER_EMAIL, password: usualPassword },
    { name: "disabled account, right password", email: () => DISABLED_EMAIL, password: () => PERSON_PASSWORD },
    { name: "account of another organization, wrong password", email: () => STRANGER_EMAIL, password: usualPassword },
    { name: "wrong password of one character", email: () => MEMBER_EMAIL, password: () => "x" },
  ],
  [
    { name: `no such account, ${PASSWORD_MAX_LENGTH} characters`, email: unknownEmail, password: longPassword },
    { name: `wrong password of ${PASSWORD_MAX_LENGTH} characters`, email: () => MEMBER_EMAIL, password: longPassword },
  ],
];

/** Answered by the throttle without hashing: the timing of a missing hash. */
const UNHASHED: Case = { name: "nothing hashed", email: () => "slowed@acme.example", password: () => "a wrong phrase" };
const UNHASHED_SOURCE = "127.251.0.1";

export async function proveTiming(proving: Proving): Promise<{ findings: Finding[]; table: Table }> {
  const stage = new Stage(proving, "timing");
  try {
    await populate(stage);
    const measured = await measure(stage, seededRandom(proving.seed), ROUNDS[proving.form]);
    const findings: Finding[] = [];
    const rows: string[][] = [];
    for (const [reference, ...others] of GROUPS) {
      if (reference === undefined) continue;
      const unknown = measured.get(reference) ?? [];
      rows.push([reference.name, String(unknown.length), median(unknown).toFixed(2), "", ""]);
      for (const each of others) {
        const times = measured.get(each) ?? [];
        const chance = mannWhitney(times, unknown);
        const steps = Array.from({ length: 110 }, (_, step) => 0.05 * 1.1 ** step);
        rows.push([
          each.name,
          String(times.length),
          median(times).toFixed(2),
          shift(times, unknown).toFixed(2),
          chance.toPrecision(2),
        ]);
        findings.push({
          claim: `the duration of a sign-in does not distinguish "${each.name}" from "${reference.name}"`,
          held: chance >= LIMIT,
          figure: `${shift(times, unknown).toFixed(2)} ms apart, by chance with p = ${chance.toPrecision(2)} (limit ${LIMIT}); ${noticedShift(times, unknown, LIMIT, steps).toFixed(2)} ms more would have been noticed`,
        });
      }
    }
    const [unknown = [], unhashed = []] = [measured.get(GROUPS[0]?.[0] as Case), measured.get(UNHASHED)];
    const halves = [0, 1].map((half) => unknown.filter((_, at) => at % 2 === half)) as [number[], number[]];
    rows.push([
      UNHASHED.name,
      String(unhashed.length),
      median(unhashed).toFixed(2),
      shift(unhashed, unknown).toFixed(2),
      mannWhitney(unhashed, unknown).toPrecision(2),
    ]);
    findings.push({
      claim: "the comparison would detect a skipped hash, and finds no difference where there is none",
      held: mannWhitney(unhashed, unknown) < LIMIT && mannWhitney(...halves) >= LIMIT,
      figure: `attempts for which nothing is hashed take ${median(unhashed).toFixed(1)} ms, p = ${mannWhitney(unhashed, unknown).toPrecision(2)}; one half of the same attempts against the other ${mannWhitney(...halves).toPrecision(2)}`,
    });
    return {
      findings,
      table: {
        title: "Failing sign-ins, in ms (median; difference by Hodges and Lehmann; probability by Mann and Whitney)",
        columns: ["case", "samples", "median", "difference", "p"],
        rows,
      },
    };
  } finally {
    await stage.close();
  }
}

/**
 * Rounds of all cases, each in a different order: other load of the machine affects all alike. Each try has a separate
 * source address.
 */
async function measure(
  stage: Stage,
  random: SeededRandom,
  { max, budgetMs }: { readonly max: number; readonly budgetMs: number },
): Promise<Map<Case, number[]>> {
  const next = sources();
  const end = performance.now() + budgetMs;
  const cases = [...GROUPS.flat(), UNHASHED];
  const times = new Map<Case, number[]>(cases.map((each) => [each, []]));
  // The first ones include JIT compilation.
  const slowDown = async () => {
    while ((await stage.signIn(UNHASHED.email(random), UNHASHED.password(random), UNHASHED_SOURCE)).status === 401);
  };
  for (let round = -3; round < max && (round < SAMPLES_MIN || performance.now() < end); round += 1) {
    // The delays grow with every failure: soon no attempt is left.
    await slowDown();
    for (const each of shuffled(cases, random)) {
      const answer = await stage.signIn(
        each.email(random),
        each.password(random),
        each === UNHASHED ? UNHASHED_SOURCE : next(),
      );
      if (each === UNHASHED && answer.status === 401) continue;
      if (answer.status !== (each === UNHASHED ? 429 : 401))
        throw new Error(`${each.name}: ${answer.status} ${answer.text}`);
      if (round >= 0) times.get(each)?.push(answer.tookMs);
    }
  }
  return times;
}

function shuffled<T>(items: readonly T[], random: SeededRandom): T[] {
  const left = [...items];
  return items.map(() => left.splice(random.integer(left.length), 1)[0] as T);
}

/** Duration of one Argon2id hash here in ms, with the appliance's parameters. */
export async function hashTime(): Promise<number> {
  const hash = await Bun.password.hash("a phrase", {
    algorithm: "argon2id",
    memoryCost: PASSWORD_MEMORY_KIB,
    timeCost: PASSWORD_TIME_COST,
  });
  const times: number[] = [];
  for (let n = 0; n < 7; n += 1) {
    const began = performance.now();
    await Bun.password.verify("another phrase", hash);
    times.push(performance.now() - began);
  }
  return median(times);
}
