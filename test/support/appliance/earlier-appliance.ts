// Store of an earlier version, in which two fields did not exist yet, and that version's answers about it. Written
// through the current API with the fields cut from every write, and read with the kinds of that time.

import { readFileSync, writeFileSync } from "node:fs";
import { openWritable } from "../../../src/db/connection.ts";
import { SCHEMA_VERSION } from "../../../src/db/files/migrate.ts";
import type { AnyKind } from "../../../src/db/kind.ts";
import { addsField } from "../../../src/db/shape.ts";
import { WriteTransaction } from "../../../src/db/writing/transaction.ts";
import { pruneHistory } from "../../../src/history/prune.ts";
import { upgradeStore } from "../../../src/history/upgrade.ts";
import { KINDS } from "../../../src/records/resources.ts";
import { hostKind } from "../../../src/resources/hosts/host.ts";
import { subnetKind } from "../../../src/resources/subnets/subnet.ts";
import {
  newAppliance,
  newUnclaimedAppliance,
  type TestApplianceOptions,
  type UnclaimedAppliance,
} from "./appliance.ts";
import type { Client } from "./client.ts";
import { made, newHost, newMember, newNetwork, newSubnet, type Wire } from "./factories.ts";
import { newScene } from "./past.ts";

/** Migration of the fields: the next one. */
const MIGRATION = SCHEMA_VERSION + 1;
const LATER: ReadonlyArray<{
  readonly kind: Pick<AnyKind, "upcasters">;
  readonly field: string;
  readonly value: unknown;
}> = [
  { kind: hostKind, field: "asset_tag", value: null },
  { kind: subnetKind, field: "accepts_credentials", value: true },
];

export interface EarlierStore {
  /** The database file. */
  readonly bytes: Uint8Array;
  readonly ownerId: string;
  readonly memberId: string;
  readonly now: number;
  readonly instants: readonly string[];
  /** End of the history that pruneEarlier thins to daily states. */
  readonly thinnedBefore: number;
  readonly ids: Readonly<Record<"lab" | "again" | "spare" | "host" | "moved" | "tag", string>>;
}

/** Runs `act` as the earlier version. */
async function asEarlier<T>(act: () => Promise<T>): Promise<T> {
  const { create, update } = WriteTransaction.prototype;
  const { columns } = subnetKind;
  const cut = (kind: object, fields: object) => {
    const later = LATER.flatMap(({ kind: of, field }) => (of === kind ? [field] : []));
    return Object.fromEntries(Object.entries(fields).filter(([field]) => !later.includes(field))) as never;
  };
  WriteTransaction.prototype.create = function (kind, organizationId, fields, options) {
    return create.call(this, kind as never, organizationId, cut(kind, fields), options) as never;
  };
  WriteTransaction.prototype.update = function (kind, id, changes) {
    return update.call(this, kind as never, id, cut(kind, changes)) as never;
  };
  Object.assign(subnetKind, {
    columns: (...of: Parameters<NonNullable<typeof columns>>) => ({ ...columns?.(...of), accepts_credentials: 0 }),
  });
  try {
    return await act();
  } finally {
    Object.assign(WriteTransaction.prototype, { create, update });
    Object.assign(subnetKind, { columns });
  }
}

/** Gives the kinds their fields, as a new version would. @returns a function that takes them away again */
export function gainFields(): () => void {
  const before = LATER.map(({ kind, field, value }) => {
    const { upcasters = [] } = kind;
    Object.assign(kind, { upcasters: [...upcasters, addsField(MIGRATION, field, value)] });
    return { kind, upcasters };
  });
  return () => {
    for (const { kind, upcasters } of before) Object.assign(kind, { upcasters });
  };
}

/** Writes the store to a file, upgraded by the version that knows the fields. */
export function putUpgradedStore(path: string, { bytes }: EarlierStore): void {
  writeFileSync(path, bytes);
  const db = openWritable(path);
  db.$client.transaction(() => upgradeStore(db, SCHEMA_VERSION, new Map()))();
  db.$client.close();
}

export function pruneEarlier(path: string, { thinnedBefore, now }: EarlierStore): void {
  const db = openWritable(path);
  pruneHistory(db, KINDS, { before: thinnedBefore, keep: "daily" }, now - 3_600_000);
  db.$client.close();
}

/** Opens an appliance on a prepared store, an hour after its last write. */
export async function openEarlier(
  { now, ownerId, memberId }: EarlierStore,
  prepare: (path: string) => void,
  options: Pick<TestApplianceOptions, "isOfEarlierVersion"> = {},
): Promise<{ appliance: UnclaimedAppliance; owner: Client; member: Client }> {
  const appliance = newUnclaimedAppliance({ prepare, ...options });
  appliance.clock.advance(now - appliance.clock.now());
  return { appliance, owner: await appliance.signedIn(ownerId), member: await appliance.signedIn(memberId) };
}

