// Concurrent sign-ins to one account from one address: the correct password succeeds, and guesses get no more attempts
// than in sequence.

import { ATTEMPT_WAIT_MS, ATTEMPTS_MAX_WAITING, PAIR_FREE_FAILURES } from "../../../src/sessions/sign-in-throttle.ts";
import type { Finding, ProofContext } from "../part.ts";
import { headerOf, type RawResponse } from "./raw-client.ts";
import { MEMBER_EMAIL, OWNER_EMAIL, OWNER_PASSWORD, PERSON_PASSWORD, populate, sources, Testbed } from "./testbed.ts";

const CONCURRENT_CORRECT = 1 + ATTEMPTS_MAX_WAITING;
const CONCURRENT_GUESSES = 60;
const ROUNDS: Readonly<Record<ProofContext["form"], number>> = { short: 2, long: 10 };

export async function proveConcurrentSignIns(context: ProofContext): Promise<Finding[]> {
  const testbed = new Testbed(context, "concurrent-sign-ins");
  try {
    await populate(testbed);
    const next = sources();
    const session = await testbed.cookieOf(OWNER_EMAIL, OWNER_PASSWORD, next());
    const correct: { readonly status: number; readonly tookMs: number }[][] = [];
    const guesses: GuessSeries[] = [];
    const guess = async (name: string, send: (n: number) => Promise<RawResponse>) => {
      const started = performance.now();
      const responses = await Promise.all(Array.from({ length: CONCURRENT_GUESSES }, (_, n) => send(n)));
      guesses.push({ name, responses, tookMs: performance.now() - started });
    };
    for (let round = 0; round < ROUNDS[context.form]; round += 1) {
      const [desk, memberSource, unknownSource, changeSource] = [next(), next(), next(), next()];
      const signIn = async () => {
        const started = performance.now();
        const { status } = await testbed.signIn(MEMBER_EMAIL, PERSON_PASSWORD, desk);
        return { status, tookMs: performance.now() - started };
      };
      correct.push(await Promise.all(Array.from({ length: CONCURRENT_CORRECT }, signIn)));
      await guess("a member's password", (n) => testbed.signIn(MEMBER_EMAIL, `guess ${n}`, memberSource));
      await guess("an unknown account", (n) => testbed.signIn("nobody@acme.example", `guess ${n}`, unknownSource));
      await guess("the password of a stolen session", (n) => {
        const body = { current_password: `guess ${n}`, new_password: PERSON_PASSWORD };
        return testbed.send("PUT", "/api/auth/password", body, [session], changeSource);
      });
    }
    const refused = guesses.flatMap(({ responses }) => responses.filter(({ status }) => status !== 401));
    return [
      {
        claim: `${CONCURRENT_CORRECT} concurrent correct sign-ins of one account from one address succeed in sequence; none is refused before waiting ${ATTEMPT_WAIT_MS / 1_000} s`,
        held:
          correct.every((responses) => responses.some(({ status }) => status === 200)) &&
          correct.flat().every(({ status, tookMs }) => status === 200 || (status === 429 && tookMs >= ATTEMPT_WAIT_MS)),
        figure: correct.map(describeSignIns).join("; "),
      },
      {
        claim: `of ${CONCURRENT_GUESSES} concurrent guesses of one password as many are verified as in sequence; the others are refused with 429 and Retry-After`,
        held:
          guesses.every((series) => verifiedCount(series) > 0 && verifiedCount(series) <= allowedCount(series)) &&
          refused.every((response) => response.status === 429 && Number(headerOf(response, "retry-after")) > 0),
        figure: guesses.map((series) => `${series.name}: ${verifiedCount(series)}`).join("; "),
      },
    ];
  } finally {
    await testbed.close();
  }
}

function describeSignIns(responses: readonly { readonly status: number; readonly tookMs: number }[]): string {
  const lastMs = Math.max(...responses.map(({ tookMs }) => tookMs));
  return `${responses.filter(({ status }) => status === 200).length} succeeded, the last response after ${Math.round(lastMs)} ms`;
}

interface GuessSeries {
  readonly name: string;
  readonly responses: readonly RawResponse[];
  readonly tookMs: number;
}

function verifiedCount({ responses }: GuessSeries): number {
  return responses.filter(({ status }) => status === 401).length;
}

/** Number of attempts allowed: the free ones, then one after 1 s, one after 2 s more, one after 4 s more … */
function allowedCount({ tookMs }: GuessSeries): number {
  return PAIR_FREE_FAILURES + 1 + Math.floor(Math.log2(1 + tookMs / 1_000));
}
