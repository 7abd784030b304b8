// Full disks: one that fills up, gradually and to the last byte, under a running appliance; no space at startup; no
// inodes.

import { statSync } from "node:fs";
import { join } from "node:path";
import { PAGE_SIZE_BYTES } from "../../../src/db/connection.ts";
import type { Client } from "../../../test/support/appliance/client.ts";
import { Running } from "../../../test/support/executable/executable.ts";
import { seededRandom } from "../../../test/support/injected/seeded-random.ts";
import { quantilesOf } from "../../quantiles.ts";
import type { Finding, Proof, ProofContext } from "../part.ts";
import { type ApplianceUnderTest, onSmallDisk, signIn, until } from "./appliance.ts";
import { compare, ReadLoad, WriteLoad } from "./load.ts";
import { BLOCK_BYTES, type SmallDisk } from "./small-disk.ts";

const DISK_BYTES = { short: 48 * 2 ** 20, long: 160 * 2 ** 20 };
const WRITERS = 6;
/** Remaining bytes: enough for half a bulk request, for half a commit, for less than a page of the log, and none. */
const REMAINING_BYTES = {
  short: [300_000, 36_864, 0],
  long: [1_500_000, 700_000, 300_000, 70_000, 36_864, 20_480, 12_288, 8_192, 4_096, 0],
};
/** Number of refused writes before space is freed. */
const REFUSALS = 15;
const BULK_HOSTS = 1_000;
const BULK_INTERFACES = 12;
/** Capacity in frames of the first 32 KiB of the WAL index: https://www.sqlite.org/walformat.html, section 2. */
const FRAMES_OF_FIRST_BLOCK = 4_062;
/** Remaining bytes around the size of those frames. */
const LARGE_REMAINING_BYTES = [-30_000_000, -300_000, -40_000, -4_096, 0, 4_096, 16_384, 33_000, 70_000].map(
  (offset) => FRAMES_OF_FIRST_BLOCK * (PAGE_SIZE_BYTES + 24) + offset,
);
const RECOVERY_MAX_MS = 1_000;

export async function fullDisk(context: ProofContext): Promise<Proof> {
  const size = { bytes: DISK_BYTES[context.form] };
  return onSmallDisk(context, "small", size, "A full disk", async (appliance, disk) => ({
    findings: [...(await fillRounds(context, disk, appliance)), ...(await startOnFullDisk(context, disk, appliance))],
  }));
}

export async function noInodes(context: ProofContext): Promise<Proof> {
  const size = { bytes: DISK_BYTES.short, inodes: 24 };
  return onSmallDisk(context, "few-files", size, "A disk without free inodes", async (appliance, disk) => {
    const { networkId, running, client } = await appliance.serveSetUp();
    disk.takeInodes();
    const load = new WriteLoad(networkId, context.seed, ["storage_full"]);
    load.start(client, 2);
    await until(() => load.acknowledgements > 50 || load.unexpected.length > 0);
    await load.stop();
    const refused = await client.post("/api/v1/backups", undefined);
    const filesAfter = appliance.backupFiles();
    disk.releaseInodes();
    const taken = await client.post("/api/v1/backups", undefined);
    const isDone = await until(async () => (await client.get(`backups/${taken.data?.name}`)).data?.state === "Done");
    const wrong = [...load.unexpected, ...(await compare(client, load.acknowledged))];
    const end = await running.stop();
    const verified = await appliance.run(["verify"]);
    return proofOf(
      "without free inodes, writes and reads continue; a backup is refused with storage_full, leaves no file, and is taken once there are inodes",
      wrong.length === 0 &&
        load.refusalCount === 0 &&
        refused.status === 507 &&
        filesAfter.length === 0 &&
        isDone !== null &&
        end.code === 0 &&
        verified.code === 0,
      `${load.acknowledgements} writes done; backup ${refused.status}, then ${isDone === null ? `not done: ${taken.text.slice(0, 200)}` : "done"}${problemSummary(wrong)}; verify ${verified.code}`,
    );
  });
}

/**
 * Tests a transaction for which the WAL index must grow: a second block of the memory mapped from -shm, which must be
 * allocated before its use.
 */
