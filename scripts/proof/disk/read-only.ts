// Disks that refuse writes: read-only while an appliance runs, read-only from the start, and data of another user.

import { chmodSync, chownSync, mkdirSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { Running } from "../../../test/support/executable/executable.ts";
import { HANG_MS } from "../../../test/support/measure/limits.ts";
import type { Finding, Proof, Proving } from "../part.ts";
import { compileShim } from "../shim/compile.ts";
import { onSmallDisk, ProvedAppliance, until } from "./appliance.ts";
import { finding, isOneSentence, told } from "./full.ts";
import { compare, ReadLoad, WriteLoad } from "./load.ts";
import type { SmallDisk } from "./small-disk.ts";

const WRITERS = 4;
const REFUSALS = 20;
const RECOVERS_MS = 1_000;
const DISK_BYTES = 24 * 2 ** 20;
/** Unprivileged user id. */
const SOMEBODY = 65_534;

/** Writes fail during a period: a file system in use can't be made read-only, so a preload library simulates it. */
export async function refusesWrites(proving: Proving): Promise<Proof> {
  const shim = compileShim(proving.directory);
  if ("missing" in shim)
    return { findings: [], leftOut: [`A disk that refuses writes while the appliance runs: ${shim.missing}.`] };
  const findings: Finding[] = [];
  for (const error of proving.form === "short" ? ["EROFS"] : ["EROFS", "EIO", "EDQUOT"])
    findings.push(await refuses(proving, shim.path, error));
  return { findings };
}

async function refuses(proving: Proving, shim: string, error: string): Promise<Finding> {
  const folder = join(proving.directory, `refuses-${error}`);
  const gate = join(folder, "gate");
  const data = join(folder, "data");
  const appliance = ProvedAppliance.in(proving, data, folder);
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
    const load = new WriteLoad(networkId, proving.seed, ["storage_full"]);
    load.start(client, WRITERS);
    await until(() => load.acknowledgements >= 60 || load.strange.length > 0, HANG_MS);
    await load.stop();
    const reads = new ReadLoad();
    await reads.start(client, new Date(Date.now() - 1).toISOString());
    const refusedBefore = load.refusalCount;
    load.start(client, WRITERS);
    writeFileSync(gate, "");
    const refused = await until(
      () => load.refusalCount - refusedBefore >= REFUSALS || load.strange.length > 0,
      HANG_MS,
    );
    const backup = await client.post("/api/v1/backups", undefined);
    await load.stop();
    const wrong = await compare(client, load.acknowledged);
    rmSync(gate);
    const done = load.acknowledgements;
    load.start(client, WRITERS);
    const recovered = await until(() => load.acknowledgements > done, HANG_MS);
    await load.stop();
    await reads.stop();
    // A started backup failed and left no file.
    const backupCameToNothing =
      backup.status === 507 ||
      (await until(
        async () => (await client.get(`/api/v1/backups/${backup.data?.name}`)).data?.state !== "Running",
        HANG_MS,
      )) !== null;
    wrong.push(...load.strange, ...reads.strange, ...(await compare(client, load.acknowledged)));
    const end = await running.stop();
    const verified = await appliance.run(["verify"]);
    return finding(
      `while every write fails with ${error}, writes are refused with storage_full, reads continue, and writes resume by themselves within a second after its end; nothing is lost`,
      refused !== null &&
        wrong.length === 0 &&
        recovered !== null &&
        recovered <= RECOVERS_MS &&
        backupCameToNothing &&
        end.code === 0 &&
        verified.code === 0,
      `${load.acknowledgements} writes done, ${load.refusalCount} refused, ${reads.tookMs.length} reads; again after ${recovered?.toFixed(0) ?? "more than 5,000"} ms; stop ${end.code}, verify ${verified.code}${told(wrong)}`,
    );
  } finally {
    await appliance.close();
  }
}