/** Answers of the earlier version. */
export interface EarlierAnswers {
  /** By caller and path: the envelope, or CSV text. */
  readonly answers: Readonly<Record<"owner" | "member", ReadonlyMap<string, Wire | string>>>;
  /** ETag of a record, by path. */
  readonly etags: ReadonlyMap<string, string>;
}

/** @param asked paths by caller @param tagged paths whose ETags are wanted */
export function earlierAnswers(
  store: EarlierStore,
  asked: Readonly<Record<"owner" | "member", readonly string[]>>,
  tagged: readonly string[],
): Promise<EarlierAnswers> {
  return asEarlier(async () => {
    const prepare = (path: string) => {
      writeFileSync(path, store.bytes);
      pruneEarlier(path, store);
    };
    const { appliance, owner, member } = await openEarlier(store, prepare, { isOfEarlierVersion: true });
    const all = async (client: Client, paths: readonly string[]) => {
      const answers = new Map<string, Wire | string>();
      for (const path of paths) {
        const { status, text } = await client.get(path);
        if (status !== 200) throw new Error(`${path}: ${status} ${text}`);
        answers.set(path, path.includes("/csv") ? text : (JSON.parse(text) as Wire));
      }
      return answers;
    };
    const etags = new Map<string, string>();
    for (const path of tagged) etags.set(path, (await owner.get(path)).headers.get("etag") as string);
    const answers = { owner: await all(owner, asked.owner), member: await all(member, asked.member) };
    await appliance.close();
    return { answers, etags };
  });
}

/** A week of changes: records are created, renamed, moved, deleted and made again. */
export function writeEarlierStore(): Promise<EarlierStore> {
  return asEarlier(async () => {
    const appliance = await newAppliance({ isOfEarlierVersion: true });
    const { clock, owner, first } = appliance;
    const instants: string[] = [];
    const later = (hours: number) => {
      clock.advance(1_000);
      instants.push(clock.text());
      clock.advance(hours * 3_600_000);
    };
    const change = async (plural: string, id: string, fields: Wire) => {
      clock.advance(1_000);
      return made(owner.put(`${plural}/${id}`, { ...(await made(owner.get(`${plural}/${id}`))), ...fields }));
    };
    const remove = async (path: string) => {
      clock.advance(1_000);
      await made(owner.delete(path));
    };
    const accepting = { accepts_credentials: true };
    const { tag, host, far, subnet } = await newScene(appliance);
    const hidden = await newNetwork(appliance, { name: "hidden" });
    await newSubnet(appliance, { network_id: hidden.id, cidr: "10.8.0.0/16", ...accepting });
    await newHost(appliance, { network_id: hidden.id, name: "unseen" });
    const member = await newMember(appliance);
    later(8);
    const lab = await newSubnet(appliance, { cidr: "10.1.0.0/24", name: "Lab", tags: [tag.id], ...accepting });
    later(8);
    const gone = await newSubnet(appliance, { cidr: "10.2.0.0/24", name: "gone", ...accepting });
    const spare = await newHost(appliance, { name: "spare", description: "rack 7", sys_location: "Room 1" });
    later(8);
    await change("subnets", lab.id, { name: "Lab 2" });
    await remove(`subnets/${gone.id}`);
    later(8);
    const again = await newSubnet(appliance, { cidr: "10.2.0.0/24", name: "again", ...accepting });
    await change("hosts", host.id, { name: "core", tags: [] });
    later(24);
    await change("hosts", spare.id, { description: "rack 8", sys_location: "Room 2" });
    await change("subnets", subnet.id, { subnet_type: "Lan", tags: [tag.id] });
    later(24);
    await change("subnets", lab.id, { name: "Laboratory" });
    later(24);
    const moved = await newHost(appliance, { name: "moved", ip_addresses: [{ ip_address: "10.1.0.9" }] });
    await change("hosts", far.id, { name: "far away", hidden: true, tags: [tag.id] });
    later(24);
    await remove(`hosts/${moved.id}`);
    await change("subnets", again.id, { description: "made again" });
    later(24);
    await remove(`tags/${tag.id}`);
    await change("hosts", host.id, { serial_number: "SN-1" });
    const now = clock.advance(25 * 3_600_000);
    const { databasePath } = appliance;
    const db = openWritable(databasePath);
    db.$client.run("PRAGMA wal_checkpoint(TRUNCATE)");
    db.$client.close();
    const bytes = readFileSync(databasePath);
    await appliance.close();
    return {
      bytes,
      ownerId: first.userId,
      memberId: member.id,
      now,
      instants,
      thinnedBefore: Date.parse(instants[4] as string),
      ids: { lab: lab.id, again: again.id, spare: spare.id, host: host.id, moved: moved.id, tag: tag.id },
    };
  });
}
