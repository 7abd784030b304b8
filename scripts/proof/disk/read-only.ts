// Unwritable disks: remounted read-only under a running appliance, read-only from the start, and files owned by another
// user.

import { chmodSync, chownSync, mkdirSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { Running } from "../../../test/support/executable/executable.ts";
import type { Finding, Proof, ProofContext } from "../part.ts";
import { compileShim } from "../shim/compile.ts";
import { ApplianceUnderTest, onSmallDisk, until } from "./appliance.ts";
import { finding, isOneSentence, problemSummary, proofOf } from "./full.ts";
import { compare, ReadLoad, WriteLoad } from "./load.ts";
import type { SmallDisk } from "./small-disk.ts";

const WRITERS = 4;
const REFUSALS = 20;
const RECOVERY_MAX_MS = 1_000;
const DISK_BYTES = 24 * 2 ** 20;
const FILES = ["netledger.db", "netledger.key", "netledger.lock"];
/** User id without privileges. */
const UNPRIVILEGED_UID = 65_534;

/** Makes writes fail for a while, with a preload library: a file system in use can't be made read-only. */
export async function refusesWrites(context: ProofContext): Promise<Proof> {
  const shim = compileShim(context.directory);
  if ("missing" in shim)
    return { findings: [], skipped: [`A disk that refuses writes while the appliance runs: ${shim.missing}.`] };
  const findings: Finding[] = [];
  for (const error of context.form === "short" ? ["EROFS"] : ["EROFS", "EIO", "EDQUOT"])
    findings.push(await checkRefusal(context, shim.path, error));
  return { findings };
}

async function checkRefusal(context: ProofContext, shim: string, error: string): Promise<Finding> {
  const folder = join(context.directory, `refuses-${error}`);
  const gate = join(folder, "gate");
  const data = join(folder, "data");
  const appliance = ApplianceUnderTest.in(context, data, folder);
  try {
    const { key, networkId } = await appliance.setUp();
    const running = await appliance.serve({
      LD_PRELOAD: shim,
      FORGETFUL_ROOT: data,
      FORGETFUL_GATE: gate,
      FORGETFUL_FAIL_AFTER_BYTES: "0",
      FORGETFUL_FAIL_WITH: error,
    });
    const client = running.withKey(key);
    const load = new WriteLoad(networkId, context.seed, ["storage_full"]);
    load.start(client, WRITERS);
    await until(() => load.acknowledgements >= 60 || load.unexpected.length > 0);
    await load.stop();
    const reads = new ReadLoad();
    await reads.start(client, new Date(Date.now() - 1).toISOString());
    const refusedBefore = load.refusalCount;
    load.start(client, WRITERS);
    writeFileSync(gate, "");
    const refused = await until(() => load.refusalCount - refusedBefore >= REFUSALS || load.unexpected.length > 0);
    const backup = await client.post("/api/v1/backups", undefined);
    await load.stop();
    const wrong = await compare(client, load.acknowledged);
    rmSync(gate);
    const done = load.acknowledgements;
    load.start(client, WRITERS);
    const recovered = await until(() => load.acknowledgements > done);
    await load.stop();
    await reads.stop();
    // A backup that was started must have failed.
    const hasEnded = async () => (await client.get(`backups/${backup.data?.name}`)).data?.state !== "Running";
    const backupFailed = backup.status === 507 || (await until(hasEnded)) !== null;
    wrong.push(...load.unexpected, ...reads.unexpected, ...(await compare(client, load.acknowledged)));
    const end = await running.stop();
    const verified = await appliance.run(["verify"]);
    return finding(
      `while every write fails with ${error}, writes are refused with storage_full, reads continue, and writes resume within a second once the failure ends; nothing is lost`,
      refused !== null &&
        wrong.length === 0 &&
        recovered !== null &&
        recovered <= RECOVERY_MAX_MS &&
        backupFailed &&
        end.code === 0 &&
        verified.code === 0,
      `${load.acknowledgements} writes done, ${load.refusalCount} refused, ${reads.tookMs.length} reads; again after ${recovered?.toFixed(0) ?? "more than 5,000"} ms; stop ${end.code}, verify ${verified.code}${problemSummary(wrong)}`,
    );
  } finally {
    await appliance.close();
  }
}

export async function readOnlyFromTheStart(context: ProofContext): Promise<Proof> {
  const subject = "A disk that is read-only from the start";
  return onSmallDisk(context, "read-only", { bytes: DISK_BYTES }, subject, async (appliance, disk) => {
    await appliance.setUp();
    const before = dataFileNames(disk);
    if (!(await disk.remount("ro")))
      return { findings: [], skipped: [`${subject}: the file system cannot be remounted read-only here.`] };
    const served = await appliance.start();
    const listed = await appliance.run(["user", "list"]);
    const verified = await appliance.run(["verify"]);
    await disk.remount("rw");
    const isRefused = !(served instanceof Running) && served.code === 3 && isOneSentence(served.err);
    const restarted = await appliance.serve();
    const { code } = await restarted.stop();
    return proofOf(
      "a start on a read-only disk is refused in one sentence with status 3, commands give their reason, and it starts once the disk is writable",
      isRefused &&
        [listed, verified].every((result) => result.code === 0 || (result.code === 3 && isOneSentence(result.err))) &&
        code === 0 &&
        Bun.deepEquals(before, dataFileNames(disk)),
      `serve: ${served instanceof Running ? "started" : served.err.trim()}; user list: ${listed.code} ${listed.err.trim()}; verify: ${verified.code} ${verified.err.trim()}`,
    );
  });
}

/** Tests directories and files that the appliance's user may not write, or not even read. */
export async function foreignOwner(context: ProofContext): Promise<Proof> {
  if (process.getuid?.() !== 0 || Bun.which("setpriv") === null)
    return { findings: [], skipped: ["Data of another user: requires root and setpriv (util-linux)."] };
  const folder = join(context.directory, "other-users");
  const data = join(folder, "data");
  mkdirSync(folder, { mode: 0o755 });
  for (let path = folder; path !== dirname(context.directory); path = dirname(path)) chmodSync(path, 0o755);
  const appliance = ApplianceUnderTest.in(context, data);
  const commandPrefix = ["setpriv", `--reuid=${UNPRIVILEGED_UID}`, `--regid=${UNPRIVILEGED_UID}`, "--clear-groups"];
  const location = { executable: context.executable, data, hostData: data, commandPrefix };
  const unprivileged = new ApplianceUnderTest(location, join(context.directory, "notes"));
  /** Functions that set owners and modes, by name. */
  const cases: ReadonlyArray<readonly [string, () => void]> = [
    ["all owned by root, 0700", () => setOwner(data, 0, 0o700)],
    ["the folder 0500", () => setOwner(data, UNPRIVILEGED_UID, 0o500, UNPRIVILEGED_UID)],
    ["files owned by root, 0600", () => setOwner(data, UNPRIVILEGED_UID, 0o700)],
    [
      "the database 0400",
      () => {
        setOwner(data, UNPRIVILEGED_UID, 0o700, UNPRIVILEGED_UID);
        chmodSync(join(data, "netledger.db"), 0o400);
      },
    ],
  ];
  try {
    await appliance.setUp();
    const outcomes: string[] = [];
    let isClear = true;
    for (const [name, apply] of cases) {
      apply();
      const started = await unprivileged.start();
      if (started instanceof Running) {
        const { code } = await started.stop();
        outcomes.push(`${name}: starts, and stops with ${code}`);
        isClear = false;
      } else {
        outcomes.push(`${name}: ${started.code} ${started.err.trim()}`);
        isClear &&= started.code === 3 && isOneSentence(started.err);
      }
    }
    setOwner(data, 0, 0o700, 0, readdirSync(data));
    const verified = await appliance.run(["verify"]);
    return proofOf(
      "a start on data without access permissions is refused in one sentence with status 3, and the data stay intact",
      isClear && verified.code === 0,
      `${outcomes.join("; ")}; verify ${verified.code}`,
    );
  } finally {
    await appliance.close();
    await unprivileged.close();
  }
}

/** Sets the owner and mode of the directory, and the owner of its files, with mode 0600. */
function setOwner(data: string, owner: number, mode: number, fileOwner = 0, files: readonly string[] = FILES): void {
  chmodSync(data, mode);
  chownSync(data, owner, owner);
  const existing = new Set(readdirSync(data));
  for (const file of files) {
    if (!existing.has(file)) continue;
    chmodSync(join(data, file), 0o600);
    chownSync(join(data, file), fileOwner, fileOwner);
  }
}

function dataFileNames(disk: SmallDisk): string[] {
  return readdirSync(join(disk.hostPath, "data"))
    .filter((name) => !/-(wal|shm|journal)$/.test(name))
    .sort();
}