export async function readOnlyFromTheStart(proving: Proving): Promise<Proof> {
  const what = "A disk that is read-only from the start";
  return onSmallDisk(proving, "read-only", { bytes: DISK_BYTES }, what, async (appliance, disk) => {
    await appliance.setUp();
    const findings: Finding[] = [];
    const before = names(disk);
    if (!(await disk.remount("ro"))) return { findings, leftOut: [`${what}: it cannot be made so here.`] };
    const served = await appliance.start();
    const listed = await appliance.run(["user", "list"]);
    const verified = await appliance.run(["verify"]);
    await disk.remount("rw");
    const isRefused = !(served instanceof Running) && served.code === 3 && isOneSentence(served.err);
    const again = await appliance.serve();
    const { code } = await again.stop();
    findings.push(
      finding(
        "a start on a read-only disk is refused in one sentence with status 3, commands give their reason, and it starts once the disk is writable",
        isRefused &&
          [listed, verified].every((each) => each.code === 0 || (each.code === 3 && isOneSentence(each.err))) &&
          code === 0 &&
          Bun.deepEquals(before, names(disk)),
        `serve: ${served instanceof Running ? "it started" : served.err.trim()}; user list: ${listed.code} ${listed.err.trim()}; verify: ${verified.code} ${verified.err.trim()}`,
      ),
    );
    return { findings };
  });
}

/** Folders and files that the starting user may not write, or not even read. */
export async function somebodyElses(proving: Proving): Promise<Proof> {
  if (process.getuid?.() !== 0 || Bun.which("setpriv") === null)
    return {
      findings: [],
      leftOut: ["Data of another user: it takes root and setpriv (util-linux) to become somebody else."],
    };
  const folder = join(proving.directory, "somebody-elses");
  const data = join(folder, "data");
  mkdirSync(folder, { mode: 0o755 });
  for (let each = folder; each !== dirname(proving.directory); each = dirname(each)) chmodSync(each, 0o755);
  const appliance = ProvedAppliance.in(proving, data);
  const somebody = new ProvedAppliance(
    {
      executable: proving.executable,
      data,
      seen: data,
      inside: ["setpriv", `--reuid=${SOMEBODY}`, `--regid=${SOMEBODY}`, "--clear-groups"],
    },
    join(proving.directory, "notes"),
  );
  const all = ["netledger.db", "netledger.key", "netledger.lock"];
  /** Owners and modes. */
  const cases: ReadonlyArray<readonly [string, () => void]> = [
    ["all of root's, 0700", () => own(data, 0, 0o700, all, 0o600)],
    ["the folder 0500", () => own(data, SOMEBODY, 0o500, all, 0o600, SOMEBODY)],
    ["the files of root's, 0600", () => own(data, SOMEBODY, 0o700, all, 0o600)],
    [
      "the database 0400",
      () => {
        own(data, SOMEBODY, 0o700, all, 0o600, SOMEBODY);
        chmodSync(join(data, "netledger.db"), 0o400);
      },
    ],
  ];
  try {
    await appliance.setUp();
    const said: string[] = [];
    let isClear = true;
    for (const [name, make] of cases) {
      make();
      const started = await somebody.start();
      if (started instanceof Running) {
        const { code } = await started.stop();
        said.push(`${name}: it starts, and stops with ${code}`);
        isClear = false;
      } else {
        said.push(`${name}: ${started.code} ${started.err.trim()}`);
        isClear &&= started.code === 3 && isOneSentence(started.err);
      }
    }
    own(data, 0, 0o700, readdirSync(data), 0o600);
    const verified = await appliance.run(["verify"]);
    return {
      findings: [
        finding(
          "a start on data without access rights is refused in one sentence with status 3, and the data stay intact",
          isClear && verified.code === 0,
          `${said.join("; ")}; verify ${verified.code}`,
        ),
      ],
    };
  } finally {
    await appliance.close();
    await somebody.close();
  }
}

function own(
  data: string,
  owner: number,
  mode: number,
  files: readonly string[],
  fileMode: number,
  fileOwner = 0,
): void {
  chmodSync(data, mode);
  chownSync(data, owner, owner);
  const there = new Set(readdirSync(data));
  for (const file of files) {
    if (!there.has(file)) continue;
    chmodSync(join(data, file), fileMode);
    chownSync(join(data, file), fileOwner, fileOwner);
  }
}

function names(disk: SmallDisk): string[] {
  return readdirSync(join(disk.outside, "data"))
    .filter((name) => !/-(wal|shm|journal)$/.test(name))
    .sort();
}