export async function logGrows(context: ProofContext): Promise<Proof> {
  if (context.form === "short") return { findings: [] };
  const [size, subject] = [{ bytes: 220 * 2 ** 20 }, "A full disk when the log's index must grow"];
  return onSmallDisk(context, "growing", size, subject, async (appliance, disk) => {
    const { networkId, running, client } = await appliance.serveSetUp();
    const hosts = Array.from({ length: BULK_HOSTS }, (_, host) => ({
      network_id: networkId,
      name: `host ${host}`,
      description: "d".repeat(3_900),
      interfaces: Array.from({ length: BULK_INTERFACES }, (_, position) => ({
        if_index: position + 1,
        if_descr: `port ${position + 1}`,
        lldp_sys_desc: "x".repeat(900),
      })),
    }));
    const log = join(disk.hostPath, "data/netledger.db-wal");
    const outcomes: string[] = [];
    let isClear = true;
    for (const remaining of LARGE_REMAINING_BYTES) {
      // Space that the log has already allocated remains available to it.
      disk.fillExcept(Math.max(0, remaining - statSync(log).size));
      const response = await client.post("/api/v1/hosts/bulk", hosts);
      const count = (await client.get("/api/v1/hosts?limit=1&include_children=false")).body.meta.pagination.total_count;
      isClear &&= response.status === 507 && response.body.code === "storage_full" && count === 0;
      outcomes.push(`${Math.round(remaining / 1_000)} kB left: ${response.status}, ${count} hosts`);
    }
    disk.release();
    const done = await client.post("/api/v1/hosts/bulk", hosts);
    const logBytes = statSync(log).size;
    const end = await running.stop();
    const verified = await appliance.run(["verify"]);
    const didGrow = logBytes > FRAMES_OF_FIRST_BLOCK * PAGE_SIZE_BYTES;
    return proofOf(
      "a disk that is full when the log, or its memory-mapped index, must grow within a transaction refuses the entire transaction, and nothing crashes",
      isClear && didGrow && done.status === 200 && end.code === 0 && verified.code === 0,
      `bulk of ${BULK_HOSTS} hosts: ${outcomes.join("; ")}; with free space ${done.status}, a log of ${(logBytes / 1e6).toFixed(0)} MB; stop ${end.code}, verify ${verified.code}`,
    );
  });
}

