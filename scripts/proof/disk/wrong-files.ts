// Non-regular files where commands, the data directory and the backup directory expect regular ones.

import { existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Client } from "../../../test/support/appliance/client.ts";
import { withDeadline } from "../../../test/support/executable/executable.ts";
import { makePipe } from "../../../test/support/executable/special-files.ts";
import { WRONG_FILE_ROWS, WrongFileStage } from "../../../test/support/executable/wrong-files.ts";
import type { Finding, Proof, ProofContext } from "../part.ts";
import { ApplianceUnderTest, signIn } from "./appliance.ts";

/** In the short form, one in this many places is tested; the seed selects which. */
const SAMPLE_RATE = 15;
const TIMEOUT_MS = 30_000;

export async function wrongFiles(context: ProofContext): Promise<Proof> {
  return { findings: [await checkCommands(context), await checkBackupFolder(context), await checkLinks(context)] };
}

async function checkCommands({ directory, executable, form, seed }: ProofContext): Promise<Finding> {
  const folder = join(directory, "wrong-files");
  mkdirSync(folder);
  const stage = await WrongFileStage.make(executable, folder);
  const rows = WRONG_FILE_ROWS.filter((_, index) => form === "long" || index % SAMPLE_RATE === seed % SAMPLE_RATE);
  const wrong: string[] = [];
  let testedCount = 0;
  for (const row of rows) {
    const found = await row.check(stage);
    testedCount += row.kinds.length;
    wrong.push(...Object.entries(found).map(([kind, problems]) => `${row.name}, ${kind}: ${problems.join("; ")}`));
  }
  return {
    claim: "every command reports every wrong file type with one sentence and its status, without waiting",
    held: wrong.length === 0 && rows.length > 0,
    figure: wrong[0]?.slice(0, 600) ?? `${testedCount} files in ${rows.length} of ${WRONG_FILE_ROWS.length} places`,
  };
}

/** Tests wrong file types in the backup directory of a running appliance. */
async function checkBackupFolder(context: ProofContext): Promise<Finding> {
  const data = join(context.directory, "among-backups");
  const appliance = ApplianceUnderTest.in(context, data);
  try {
    await appliance.setUp();
    const running = await appliance.serve();
    // API keys may not query the appliance's status.
    const client = (await signIn(running.client())).client as Client;
    const backups = join(data, "backups");
    mkdirSync(backups, { mode: 0o700 });
    const name = (milliseconds: number) => join(backups, `netledger-20260101T000000${milliseconds}Z.db`);
    symlinkSync("/nowhere/at/all", name(100));
    symlinkSync(name(101), name(101));
    symlinkSync("/dev/zero", name(102));
    makePipe(name(103));
    mkdirSync(name(104));
    const pending = Promise.all([client.get("backups"), client.get("appliance"), client.post("backups", {})]);
    // Opening the pipe blocks forever.
    const responses = await withDeadline(pending, "the backups", () => running.kill("SIGKILL"), TIMEOUT_MS).catch(
      () => [],
    );
    const statuses = responses.map(({ status }) => status);
    const listed: Array<{ name: string }> = responses[0]?.data ?? [];
    return {
      claim:
        "links, FIFOs and directories named like backups are not listed as backups, which are still listed and taken",
      held:
        statuses.length === 3 &&
        statuses.every((status) => status === 200) &&
        listed.every((backup) => !backup.name.startsWith("netledger-2026010")),
      figure: `statuses ${statuses.join(", ")}; ${listed.length} listed`,
    };
  } finally {
    await appliance.close();
  }
}

async function checkLinks(context: ProofContext): Promise<Finding> {
  const data = join(context.directory, "through-links");
  const appliance = ApplianceUnderTest.in(context, data);
  const outsideFile = join(context.directory, "theirs");
  writeFileSync(outsideFile, "theirs");
  try {
    await appliance.setUp();
    symlinkSync(outsideFile, join(data, "netledger-verifications.json.new"));
    const running = await appliance.serve();
    const client = (await signIn(running.client())).client as Client;
    const { status } = await client.post("ledger/verifications", {});
    const isStored = existsSync(join(data, "netledger-verifications.json"));
    return {
      claim: "nothing is written through a link placed in the data folder",
      held: status === 200 && isStored && readFileSync(outsideFile, "utf8") === "theirs",
      figure: `status ${status}; ${isStored ? "stored" : "not stored"}`,
    };
  } finally {
    await appliance.close();
  }
}
