// Store of an earlier version without two later fields, and that version's responses. Written through the current API
// with the fields removed from every write, and read with the kinds of that version.

import { readFileSync, writeFileSync } from "node:fs";
import { openWritable } from "../../../src/db/connection.ts";
import { SCHEMA_VERSION } from "../../../src/db/files/migrate.ts";
import type { AnyKind } from "../../../src/db/kind.ts";
import { addField } from "../../../src/db/shape.ts";
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
import { expectOk, type JsonRecord, newHost, newMember, newNetwork, newSubnet } from "./factories.ts";
import { newScene } from "./past.ts";

/** Migration that adds the fields: the next one. */
const MIGRATION = SCHEMA_VERSION + 1;
const LATER_FIELDS: ReadonlyArray<{
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
  /** End of the history that pruneEarlier prunes to daily states. */
  readonly thinnedBefore: number;
  readonly ids: Readonly<Record<"lab" | "again" | "spare" | "host" | "moved" | "tag", string>>;
}

/** Runs an action with the kinds of the earlier version. */
async function asEarlierVersion<T>(action: () => Promise<T>): Promise<T> {
  const { create, update } = WriteTransaction.prototype;
  const { columns } = subnetKind;
  const withoutLaterFields = (kind: object, fields: object) => {
    const added = LATER_FIELDS.flatMap((later) => (later.kind === kind ? [later.field] : []));
    return Object.fromEntries(Object.entries(fields).filter(([field]) => !added.includes(field))) as never;
  };
  WriteTransaction.prototype.create = function (kind, organizationId, fields, options) {
    return create.call(this, kind as never, organizationId, withoutLaterFields(kind, fields), options) as never;
  };
  WriteTransaction.prototype.update = function (kind, id, changes) {
    return update.call(this, kind as never, id, withoutLaterFields(kind, changes)) as never;
  };
  Object.assign(subnetKind, {
    columns: (...args: Parameters<NonNullable<typeof columns>>) => ({ ...columns?.(...args), accepts_credentials: 0 }),
  });
  try {
    return await action();
  } finally {
    Object.assign(WriteTransaction.prototype, { create, update });
    Object.assign(subnetKind, { columns });
  }
}

/** Adds the fields to the kinds, as a new version does. @returns a function that removes them */
export function addLaterFields(): () => void {
  const before = LATER_FIELDS.map(({ kind, field, value }) => {
    const { upcasters = [] } = kind;
    Object.assign(kind, { upcasters: [...upcasters, addField(MIGRATION, field, value)] });
    return { kind, upcasters };
  });
  return () => {
    for (const { kind, upcasters } of before) Object.assign(kind, { upcasters });
  };
}

/** Writes the store to a file and upgrades it to the version with the fields. */
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

/** Responses of the earlier version. */
export interface EarlierResponses {
  /** Envelope, or CSV text, by caller and path. */
  readonly responses: Readonly<Record<"owner" | "member", ReadonlyMap<string, JsonRecord | string>>>;
  /** ETag of each record, by path. */
  readonly etags: ReadonlyMap<string, string>;
}

/** @param paths paths by caller @param etagPaths paths of the records whose ETags are returned */
export function earlierResponses(
  store: EarlierStore,
  paths: Readonly<Record<"owner" | "member", readonly string[]>>,
  etagPaths: readonly string[],
): Promise<EarlierResponses> {
  return asEarlierVersion(async () => {
    const prepare = (path: string) => {
      writeFileSync(path, store.bytes);
      pruneEarlier(path, store);
    };
    const { appliance, owner, member } = await openEarlier(store, prepare, { isOfEarlierVersion: true });
    const readAll = async (client: Client, paths: readonly string[]) => {
      const responses = new Map<string, JsonRecord | string>();
      for (const path of paths) {
        const { status, text } = await client.get(path);
        if (status !== 200) throw new Error(`${path}: ${status} ${text}`);
        responses.set(path, path.includes("/csv") ? text : (JSON.parse(text) as JsonRecord));
      }
      return responses;
    };
    const etags = new Map<string, string>();
    for (const path of etagPaths) etags.set(path, (await owner.get(path)).headers.get("etag") as string);
    const responses = { owner: await readAll(owner, paths.owner), member: await readAll(member, paths.member) };
    await appliance.close();
    return { responses, etags };
  });
}

/** Writes a week of changes: records are created, renamed, moved, deleted and recreated. */
export function writeEarlierStore(): Promise<EarlierStore> {
  return asEarlierVersion(async () => {
    const appliance = await newAppliance({ isOfEarlierVersion: true });
    const { clock, owner, first } = appliance;
    const instants: string[] = [];
    const later = (hours: number) => {
      clock.advance(1_000);
      instants.push(clock.text());
      clock.advance(hours * 3_600_000);
    };
    const change = async (plural: string, id: string, fields: JsonRecord) => {
      clock.advance(1_000);
      return expectOk(owner.put(`${plural}/${id}`, { ...(await expectOk(owner.get(`${plural}/${id}`))), ...fields }));
    };
    const remove = async (path: string) => {
      clock.advance(1_000);
      await expectOk(owner.delete(path));
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
    const deletedSubnet = await newSubnet(appliance, { cidr: "10.2.0.0/24", name: "gone", ...accepting });
    const spare = await newHost(appliance, { name: "spare", description: "rack 7", sys_location: "Room 1" });
    later(8);
    await change("subnets", lab.id, { name: "Lab 2" });
    await remove(`subnets/${deletedSubnet.id}`);
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