async function fillRounds(context: ProofContext, disk: SmallDisk, appliance: ApplianceUnderTest): Promise<Finding[]> {
  const { key, networkId, running, client } = await appliance.serveSetUp();
  const random = seededRandom(context.seed);
  const load = new WriteLoad(networkId, context.seed, ["storage_full"]);
  load.start(client, WRITERS);
  await until(() => load.acknowledgements >= 100 || load.unexpected.length > 0);
  await load.stop();
  const reads = new ReadLoad();
  // The first page of the feed is past data, too.
  await reads.start(client, new Date(Date.now() - 1).toISOString());
  const session = (await signIn(running.client())).client;

  const recoveries: number[] = [];
  const wrong: string[] = [];
  let fullCount = 0;
  const rounds = context.form === "short" ? 1 : 6;
  for (let round = 0; round < rounds; round += 1) {
    for (const remaining of REMAINING_BYTES[context.form]) {
      const refusedBefore = load.refusalCount;
      load.start(client, WRITERS);
      disk.fillExcept(Math.max(0, remaining + (round === 0 ? 0 : random.integer(8) * BLOCK_BYTES)));
      const isFull = await until(() => load.refusalCount - refusedBefore >= REFUSALS || load.unexpected.length > 0);
      if (isFull !== null) fullCount += 1;
      await load.stop();
      // On the full disk, with no write in progress, the live records equal the acknowledged ones.
      wrong.push(...(await compare(client, load.acknowledged)));
      disk.release();
      const done = load.acknowledgements;
      load.start(client, WRITERS);
      recoveries.push((await until(() => load.acknowledgements > done)) ?? Number.POSITIVE_INFINITY);
      await load.stop();
      context.say(
        `full with ${remaining} bytes left: ${load.acknowledgements} writes done, ${load.refusalCount} refused`,
      );
      // Otherwise the records themselves would fill the disk permanently.
      if (disk.freeBytes < DISK_BYTES[context.form] / 4) break;
    }
  }
  await reads.stop();

  const full = await checkFullDisk(disk, appliance, running, session, load, client);
  const undetected = await undetectedDifferences(client, load);
  const end = await running.stop();
  const stopped = end.code === 0 && end.signal === null && end.tookMs < 5_000;
  const verifiedFull = await appliance.run(["verify"]);
  const restarted = await appliance.start();
  const startError = restarted instanceof Running ? await verifyAcknowledged(restarted, key, load) : restarted.err;
  disk.release();
  const restartedWithSpace = await appliance.serve();
  const missing = await compare(restartedWithSpace.withKey(key), load.acknowledged);
  await restartedWithSpace.stop();
  const verified = await appliance.run(["verify"]);
  return [
    finding(
      "on a disk that fills up, every write is done or refused with storage_full in the envelope, and refused ones leave nothing",
      fullCount > 0 && load.unexpected.length === 0 && wrong.length === 0,
      `${fullCount} times full, with down to ${Math.min(...REMAINING_BYTES[context.form])} bytes left; ${load.acknowledgements} writes done, ${load.refusalCount} refused${problemSummary([...load.unexpected, ...wrong])}`,
    ),
    finding(
      "on a full disk reads continue, live and past, lists, exports and the feed, with unchanged responses",
      reads.tookMs.length > 0 && reads.unexpected.length === 0,
      `${reads.tookMs.length} reads, p99 ${quantilesOf(reads.tookMs)(0.99).toFixed(0)} ms${problemSummary(reads.unexpected)}`,
    ),
    finding(
      "once there is space, writes resume by themselves within a second",
      recoveries.length > 0 && recoveries.every((ms) => ms <= RECOVERY_MAX_MS),
      `${recoveries.length} times, at most ${Math.max(...recoveries).toFixed(0)} ms`,
    ),
    ...full,
    finding(
      "the comparison notices a missing write, one that differs from the acknowledged one, and a refused one that was written",
      undetected === "",
      undetected === "" ? "3 of 3 forged differences noticed" : undetected,
    ),
    finding(
      "an appliance on a full disk stops cleanly within 5 s",
      stopped,
      `status ${end.code}, ${end.tookMs.toFixed(0)} ms${stopped ? "" : `: ${end.err.slice(-300)}`}`,
    ),
    finding(
      "on a full disk verify finds the data intact, or explains in one sentence why it cannot check",
      verifiedFull.code === 0 || (verifiedFull.code === 3 && isOneSentence(verifiedFull.err)),
      `status ${verifiedFull.code}${verifiedFull.err === "" ? "" : `: ${verifiedFull.err.trim()}`}`,
    ),
    finding(
      "after starts on a full disk and with free space nothing acknowledged is missing, and verify finds the data intact",
      (startError === "" || isOneSentence(startError)) && missing.length === 0 && verified.code === 0,
      `${load.acknowledgements} acknowledged; the start on the full disk ${startError === "" ? "serves reads" : `says: ${startError.trim()}`}; verify ${verified.code}${problemSummary(missing)}`,
    ),
  ];
}

/** Checks what users and monitors see while there is no free space. */
async function checkFullDisk(
  disk: SmallDisk,
  appliance: ApplianceUnderTest,
  running: Running,
  session: Client | null,
  load: WriteLoad,
  client: Client,
): Promise<Finding[]> {
  disk.fillExcept(0);
  // Writes until the log's internal free space is used up.
  const refusedBefore = load.refusalCount;
  load.start(client, 2);
  await until(() => load.refusalCount - refusedBefore >= REFUSALS || load.unexpected.length > 0);
  await load.stop();
  disk.fillExcept(0);
  let signedIn = await signIn(running.client());
  // Sessions are small: some may still fit.
  for (let tries = 0; signedIn.status === 200 && tries < 500; tries += 1) signedIn = await signIn(running.client());
  const me = await session?.get("/api/auth/me");
  const signOut = await session?.post("/api/auth/logout", undefined, { origin: running.url });
  const meAfter = await session?.get("/api/auth/me");
  // After a 507 the session must still be active; after a success it must not.
  const isConsistent =
    (signOut?.status === 507 && meAfter?.status === 200) || (signOut?.status === 200 && meAfter?.status === 401);
  const health = await running.client().get("/api/health");
  const backup = await client.post("/api/v1/backups", undefined);
  const files = appliance.backupFiles();
  const users = await appliance.run(["user", "list"]);
  return [
    finding(
      "on a full disk a sign-in is refused with storage_full, existing sessions continue, and a sign-out reports its true outcome",
      signedIn.status === 507 && signedIn.code === "storage_full" && me?.status === 200 && isConsistent,
      `sign-in ${signedIn.status}, me ${me?.status}, sign-out ${signOut?.status} ${signOut?.body?.code ?? ""}, me then ${meAfter?.status}`,
    ),
    finding(
      "on a full disk /api/health reports that the store is readable",
      health.status === 200 && health.data?.status === "ok",
      `${health.status}`,
    ),
    finding(
      "on a full disk a backup is refused with storage_full and leaves no file",
      backup.status === 507 && files.length === 0,
      `${backup.status} ${backup.body?.code}, ${files.length} files`,
    ),
    finding(
      "on a full disk a reading command works next to the appliance, or gives its reason in one sentence",
      users.code === 0 || isOneSentence(users.err),
      `netledger user list: status ${users.code} ${users.err.trim()}`,
    ),
  ];
}

