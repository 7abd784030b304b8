// Disk that fills up, gradually and to the byte, under a working appliance; no space from the start; no free inode.

import { statSync } from "node:fs";
import { join } from "node:path";
import { PAGE_SIZE_BYTES } from "../../../src/db/connection.ts";
import { Running } from "../../../test/support/executable/executable.ts";
import { seededRandom } from "../../../test/support/injected/seeded-random.ts";
import { HANG_MS } from "../../../test/support/measure/limits.ts";
import { quantilesOf } from "../../quantiles.ts";
import type { Finding, Proof, Proving } from "../part.ts";
import { onSmallDisk, type ProvedAppliance, signIn, until } from "./appliance.ts";
import { compare, ReadLoad, WriteLoad } from "./load.ts";
import { BLOCK_BYTES, type SmallDisk } from "./small-disk.ts";

const DISK_BYTES = { short: 48 * 2 ** 20, long: 160 * 2 ** 20 };
const WRITERS = 6;
/** Remaining bytes: until the middle of a bulk, of a commit, less than one log page, and none. */
const LEFT = {
  short: [300_000, 36_864, 0],
  long: [1_500_000, 700_000, 300_000, 70_000, 36_864, 20_480, 12_288, 8_192, 4_096, 0],
};
/** Refused writes before space is freed. */
const REFUSALS = 15;
const BULK_HOSTS = 1_000;
const BULK_INTERFACES = 12;
/** Capacity in frames of the first 32 KiB of the WAL index: https://www.sqlite.org/walformat.html, section 2. */
const FRAMES_OF_FIRST_BLOCK = 4_062;
/** Around the size of those frames. */
const LEFT_OF_LARGE = [-30_000_000, -300_000, -40_000, -4_096, 0, 4_096, 16_384, 33_000, 70_000].map(
  (off) => FRAMES_OF_FIRST_BLOCK * (PAGE_SIZE_BYTES + 24) + off,
);
const RECOVERS_MS = 1_000;

export async function fullDisk(proving: Proving): Promise<Proof> {
  const size = { bytes: DISK_BYTES[proving.form] };
  return onSmallDisk(proving, "small", size, "A full disk", async (appliance, disk) => ({
    findings: [...(await fills(proving, disk, appliance)), ...(await startsFull(proving, disk, appliance))],
  }));
}

export async function noInodes(proving: Proving): Promise<Proof> {
  const size = { bytes: DISK_BYTES.short, inodes: 24 };
  return onSmallDisk(proving, "few-files", size, "A disk without an inode left", async (appliance, disk) => {
    const { networkId, running, client } = await appliance.serveSetUp();
    disk.takeInodes();
    const load = new WriteLoad(networkId, proving.seed, ["storage_full"]);
    load.start(client, 2);
    await until(() => load.acknowledgements > 50 || load.strange.length > 0, HANG_MS);
    await load.stop();
    const refused = await client.post("/api/v1/backups", undefined);
    const filesThen = appliance.backupFiles();
    disk.releaseInodes();
    const taken = await client.post("/api/v1/backups", undefined);
    const isDone = await until(
      async () => (await client.get(`/api/v1/backups/${taken.data?.name}`)).data?.state === "Done",
      HANG_MS,
    );
    const wrong = [...load.strange, ...(await compare(client, load.acknowledged))];
    const end = await running.stop();
    const verified = await appliance.run(["verify"]);
    return {
      findings: [
        finding(
          "without free inodes, writes and reads continue; a backup is refused with storage_full, leaves no file, and is taken once there are inodes",
          wrong.length === 0 &&
            load.refusalCount === 0 &&
            refused.status === 507 &&
            filesThen.length === 0 &&
            isDone !== null &&
            end.code === 0 &&
            verified.code === 0,
          `${load.acknowledgements} writes done; backup ${refused.status}, then ${isDone === null ? `not done: ${taken.text.slice(0, 200)}` : "done"}${told(wrong)}; verify ${verified.code}`,
        ),
      ],
    };
  });
}

/**
 * One transaction that requires the WAL index to grow: a second block of the memory mapped from -shm, which must be
 * allocated before its use.
 */
