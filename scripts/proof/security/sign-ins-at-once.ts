// Concurrent sign-ins of one account from one address: the right password gets in, and guesses get no more tries than
// in sequence.

import { ATTEMPT_WAIT_MS, ATTEMPTS_MAX_WAITING, PAIR_FREE_FAILURES } from "../../../src/sessions/sign-in-throttle.ts";
import type { Finding, Proving } from "../part.ts";
import { headerOf, type RawAnswer } from "./raw-client.ts";
import { MEMBER_EMAIL, OWNER_EMAIL, OWNER_PASSWORD, PERSON_PASSWORD, populate, Stage, sources } from "./stage.ts";

const RIGHT_AT_ONCE = 1 + ATTEMPTS_MAX_WAITING;
const WRONG_AT_ONCE = 60;
const ROUNDS: Readonly<Record<Proving["form"], number>> = { short: 2, long: 10 };

export async function proveSignInsAtOnce(proving: Proving): Promise<Finding[]> {
  const stage = new Stage(proving, "sign-ins-at-once");
  try {
    await populate(stage);
    const next = sources();
    const session = await stage.cookieOf(OWNER_EMAIL, OWNER_PASSWORD, next());
    const right: { readonly status: number; readonly tookMs: number }[][] = [];
    const wrong: Guessed[] = [];
    const guess = async (name: string, send: (n: number) => Promise<RawAnswer>) => {
      const began = performance.now();
      const answers = await Promise.all(Array.from({ length: WRONG_AT_ONCE }, (_, n) => send(n)));
      wrong.push({ name, answers, tookMs: performance.now() - began });
    };
    for (let round = 0; round < ROUNDS[proving.form]; round += 1) {
      const [desk, theirs, nobodys, changing] = [next(), next(), next(), next()];
      const enter = async () => {
        const began = performance.now();
        const { status } = await stage.signIn(MEMBER_EMAIL, PERSON_PASSWORD, desk);
        return { status, tookMs: performance.now() - began };
      };
      right.push(await Promise.all(Array.from({ length: RIGHT_AT_ONCE }, enter)));
      await guess("a member's password", (n) => stage.signIn(MEMBER_EMAIL, `guess ${n}`, theirs));
      await guess("an account that is not there", (n) => stage.signIn("nobody@acme.example", `guess ${n}`, nobodys));
      await guess("the password of a stolen session", (n) => {
        const body = { current_password: `guess ${n}`, new_password: PERSON_PASSWORD };
        return stage.send("PUT", "/api/auth/password", body, [session], changing);
      });
    }
    const refused = wrong.flatMap(({ answers }) => answers.filter(({ status }) => status !== 401));
    return [
      {
        claim: `${RIGHT_AT_ONCE} concurrent correct sign-ins of one account from one address succeed in sequence; none is refused before it has waited ${ATTEMPT_WAIT_MS / 1_000} s`,
        held:
          right.every((answers) => answers.some(({ status }) => status === 200)) &&
          right.flat().every(({ status, tookMs }) => status === 200 || (status === 429 && tookMs >= ATTEMPT_WAIT_MS)),
        figure: right.map(gotIn).join("; "),
      },
      {
        claim: `of ${WRONG_AT_ONCE} concurrent guesses of one password as many are verified as in sequence, and the others are refused with 429 and Retry-After`,
        held:
          wrong.every((guessed) => verified(guessed) > 0 && verified(guessed) <= allowed(guessed)) &&
          refused.every((answer) => answer.status === 429 && Number(headerOf(answer, "retry-after")) > 0),
        figure: wrong.map((guessed) => `${guessed.name}: ${verified(guessed)}`).join("; "),
      },
    ];
  } finally {
    await stage.close();
  }
}

function gotIn(answers: readonly { readonly status: number; readonly tookMs: number }[]): string {
  const lastMs = Math.max(...answers.map(({ tookMs }) => tookMs));
  return `${answers.filter(({ status }) => status === 200).length} got in, the last answer after ${Math.round(lastMs)} ms`;
}

interface Guessed {
  readonly name: string;
  readonly answers: readonly RawAnswer[];
  readonly tookMs: number;
}

function verified({ answers }: Guessed): number {
  return answers.filter(({ status }) => status === 401).length;
}

/** Free attempts, then one more after 1 s, after 2 s more, after 4 s more … */
function allowed({ tookMs }: Guessed): number {
  return PAIR_FREE_FAILURES + 1 + Math.floor(Math.log2(1 + tookMs / 1_000));
}
