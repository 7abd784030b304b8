// Timing of failed sign-ins, which must not reveal that an account exists, is disabled or belongs to another user.

import { PASSWORD_MAX_LENGTH, PASSWORD_MEMORY_KIB, PASSWORD_TIME_COST } from "../../../src/access/password.ts";
import { type SeededRandom, seededRandom } from "../../../test/support/injected/seeded-random.ts";
import type { Finding, ProofContext, Table } from "../part.ts";
import { detectableShift, mannWhitney, median, shift } from "./samples.ts";
import {
  DISABLED_EMAIL,
  MEMBER_EMAIL,
  PERSON_PASSWORD,
  populate,
  STRANGER_EMAIL,
  sources,
  Testbed,
} from "./testbed.ts";

/** Significance level of a difference in timing. */
const LIMIT = 1e-5;
/** Minimum number of samples per case, even when the time is used up: fewer would detect too little. */
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

/** Cases to compare; the first one in each group is the baseline, an unknown account. */
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

/** Sign-in that the throttle refuses without hashing: shows the timing of a missing hash. */
const UNHASHED: Case = { name: "nothing hashed", email: () => "slowed@acme.example", password: () => "a wrong phrase" };
const UNHASHED_SOURCE = "127.251.0.1";

export async function proveTiming(context: ProofContext): Promise<{ findings: Finding[]; table: Table }> {
  const testbed = new Testbed(context, "timing");
  try {
    await populate(testbed);
    const samples = await measure(testbed, seededRandom(context.seed), ROUNDS[context.form]);
    const findings: Finding[] = [];
    const rows: string[][] = [];
    for (const [reference, ...others] of GROUPS) {
      if (reference === undefined) continue;
      const unknown = samples.get(reference) ?? [];
      rows.push([reference.name, String(unknown.length), median(unknown).toFixed(2), "", ""]);
      for (const compared of others) {
        const times = samples.get(compared) ?? [];
        const pValue = mannWhitney(times, unknown);
        const steps = Array.from({ length: 110 }, (_, step) => 0.05 * 1.1 ** step);
        rows.push([
          compared.name,
          String(times.length),
          median(times).toFixed(2),
          shift(times, unknown).toFixed(2),
          pValue.toPrecision(2),
        ]);
        findings.push({
          claim: `the duration of a sign-in does not distinguish "${compared.name}" from "${reference.name}"`,
          held: pValue >= LIMIT,
          figure: `${shift(times, unknown).toFixed(2)} ms apart, by chance with p = ${pValue.toPrecision(2)} (limit ${LIMIT}); ${detectableShift(times, unknown, LIMIT, steps).toFixed(2)} ms more would have been detected`,
        });
      }
    }
    const [unknown = [], unhashed = []] = [samples.get(GROUPS[0]?.[0] as Case), samples.get(UNHASHED)];
    const halves = [0, 1].map((half) => unknown.filter((_, index) => index % 2 === half)) as [number[], number[]];
    rows.push([
      UNHASHED.name,
      String(unhashed.length),
      median(unhashed).toFixed(2),
      shift(unhashed, unknown).toFixed(2),
      mannWhitney(unhashed, unknown).toPrecision(2),
    ]);
    findings.push({
      claim: "the comparison detects a skipped hash, and reports no difference where there is none",
      held: mannWhitney(unhashed, unknown) < LIMIT && mannWhitney(...halves) >= LIMIT,
      figure: `attempts without hashing take ${median(unhashed).toFixed(1)} ms, p = ${mannWhitney(unhashed, unknown).toPrecision(2)}; one half of the unknown accounts against the other ${mannWhitney(...halves).toPrecision(2)}`,
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
    await testbed.close();
  }
}

/**
 * Measures all cases in rounds, each in a different order, so that other load on the machine affects all equally. Each
 * attempt has its own source address.
 */
async function measure(
  testbed: Testbed,
  random: SeededRandom,
  { max, budgetMs }: { readonly max: number; readonly budgetMs: number },
): Promise<Map<Case, number[]>> {
  const next = sources();
  const end = performance.now() + budgetMs;
  const cases = [...GROUPS.flat(), UNHASHED];
  const times = new Map<Case, number[]>(cases.map((tested) => [tested, []]));
  const exhaustAttempts = async () => {
    while ((await testbed.signIn(UNHASHED.email(random), UNHASHED.password(random), UNHASHED_SOURCE)).status === 401);
  };
  // Rounds below 0 are a warm-up for JIT compilation.
  for (let round = -3; round < max && (round < SAMPLES_MIN || performance.now() < end); round += 1) {
    // The delay grows with every failure: soon every attempt is throttled.
    await exhaustAttempts();
    for (const tested of shuffled(cases, random)) {
      const source = tested === UNHASHED ? UNHASHED_SOURCE : next();
      const response = await testbed.signIn(tested.email(random), tested.password(random), source);
      if (tested === UNHASHED && response.status === 401) continue;
      if (response.status !== (tested === UNHASHED ? 429 : 401))
        throw new Error(`${tested.name}: ${response.status} ${response.text}`);
      if (round >= 0) times.get(tested)?.push(response.tookMs);
    }
  }
  return times;
}

function shuffled<T>(items: readonly T[], random: SeededRandom): T[] {
  const remaining = [...items];
  return items.map(() => remaining.splice(random.integer(remaining.length), 1)[0] as T);
}

/** Measures one Argon2id hash with the appliance's parameters. @returns the median duration */
export async function measureHashMs(): Promise<number> {
  const hash = await Bun.password.hash("a phrase", {
    algorithm: "argon2id",
    memoryCost: PASSWORD_MEMORY_KIB,
    timeCost: PASSWORD_TIME_COST,
  });
  const times: number[] = [];
  for (let n = 0; n < 7; n += 1) {
    const started = performance.now();
    await Bun.password.verify("another phrase", hash);
    times.push(performance.now() - started);
  }
  return median(times);
}