export async function logGrows(proving: Proving): Promise<Proof> {
  if (proving.form === "short") return { findings: [] };
  const [size, what] = [{ bytes: 220 * 2 ** 20 }, "A disk that is full when the log's index must grow"];
  return onSmallDisk(proving, "growing", size, what, async (appliance, disk) => {
    const { networkId, running, client } = await appliance.serveSetUp();
    const hosts = Array.from({ length: BULK_HOSTS }, (_, each) => ({
      network_id: networkId,
      name: `host ${each}`,
      description: "d".repeat(3_900),
      interfaces: Array.from({ length: BULK_INTERFACES }, (_each, position) => ({
        if_index: position + 1,
        if_descr: `port ${position + 1}`,
        lldp_sys_desc: "x".repeat(900),
      })),
    }));
    const log = join(disk.outside, "data/netledger.db-wal");
    const outcomes: string[] = [];
    let isClear = true;
    for (const left of LEFT_OF_LARGE) {
      // Space it has already allocated remains available to it.
      disk.leave(Math.max(0, left - statSync(log).size));
      const answer = await client.post("/api/v1/hosts/bulk", hosts);
      const count = (await client.get("/api/v1/hosts?limit=1&include_children=false")).body.meta.pagination.total_count;
      isClear &&= answer.status === 507 && answer.body.code === "storage_full" && count === 0;
      outcomes.push(`${Math.round(left / 1_000)} kB left: ${answer.status}, ${count} hosts`);
    }
    disk.release();
    const done = await client.post("/api/v1/hosts/bulk", hosts);
    const logBytes = statSync(log).size;
    const end = await running.stop();
    const verified = await appliance.run(["verify"]);
    const isTried = logBytes > FRAMES_OF_FIRST_BLOCK * PAGE_SIZE_BYTES;
    return {
      findings: [
        finding(
          "a disk that is full when the log, or its memory-mapped index, must grow within a transaction refuses that transaction whole, and nothing crashes",
          isClear && isTried && done.status === 200 && end.code === 0 && verified.code === 0,
          `bulk of ${BULK_HOSTS} hosts: ${outcomes.join("; ")}; with room ${done.status}, a log of ${(logBytes / 1e6).toFixed(0)} MB; stop ${end.code}, verify ${verified.code}`,
        ),
      ],
    };
  });
}

