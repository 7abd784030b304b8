// Non-regular files in place of those of commands, the data folder and the backup folder.

import { existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Client } from "../../../test/support/appliance/client.ts";
import { PASSWORD, type Running, withDeadline } from "../../../test/support/executable/executable.ts";
import { makePipe } from "../../../test/support/executable/special-files.ts";
import { WRONG_FILE_ROWS, WrongFileStage } from "../../../test/support/executable/wrong-files.ts";
import type { Finding, Proof, Proving } from "../part.ts";
import { EMAIL, ProvedAppliance } from "./appliance.ts";

/** In the short form, one in this many places is tested, by the seed. */
const SHARE = 15;
const ANSWERS_MS = 30_000;

export async function wrongFiles(proving: Proving): Promise<Proof> {
  return { findings: [await places(proving), await amongBackups(proving), await throughLinks(proving)] };
}

async function places({ directory, executable, form, seed }: Proving): Promise<Finding> {
  const folder = join(directory, "wrong-files");
  mkdirSync(folder);
  const stage = await WrongFileStage.make(executable, folder);
  const rows = WRONG_FILE_ROWS.filter((_, place) => form === "long" || place % SHARE === seed % SHARE);
  const wrong: string[] = [];
  let tried = 0;
  for (const row of rows) {
    const found = await row.tried(stage);
    tried += row.kinds.length;
    wrong.push(...Object.entries(found).map(([kind, problems]) => `${row.name}, ${kind}: ${problems.join("; ")}`));
  }
  return {
    claim: "every command answers every wrong file type with one sentence and its status, without waiting",
    held: wrong.length === 0 && rows.length > 0,
    figure: wrong[0]?.slice(0, 600) ?? `${tried} files in ${rows.length} of ${WRONG_FILE_ROWS.length} places`,
  };
}

/** While the appliance runs. */
async function amongBackups(proving: Proving): Promise<Finding> {
  const data = join(proving.directory, "among-backups");
  const appliance = ProvedAppliance.in(proving, data);
  try {
    await appliance.setUp();
    const running = await appliance.serve();
    const client = await signedIn(running);
    const backups = join(data, "backups");
    mkdirSync(backups, { mode: 0o700 });
    const name = (milliseconds: number) => join(backups, `netledger-20260101T000000${milliseconds}Z.db`);
    symlinkSync("/nowhere/at/all", name(100));
    symlinkSync(name(101), name(101));
    symlinkSync("/dev/zero", name(102));
    makePipe(name(103));
    mkdirSync(name(104));
    const asked = Promise.all([client.get("backups"), client.get("appliance"), client.post("backups", {})]);
    // Opening the pipe blocks forever.
    const answers = await withDeadline(asked, "the backups", () => running.kill("SIGKILL"), ANSWERS_MS).catch(() => []);
    const statuses = answers.map(({ status }) => status);
    const listed: Array<{ name: string }> = answers[0]?.data ?? [];
    return {
      claim:
        "links, FIFOs and directories named like backups are not listed as backups, which are still listed and taken",
      held:
        statuses.length === 3 &&
        statuses.every((status) => status === 200) &&
        listed.every((each) => !each.name.startsWith("netledger-2026010")),
      figure: `answered ${statuses.join(", ")}; ${listed.length} listed`,
    };
  } finally {
    await appliance.close();
  }
}

async function throughLinks(proving: Proving): Promise<Finding> {
  const data = join(proving.directory, "through-links");
  const appliance = ProvedAppliance.in(proving, data);
  const theirs = join(proving.directory, "theirs");
  writeFileSync(theirs, "theirs");
  try {
    await appliance.setUp();
    symlinkSync(theirs, join(data, "netledger-verifications.json.new"));
    const running = await appliance.serve();
    const { status } = await (await signedIn(running)).post("ledger/verifications", {});
    const isKept = existsSync(join(data, "netledger-verifications.json"));
    return {
      claim: "nothing is written through a link placed in the data folder",
      held: status === 200 && isKept && readFileSync(theirs, "utf8") === "theirs",
      figure: `answered ${status}; ${isKept ? "kept" : "not kept"}`,
    };
  } finally {
    await appliance.close();
  }
}

/** As the Owner: API keys may not query the appliance as a whole. */
async function signedIn(running: Running): Promise<Client> {
  const answer = await running.client().post("/api/auth/login", { email: EMAIL, password: PASSWORD });
  if (answer.status !== 200) throw new Error(`the Owner could not sign in: ${answer.status}`);
  return running.client({ cookie: answer.headers.get("set-cookie")?.split(";")[0] ?? "" });
}
