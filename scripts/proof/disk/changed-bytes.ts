// Single corrupted bytes of the database, at any offset: verify detects the change, or it affects no response.

import { copyFileSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { systemRandom } from "../../../src/base/random.ts";
import { SecretBox } from "../../../src/base/secret-box.ts";
import { openImmutable } from "../../../src/db/connection.ts";
import { dataFiles } from "../../../src/db/files/data-directory.ts";
import { forEachConcurrently } from "../../../src/importers/concurrency.ts";
import { countSecrets } from "../../../src/resources/credentials/sealed-secrets.ts";
import { PASSWORD } from "../../../test/support/executable/executable.ts";
import { type SeededRandom, seededRandom } from "../../../test/support/injected/seeded-random.ts";
import { type FilledStore, fillStore } from "../../../test/support/store/filled-store.ts";
import type { Proof, ProofContext } from "../part.ts";
import { ApplianceUnderTest } from "./appliance.ts";
import { finding, problemSummary } from "./full.ts";
import { DatabasePages } from "./pages.ts";

const BYTES = { short: 60, long: 1_000 };
/** Undetected changes checked together; if a response differs, each is checked alone. */
const GROUP_SIZE = 12;
const CONCURRENCY = 2;
/** Exit statuses of verify: intact, damaged, unreadable. */
const EXIT_STATUSES = [0, 1, 3];

interface Change {
  readonly offset: number;
  readonly from: number;
  readonly to: number;
}

/** Changes single bytes of a well-filled database, half of them at any offset of the file, half in used ranges. */
export async function changedBytes(context: ProofContext): Promise<Proof> {
  const good = join(context.directory, "changed-good");
  const store = await fillStore(good, Date.now());
  const bytes = readFileSync(dataFiles(good).database);
  const trial = new Trial(context, good, store, bytes);
  const pages = new DatabasePages(dataFiles(good).database, bytes);
  const changes = drawChanges(pages, seededRandom(context.seed), BYTES[context.form]);
  const responses = await trial.responses([]);
  const wrong: string[] = [];
  const unexpected: string[] = [];
  const undetected: Change[] = [];
  await forEachConcurrently(changes, CONCURRENCY, async (change) => {
    const { code, text } = await trial.verify(change);
    if (code === 0) undetected.push(change);
    else if (!EXIT_STATUSES.includes(code ?? -1)) unexpected.push(`${describe(change)}: ${code} ${text.slice(-200)}`);
  });
  const groups = Array.from({ length: Math.ceil(undetected.length / GROUP_SIZE) }, (_, index) =>
    undetected.slice(index * GROUP_SIZE, (index + 1) * GROUP_SIZE),
  );
  await forEachConcurrently(groups, CONCURRENCY, async (group) => {
    if (firstDifference(responses, await trial.responses(group)) === null) return;
    for (const change of group) {
      const query = firstDifference(responses, await trial.responses([change]));
      if (query !== null) wrong.push(`${describe(change)}: ${query}`);
    }
    if (wrong.length === 0) wrong.push(`${group.map(describe).join(", ")}: together`);
  });
  return {
    findings: [
      finding(
        "no byte of the database can change so that verify finds it intact although a response differs",
        wrong.length === 0,
        `${changes.length} bytes changed individually: ${changes.length - undetected.length} detected; with the others, all ${responses.size} responses are unchanged${problemSummary(wrong)}`,
      ),
      finding(
        "verify exits cleanly regardless of the changed byte",
        unexpected.length === 0,
        `${changes.length} times${problemSummary(unexpected)}`,
      ),
    ],
  };
}

/** Runs tests on copies of the data. */
class Trial {
  private readonly context: ProofContext;
  private readonly good: string;
  private readonly store: FilledStore;
  private readonly bytes: Buffer;
  private count = 0;

  constructor(context: ProofContext, good: string, store: FilledStore, bytes: Buffer) {
    this.context = context;
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

  /** Collects all responses that the changed data gives, by request. */
  responses(changes: readonly Change[]): Promise<ReadonlyMap<string, string>> {
    return this.withCopy(changes, async (appliance, folder) => {
      const responses = new Map<string, string>([["the secrets for scans", this.secrets(folder)]]);
      const running = await appliance.serve();
      for (const { caller, path } of this.store.queries)
        responses.set(`${caller} ${path}`, await responseOf(running.client(this.store.callers[caller]).get(path)));
      const { repeatedRequest: repeated, email } = this.store;
      const owner = running.client(this.store.callers.owner);
      responses.set("a repeated request", await responseOf(owner.post(repeated.path, repeated.body, repeated.headers)));
      // Only the status, as the body contains a timestamp.
      const signIn = await responseOf(running.client().post("/api/auth/login", { email, password: PASSWORD }));
      responses.set("a sign-in", signIn.slice(0, 3));
      await running.stop();
      return responses;
    });
  }

  private secrets(folder: string): string {
    const files = dataFiles(folder);
    const db = openImmutable(files.database);
    try {
      return JSON.stringify(countSecrets(db, new SecretBox(readFileSync(files.key), systemRandom)));
    } catch (error) {
      return String(error);
    } finally {
      db.$client.close();
    }
  }

  private async withCopy<T>(
    changes: readonly Change[],
    act: (appliance: ApplianceUnderTest, folder: string) => Promise<T>,
  ): Promise<T> {
    this.count += 1;
    const folder = join(this.context.directory, `changed-${this.count}`);
    mkdirSync(folder, { mode: 0o700 });
    const changed = Buffer.from(this.bytes);
    for (const { offset, to } of changes) changed[offset] = to;
    writeFileSync(dataFiles(folder).database, changed);
    copyFileSync(dataFiles(this.good).key, dataFiles(folder).key);
    const appliance = ApplianceUnderTest.in(this.context, folder);
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
  return Array.from({ length: count }, (_, index) => {
    const [start, end] = index % 2 === 0 ? [0, pages.bytes.length] : random.pick(used);
    const offset = start + random.integer(end - start);
    const from = pages.bytes[offset] as number;
    // Single-bit flips are as frequent as other changes.
    const to = random.integer(2) === 0 ? from ^ (1 << random.integer(8)) : (from + 1 + random.integer(255)) % 256;
    return { offset, from, to };
  });
}

async function responseOf(pending: Promise<{ readonly status: number; readonly text: string }>): Promise<string> {
  try {
    const { status, text } = await pending;
    return `${status} ${text}`;
  } catch (error) {
    return `failed: ${error instanceof Error ? error.message : String(error)}`;
  }
}

/** Finds the first request whose response differs. @returns it with both responses; null if all are equal */
function firstDifference(expected: ReadonlyMap<string, string>, found: ReadonlyMap<string, string>): string | null {
  for (const [query, response] of expected) {
    const changed = found.get(query) ?? "";
    if (changed === response) continue;
    const index = [...response].findIndex((letter, offset) => letter !== changed[offset]);
    const from = Math.max(0, index - 40);
    return `${query}: …${response.slice(from, from + 120)}… became …${changed.slice(from, from + 120)}…`;
  }
  return null;
}

function describe({ offset, from, to }: Change): string {
  return `byte ${offset}, ${from} to ${to}`;
}