/** Tests starts on a full disk: data at rest without a log, and only some bytes free. */
async function startOnFullDisk(
  { form }: ProofContext,
  disk: SmallDisk,
  appliance: ApplianceUnderTest,
): Promise<Finding[]> {
  const outcomes: string[] = [];
  let isClear = true;
  for (const blocks of form === "short" ? [0] : [0, 1, 3, 6, 9]) {
    const remaining = blocks * BLOCK_BYTES;
    disk.release();
    // The last writer removes the log.
    await appliance.run(["user", "list"]);
    disk.fillExcept(remaining);
    const started = await appliance.start();
    if (started instanceof Running) {
      const { code } = await started.stop();
      outcomes.push(`${remaining} bytes: starts, stops with ${code}`);
      isClear &&= code === 0;
    } else {
      outcomes.push(`${remaining} bytes: status ${started.code}, ${started.err.trim()}`);
      isClear &&= started.code === 3 && isOneSentence(started.err);
    }
  }
  disk.release();
  const verified = await appliance.run(["verify"]);
  return [
    finding(
      "a start without space for a log works or is refused in one sentence with status 3, and the data stay intact",
      isClear && verified.code === 0,
      `${outcomes.join("; ")}; verify ${verified.code}`,
    ),
  ];
}

/** Checks that `compare` detects forged differences. @returns the undetected ones; empty if there are none */
async function undetectedDifferences(client: Client, load: WriteLoad): Promise<string> {
  const { acknowledged } = load;
  const undetected: string[] = [];
  const fakeId = crypto.randomUUID();
  acknowledged.subnets.set(fakeId, { id: fakeId });
  if ((await compare(client, acknowledged)).length !== 1) undetected.push("a missing one");
  acknowledged.subnets.delete(fakeId);
  const [id, state] = [...acknowledged.subnets].find(([, record]) => record !== null) as [string, { id: string }];
  acknowledged.subnets.set(id, { ...state, name: "another" });
  if ((await compare(client, acknowledged)).length !== 1) undetected.push("another name");
  acknowledged.subnets.set(id, state);
  acknowledged.refused.add(id);
  if ((await compare(client, acknowledged)).length !== 1) undetected.push("a refused one");
  acknowledged.refused.delete(id);
  return undetected.join(", ");
}

/** Checks that all acknowledged records exist. @returns the problem; empty if there is none */
async function verifyAcknowledged(running: Running, key: string, load: WriteLoad): Promise<string> {
  const wrong = await compare(running.withKey(key), load.acknowledged);
  const { code } = await running.stop();
  return wrong.length === 0 && code === 0
    ? ""
    : `stopped with ${code}; ${wrong.length} records are wrong, the first: ${wrong[0]}\n\n`;
}

/** Whether a text is one readable line, without an exception's text. */
export function isOneSentence(text: string): boolean {
  return /^netledger: [^\n]+\.\n$/.test(text) && !/\bat .+:\d+:\d+|Error:/.test(text);
}

export function finding(claim: string, held: boolean, figure: string): Finding {
  return { claim, held, figure };
}

export function proofOf(claim: string, held: boolean, figure: string): Proof {
  return { findings: [{ claim, held, figure }] };
}

/** Summarizes problems: their number, and the first one. */
export function problemSummary(wrong: readonly string[]): string {
  return wrong.length === 0 ? "" : `; ${wrong.length} wrong, the first: ${wrong[0]}`;
}