async function fills(proving: Proving, disk: SmallDisk, appliance: ProvedAppliance): Promise<Finding[]> {
  const { key, networkId, running, client } = await appliance.serveSetUp();
  const random = seededRandom(proving.seed);
  const load = new WriteLoad(networkId, proving.seed, ["storage_full"]);
  load.start(client, WRITERS);
  await until(() => load.acknowledgements >= 100 || load.strange.length > 0, HANG_MS);
  await load.stop();
  const reads = new ReadLoad();
  // The feed's first page is from the past, too.
  await reads.start(client, new Date(Date.now() - 1).toISOString());
  const session = (await signIn(running.client())).client;

  const recoveries: number[] = [];
  const wrong: string[] = [];
  let fills = 0;
  const times = proving.form === "short" ? 1 : 6;
  for (let time = 0; time < times; time += 1) {
    for (const left of LEFT[proving.form]) {
      const refusedBefore = load.refusalCount;
      load.start(client, WRITERS);
      disk.leave(Math.max(0, left + (time === 0 ? 0 : random.integer(8) * BLOCK_BYTES)));
      const isFull = await until(
        () => load.refusalCount - refusedBefore >= REFUSALS || load.strange.length > 0,
        HANG_MS,
      );
      if (isFull !== null) fills += 1;
      await load.stop();
      // Full, and at rest: the live records equal the acknowledged ones.
      wrong.push(...(await compare(client, load.acknowledged)));
      disk.release();
      const done = load.acknowledgements;
      load.start(client, WRITERS);
      recoveries.push((await until(() => load.acknowledgements > done, HANG_MS)) ?? Number.POSITIVE_INFINITY);
      await load.stop();
      proving.say(`full with ${left} bytes left: ${load.acknowledgements} writes done, ${load.refusalCount} refused`);
      // The records themselves would fill the disk permanently.
      if (disk.freeBytes < DISK_BYTES[proving.form] / 4) break;
    }
  }
  await reads.stop();

  const full = await atTheEnd(disk, appliance, running, session, load, client);
  const teeth = await blindness(client, load);
  const end = await running.stop();
  const stopped = end.code === 0 && end.signal === null && end.tookMs < 5_000;
  const verifiedFull = await appliance.run(["verify"]);
  const again = await appliance.start();
  const sentence = again instanceof Running ? await stillAll(again, key, load) : again.err;
  disk.release();
  const last = await appliance.serve();
  const missing = await compare(last.withKey(key), load.acknowledged);
  await last.stop();
  const verified = await appliance.run(["verify"]);
  return [
    finding(
      "on a disk that fills up, every write is done or refused with storage_full in the envelope, and refused ones leave nothing",
      fills > 0 && load.strange.length === 0 && wrong.length === 0,
      `${fills} times full, with down to ${Math.min(...LEFT[proving.form])} bytes left; ${load.acknowledgements} writes done, ${load.refusalCount} refused${told([...load.strange, ...wrong])}`,
    ),
    finding(
      "on a full disk reads continue, live and past, lists, exports and the feed, with unchanged answers",
      reads.tookMs.length > 0 && reads.strange.length === 0,
      `${reads.tookMs.length} reads, p99 ${quantilesOf(reads.tookMs)(0.99).toFixed(0)} ms${told(reads.strange)}`,
    ),
    finding(
      "once there is space, writes resume by themselves within a second",
      recoveries.length > 0 && recoveries.every((ms) => ms <= RECOVERS_MS),
      `${recoveries.length} times, at most ${Math.max(...recoveries).toFixed(0)} ms`,
    ),
    ...full,
    finding(
      "the comparison notices a missing write, one that differs from the acknowledged one, and a refused one that was written",
      teeth === "",
      teeth === "" ? "3 of 3 forged ones noticed" : teeth,
    ),
    finding(
      "an appliance on a full disk stops cleanly within 5 s",
      stopped,
      `status ${end.code}, ${end.tookMs.toFixed(0)} ms${stopped ? "" : `: ${end.err.slice(-300)}`}`,
    ),
    finding(
      "on a full disk verify finds the data intact, or gives in one sentence the reason why it cannot check",
      verifiedFull.code === 0 || (verifiedFull.code === 3 && isOneSentence(verifiedFull.err)),
      `status ${verifiedFull.code}${verifiedFull.err === "" ? "" : `: ${verifiedFull.err.trim()}`}`,
    ),
    finding(
      "after a start on a full disk and one with free space nothing acknowledged is missing, and verify finds the data intact",
      (sentence === "" || isOneSentence(sentence)) && missing.length === 0 && verified.code === 0,
      `${load.acknowledgements} acknowledged; the start on the full disk ${sentence === "" ? "answers reads" : `says: ${sentence.trim()}`}; verify ${verified.code}${told(missing)}`,
    ),
  ];
}

