// Single corrupted bytes of the database, at any offset: either verify finds one, or it changes no answer.

import { copyFileSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { systemRandom } from "../../../src/base/random.ts";
import { SecretBox } from "../../../src/base/secret-box.ts";
import { openImmutable } from "../../../src/db/connection.ts";
import { dataFiles } from "../../../src/db/files/data-directory.ts";
import { trySecrets } from "../../../src/resources/credentials/sealed-secrets.ts";
import type { Client } from "../../../test/support/appliance/client.ts";
import { PASSWORD } from "../../../test/support/executable/executable.ts";
import { type SeededRandom, seededRandom } from "../../../test/support/injected/seeded-random.ts";
import { type FilledStore, fillStore } from "../../../test/support/store/filled-store.ts";
import type { Proof, Proving } from "../part.ts";
import { ProvedAppliance } from "./appliance.ts";
import { finding, told } from "./full.ts";
import { DatabasePages } from "./pages.ts";

const BYTES = { short: 60, long: 1_000 };
/** Number of undetected changes checked together: on a different answer, each is checked alone. */
const TOGETHER = 12;
const LANES = 2;
/** Exit statuses of verify: intact, damaged, unreadable. */
const WAYS_TO_END = [0, 1, 3];

interface Change {
  readonly at: number;
  readonly from: number;
  readonly to: number;
}

/** Changes single bytes of a well-filled database: half at any offset of the file, half in used ranges. */
export async function changedBytes(proving: Proving): Promise<Proof> {
  const good = join(proving.directory, "changed-good");
  const store = await fillStore(good, Date.now());
  const bytes = readFileSync(dataFiles(good).database);
  const trial = new Trial(proving, good, store, bytes);
  const changes = drawChanges(
    new DatabasePages(dataFiles(good).database, bytes),
    seededRandom(proving.seed),
    BYTES[proving.form],
  );
  const answers = await trial.answers([]);
  const wrong: string[] = [];
  const strange: string[] = [];
  const sound: Change[] = [];
  await inLanes(changes, async (change) => {
    const { code, text } = await trial.verify(change);
    if (code === 0) sound.push(change);
    else if (!WAYS_TO_END.includes(code ?? -1)) strange.push(`${describe(change)}: ${code} ${text.slice(-200)}`);
  });
  const groups = Array.from({ length: Math.ceil(sound.length / TOGETHER) }, (_, place) =>
    sound.slice(place * TOGETHER, (place + 1) * TOGETHER),
  );
  await inLanes(groups, async (group) => {
    if (differing(answers, await trial.answers(group)) === null) return;
    for (const change of group) {
      const question = differing(answers, await trial.answers([change]));
      if (question !== null) wrong.push(`${describe(change)}: ${question}`);
    }
    if (wrong.length === 0) wrong.push(`${group.map(describe).join(", ")}: together`);
  });
  return {
    findings: [
      finding(
        "no byte of the database can change so that verify finds it intact although an answer differs",
        wrong.length === 0,
        `${changes.length} bytes changed individually: ${changes.length - sound.length} found; with the others, found intact, all ${answers.size} answers are unchanged${told(wrong)}`,
      ),
      finding(
        "verify exits cleanly whatever byte was changed",
        strange.length === 0,
        `${changes.length} times${told(strange)}`,
      ),
    ],
  };
}

/** Sequential tests on copies of the data. */
class Trial {
  private readonly proving: Proving;
  private readonly good: string;
  private readonly store: FilledStore;
  private readonly bytes: Buffer;
  private count = 0;

  constructor(proving: Proving, good: string, store: FilledStore, bytes: Buffer) {
    this.proving = proving;
    this.good = good;
    this.store = store;
    this.bytes = bytes;
  }

  verify(change: Change): Promise<{ readonly code: number | null; readonly text: string }> {
    return this.withCopy([change], async (appliance) => {
      const { code, out, err } = await appliance.run(["verify"]);
      return { code, text: out + err };
    });
  }

  /** All answers from the data, by question. */
  answers(changes: readonly Change[]): Promise<ReadonlyMap<string, string>> {
    return this.withCopy(changes, async (appliance, folder) => {
      const answers = new Map<string, string>([["the secrets that scans are given", this.secrets(folder)]]);
      const running = await appliance.serve();
      for (const { as, path } of this.store.questions) {
        answers.set(`${as} ${path}`, await answerOf(running.client(this.store.callers[as]).get(path)));
      }
      const { repeated, email } = this.store;
      const owner: Client = running.client(this.store.callers.owner);
      answers.set("a repeated request", await answerOf(owner.post(repeated.path, repeated.body, repeated.headers)));
      // The record has the timestamp.
      answers.set(
        "a sign-in",
        (await answerOf(running.client().post("/api/auth/login", { email, password: PASSWORD }))).slice(0, 3),
      );
      await running.stop();
      return answers;
    });
  }

  private secrets(folder: string): string {
    const files = dataFiles(folder);
    const db = openImmutable(files.database);
    try {
      return JSON.stringify(trySecrets(db, new SecretBox(readFileSync(files.key), systemRandom)));
    } catch (error) {
      return String(error);
    } finally {
      db.$client.close();
    }
  }

  private async withCopy<T>(
    changes: readonly Change[],
    act: (appliance: ProvedAppliance, folder: string) => Promise<T>,
  ): Promise<T> {
    this.count += 1;
    const folder = join(this.proving.directory, `changed-${this.count}`);
    mkdirSync(folder, { mode: 0o700 });
    const changed = Buffer.from(this.bytes);
    for (const { at, to } of changes) changed[at] = to;
    writeFileSync(dataFiles(folder).database, changed);
    copyFileSync(dataFiles(this.good).key, dataFiles(folder).key);
    const appliance = new ProvedAppliance(
      { executable: this.proving.executable, data: folder, seen: folder },
      join(this.proving.directory, "notes"),
    );
    try {
      return await act(appliance, folder);
    } finally {
      await appliance.close();
      rmSync(folder, { recursive: true, force: true });
    }
  }
}

function drawChanges(pages: DatabasePages, random: SeededRandom, count: number): Change[] {
  const used = pages.usedRanges();
  return Array.from({ length: count }, (_, place) => {
    const [start, end] = place % 2 === 0 ? [0, pages.bytes.length] : random.pick(used);
    const at = start + random.integer(end - start);
    const from = pages.bytes[at] as number;
    // Single-bit flips are as frequent as other changes.
    return {
      at,
      from,
      to: random.integer(2) === 0 ? from ^ (1 << random.integer(8)) : (from + 1 + random.integer(255)) % 256,
    };
  });
}

async function answerOf(asked: Promise<{ readonly status: number; readonly text: string }>): Promise<string> {
  try {
    const { status, text } = await asked;
    return `${status} ${text}`;
  } catch (error) {
    return `broken off: ${error instanceof Error ? error.message : String(error)}`;
  }
}

/** First question with a different answer, with both answers; null for none. */
function differing(expected: ReadonlyMap<string, string>, found: ReadonlyMap<string, string>): string | null {
  for (const [question, answer] of expected) {
    const other = found.get(question) ?? "";
    if (other === answer) continue;
    const place = [...answer].findIndex((letter, at) => letter !== other[at]);
    const from = Math.max(0, place - 40);
    return `${question}: …${answer.slice(from, from + 120)}… is answered …${other.slice(from, from + 120)}…`;
  }
  return null;
}

function describe({ at, from, to }: Change): string {
  return `byte ${at}, ${from} to ${to}`;
}

async function inLanes<T>(items: readonly T[], act: (item: T) => Promise<void>): Promise<void> {
  const waiting = [...items];
  const lane = async () => {
    for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) await act(next);
  };
  await Promise.all(Array.from({ length: LANES }, lane));
}