/** Behavior for users and monitors without a free byte. */
async function atTheEnd(
  disk: SmallDisk,
  appliance: ProvedAppliance,
  running: Running,
  session: Awaited<ReturnType<typeof signIn>>["client"],
  load: WriteLoad,
  client: ReturnType<Running["withKey"]>,
): Promise<Finding[]> {
  disk.leave(0);
  // Until the log's internal free space is used up.
  const refusedBefore = load.refusalCount;
  load.start(client, 2);
  await until(() => load.refusalCount - refusedBefore >= REFUSALS || load.strange.length > 0, HANG_MS);
  await load.stop();
  disk.leave(0);
  let signedIn = await signIn(running.client());
  // Sessions are small: some may still fit.
  for (let tries = 0; signedIn.status === 200 && tries < 500; tries += 1) signedIn = await signIn(running.client());
  const me = await session?.get("/api/auth/me");
  const out = await session?.post("/api/auth/logout", undefined, { origin: running.url });
  const meThen = await session?.get("/api/auth/me");
  // A 507 must leave the session active, a success must have ended it.
  const isTrue = (out?.status === 507 && meThen?.status === 200) || (out?.status === 200 && meThen?.status === 401);
  const health = await running.client().get("/api/health");
  const backup = await client.post("/api/v1/backups", undefined);
  const files = appliance.backupFiles();
  const users = await appliance.run(["user", "list"]);
  return [
    finding(
      "on a full disk a sign-in is refused with storage_full, existing sessions continue, and a sign-out reports its true outcome",
      signedIn.status === 507 && signedIn.code === "storage_full" && me?.status === 200 && isTrue,
      `sign-in ${signedIn.status}, me ${me?.status}, sign-out ${out?.status} ${out?.body?.code ?? ""}, me then ${meThen?.status}`,
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

/** Start on a full disk: the data at rest without a log, and only the given bytes free. */
async function startsFull({ form }: Proving, disk: SmallDisk, appliance: ProvedAppliance): Promise<Finding[]> {
  const said: string[] = [];
  let isClear = true;
  for (const left of form === "short" ? [0] : [0, BLOCK_BYTES, 3 * BLOCK_BYTES, 6 * BLOCK_BYTES, 9 * BLOCK_BYTES]) {
    disk.release();
    // The last writer removes the log.
    await appliance.run(["user", "list"]);
    disk.leave(left);
    const started = await appliance.start();
    if (started instanceof Running) {
      const { code } = await started.stop();
      said.push(`${left} bytes: starts, stops with ${code}`);
      isClear &&= code === 0;
    } else {
      said.push(`${left} bytes: status ${started.code}, ${started.err.trim()}`);
      isClear &&= started.code === 3 && isOneSentence(started.err);
    }
  }
  disk.release();
  const verified = await appliance.run(["verify"]);
  return [
    finding(
      "a start without space for a log works or is refused in one sentence with status 3, and the data stay intact",
      isClear && verified.code === 0,
      `${said.join("; ")}; verify ${verified.code}`,
    ),
  ];
}

/** Checks that compare detects differences. @returns undetected ones; empty if none */
async function blindness(client: ReturnType<Running["withKey"]>, load: WriteLoad): Promise<string> {
  const { acknowledged } = load;
  const overlooked: string[] = [];
  const invented = crypto.randomUUID();
  acknowledged.subnets.set(invented, { id: invented });
  if ((await compare(client, acknowledged)).length !== 1) overlooked.push("a missing one");
  acknowledged.subnets.delete(invented);
  const [id, state] = [...acknowledged.subnets].find(([, each]) => each !== null) as [
    string,
    Record<string, unknown> & { id: string },
  ];
  acknowledged.subnets.set(id, { ...state, name: "another" });
  if ((await compare(client, acknowledged)).length !== 1) overlooked.push("another name");
  acknowledged.subnets.set(id, state);
  acknowledged.refused.add(id);
  if ((await compare(client, acknowledged)).length !== 1) overlooked.push("a refused one");
  acknowledged.refused.delete(id);
  return overlooked.join(", ");
}

/** @returns empty if all acknowledged records are answered */
async function stillAll(running: Running, key: string, load: WriteLoad): Promise<string> {
  const wrong = await compare(running.withKey(key), load.acknowledged);
  const { code } = await running.stop();
  return wrong.length === 0 && code === 0
    ? ""
    : `stopped with ${code}; ${wrong.length} records are wrong, the first: ${wrong[0]}\n\n`;
}

/** One readable line, without an exception's text. */
export function isOneSentence(text: string): boolean {
  return /^netledger: [^\n]+\.\n$/.test(text) && !/\bat .+:\d+:\d+|Error:/.test(text);
}

export function finding(claim: string, held: boolean, figure: string): Finding {
  return { claim, held, figure };
}

/** The first few problems, and their number. */
export function told(wrong: readonly string[]): string {
  return wrong.length === 0 ? "" : `; ${wrong.length} wrong, the first: ${wrong[0]}`;
}
