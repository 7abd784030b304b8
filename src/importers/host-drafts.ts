// Conversion of source devices to bulk write items: new, changed, unchanged. Writes only the subnets and VLANs of a
// device's parts.

import { fieldValueOf } from "../base/custom-field-names.ts";
import { HostBulkItem } from "../resources/hosts/bulk-body.ts";
import { IfEntryItem } from "../resources/if-entries/if-entry.ts";
import { IpAddressItem } from "../resources/ip-addresses/ip-address.ts";
import { CHILDREN_MAX } from "../schemas/schemas.ts";
import type { ImportRun } from "./import-run.ts";
import type { ImportedAddress, ImportedHost, ImportedInterface } from "./imported-objects.ts";
import type { LedgerRecord } from "./ledger.ts";
import { ensureSubnet, ensureVlan } from "./places.ts";
import { PlanTally, planLine } from "./plan.ts";
import { bodyWithCustomFields, changesOf, checkedBody, specified, wasDeletedHere } from "./records.ts";

export interface HostDraft {
  readonly wanted: ImportedHost;
  /** Null if nothing needs to be written. */
  readonly item: HostBulkItem | null;
  /** Applied to the plan once written. */
  readonly tally: PlanTally;
}

/**
 * @param existing the host with its children; null if none
 * @param entries its interface entries for which the source lists VLANs: entries within a host lack VLANs
 * @returns null for a host that cannot be imported; the plan has the reason
 * @throws RemoteError
 */
export async function draftHost(
  run: ImportRun,
  wanted: ImportedHost,
  existing: LedgerRecord | null,
  entries: ReadonlyMap<string, LedgerRecord>,
): Promise<HostDraft | null> {
  const { plan } = run;
  const tally = new PlanTally();
  const line = planLine(wanted.name, wanted.url);
  const network = existing === null ? run.networkOf(wanted.network) : { id: existing.network_id as string };
  if ("refused" in network) {
    plan.refuse("hosts", wanted.url, network.refused);
    return null;
  }
  const custom = run.customValues("host", wanted.custom, (reason) => tally.refuse("fields", wanted.url, reason));
  const fields = { ...ownFields(wanted), ...custom };
  const tags = run.tagIds(wanted.tags);
  const checked = checkedBody<HostBulkItem>(
    HostBulkItem,
    bodyWithCustomFields({ id: wanted.id, network_id: network.id, ...fields, tags }),
  );
  if ("refused" in checked) {
    plan.refuse("hosts", wanted.url, checked.refused);
    return null;
  }
  if (existing === null && (await wasDeletedHere(run, "/hosts", wanted.id))) {
    plan.add("hosts", "kept", `${line} was deleted here`);
    return null;
  }
  const context: PartContext = { run, tally, wanted, networkId: network.id, existing, entries };
  const addresses = await draftAddresses(context);
  const interfaces = await draftInterfaces(context, addresses.ids);
  const lists = {
    ...(addresses.items === null ? {} : { ip_addresses: addresses.items }),
    ...(interfaces === null ? {} : { interfaces }),
  };
  if (existing === null) {
    tally.add("hosts", "created", line);
    return { wanted, item: { ...checked.body, ...lists }, tally };
  }
  const { changes, kept: keptDifferences } = await changesOf(run, "/hosts", existing, { fields, tags });
  tally.addChange("hosts", line, Object.keys(changes), keptDifferences);
  const isWritten = Object.keys(changes).length > 0 || Object.keys(lists).length > 0;
  const item: HostBulkItem = {
    id: existing.id,
    name: existing.name as string,
    // Children missing in the lists are deleted: the lists must match the current host.
    expected_updated_at: existing.updated_at as string,
    ...bodyWithCustomFields(changes),
    ...lists,
  };
  return { wanted, item: isWritten ? item : null, tally };
}

interface PartContext {
  readonly run: ImportRun;
  readonly tally: PlanTally;
  readonly wanted: ImportedHost;
  readonly networkId: string;
  readonly existing: LedgerRecord | null;
  readonly entries: ReadonlyMap<string, LedgerRecord>;
}

function ownFields(wanted: ImportedHost): Record<string, unknown> {
  const { name, hostname, description, manufacturer, model, serial_number, asset_tag, sys_location } = wanted;
  return specified({ name, hostname, description, manufacturer, model, serial_number, asset_tag, sys_location });
}

/** An item that leaves a child unchanged. */
type Item = { readonly id: string } & Record<string, unknown>;

/** @returns the whole list, null if unchanged; and the first address ID per interface origin */
async function draftAddresses(context: PartContext) {
  const { run, tally, wanted, networkId, existing } = context;
  const stored = (existing?.ip_addresses ?? []) as LedgerRecord[];
  const byAddress = new Map(stored.map((part) => [part.ip_address as string, part]));
  const items = new Map<string, Item>(
    stored.map(({ id, ip_address, subnet_id }) => [id, { id, ip_address, subnet_id }]),
  );
  const ids = new Map<string, string>();
  const seen = new Set<string>();
  let isChanged = false;
  for (const part of wanted.addresses) {
    const line = planLine(`${part.ip_address} of ${wanted.name}`, part.url);
    const fields = specified({ name: part.name, mac_address: part.mac_address });
    const checked = checkedBody<IpAddressItem>(IpAddressItem, { id: part.id, ip_address: part.ip_address, ...fields });
    if ("refused" in checked) {
      tally.refuse("addresses", part.url, checked.refused);
      continue;
    }
    const { ip_address } = checked.body;
    if (seen.has(ip_address)) {
      tally.refuse("addresses", part.url, `the host has ${ip_address} already`);
      continue;
    }
    seen.add(ip_address);
    const record = byAddress.get(ip_address) ?? null;
    if (record === null) {
      const isKept = await isPartDeleted(context, "/ip-addresses", part.id);
      if (isKept) {
        tally.add("addresses", "kept", `${line} was deleted here`);
        continue;
      }
      const refused = items.size >= CHILDREN_MAX ? FULL : await ensureAddressSubnet(run, networkId, part, ip_address);
      if (refused !== null) {
        tally.refuse("addresses", part.url, refused);
        continue;
      }
      items.set(part.id, { ...checked.body, id: part.id });
      tally.add("addresses", "created", line);
      isChanged = true;
    } else {
      const wantedFields = checkedFields(fields, checked.body);
      const { changes, kept: keptDifferences } = await changesOf(run, "/ip-addresses", record, {
        fields: wantedFields,
      });
      tally.addChange("addresses", line, Object.keys(changes), keptDifferences);
      if (Object.keys(changes).length > 0) {
        items.set(record.id, { ...(items.get(record.id) as Item), ...changes });
        isChanged = true;
      }
    }
    const id = record?.id ?? part.id;
    if (part.interfaceId !== null && !ids.has(part.interfaceId)) ids.set(part.interfaceId, id);
  }
  return { items: isChanged ? ([...items.values()] as unknown as IpAddressItem[]) : null, ids };
}

const FULL = `the host has ${CHILDREN_MAX} of them already`;

/** @returns the reason for having no subnet; null if the address has one, or one was created */
function ensureAddressSubnet(run: ImportRun, networkId: string, wanted: ImportedAddress, address: string) {
  const { url, prefixLength } = wanted;
  return ensureSubnet(run, networkId, { url, first: address, last: address, prefixLength });
}

/** @returns the whole list; null if unchanged */
async function draftInterfaces(
  context: PartContext,
  addressIds: ReadonlyMap<string, string>,
): Promise<IfEntryItem[] | null> {
  const { run, tally, wanted, existing } = context;
  const stored = (existing?.interfaces ?? []) as LedgerRecord[];
  const find = storedInterfaces(stored, wanted);
  const items = new Map<string, Item>(stored.map(({ id, if_index, if_descr }) => [id, { id, if_index, if_descr }]));
  const numbers = new Set(stored.map((part) => part.if_index as number));
  let isChanged = false;
  for (const part of wanted.interfaces) {
    const line = planLine(`${part.name} of ${wanted.name}`, part.url);
    const record = await withVlans(context, find(part), part);
    const custom = run.customValues("if_entry", part.custom, (reason) => tally.refuse("fields", part.url, reason));
    const fields = { ...(await interfaceFields(context, part, addressIds.get(part.id) ?? null)), ...custom };
    const if_index = (record?.if_index as number | undefined) ?? freeNumber(numbers, part.if_index);
    const checked = checkedBody<IfEntryItem>(IfEntryItem, bodyWithCustomFields({ id: part.id, if_index, ...fields }));
    if ("refused" in checked) {
      tally.refuse("interfaces", part.url, checked.refused);
      continue;
    }
    if (record === null) {
      if (items.size >= CHILDREN_MAX) {
        tally.refuse("interfaces", part.url, FULL);
        continue;
      }
      if (await isPartDeleted(context, "/if-entries", part.id)) {
        tally.add("interfaces", "kept", `${line} was deleted here`);
        continue;
      }
      numbers.add(if_index);
      const admin = part.admin_status === "Up" ? {} : { admin_status: part.admin_status };
      items.set(part.id, { ...checked.body, ...admin, id: part.id });
      tally.add("interfaces", "created", line);
      isChanged = true;
      continue;
    }
    const wantedFields: Record<string, unknown> = {
      ...checkedFields(fields, checked.body),
      admin_status: part.admin_status,
    };
    if (isSameSet(record.vlan_ids, fields.vlan_ids)) wantedFields.vlan_ids = record.vlan_ids;
    const weak = part.admin_status === "Up" ? ["admin_status"] : [];
    const { changes, kept: keptDifferences } = await changesOf(run, "/if-entries", record, {
      fields: wantedFields,
      weak,
    });
    tally.addChange("interfaces", line, Object.keys(changes), keptDifferences);
    if (Object.keys(changes).length === 0) continue;
    items.set(record.id, { ...(items.get(record.id) as Item), ...bodyWithCustomFields(changes) });
    isChanged = true;
  }
  return isChanged ? ([...items.values()] as unknown as IfEntryItem[]) : null;
}

/** Finds by import ID, else by unique name. */
function storedInterfaces(stored: readonly LedgerRecord[], wanted: ImportedHost) {
  const byId = new Map(stored.map((part) => [part.id, part]));
  const importedIds = new Set(wanted.interfaces.map((part) => part.id));
  const byName = new Map<unknown, LedgerRecord | null>();
  for (const part of stored) {
    if (importedIds.has(part.id)) continue;
    const name = part.if_name ?? part.if_descr;
    byName.set(name, byName.has(name) ? null : part);
  }
  return ({ id, name }: ImportedInterface): LedgerRecord | null => {
    const found = byId.get(id) ?? byName.get(name) ?? null;
    if (found !== null) byName.delete(name);
    return found;
  };
}

/** True if the source lists VLANs of the interface. */
export function hasVlans({ native_vlan, vlans }: ImportedInterface): boolean {
  return native_vlan !== null || vlans.length > 0;
}

/** Returns the entry, with its VLANs if needed. */
async function withVlans(
  { run, entries }: PartContext,
  entry: LedgerRecord | null,
  wanted: ImportedInterface,
): Promise<LedgerRecord | null> {
  if (entry === null || !hasVlans(wanted)) return entry;
  const fullEntry = entries.get(entry.id) ?? (await run.ledger.byIds("/if-entries", [entry.id])).get(entry.id);
  return { ...entry, native_vlan_id: fullEntry?.native_vlan_id ?? null, vlan_ids: fullEntry?.vlan_ids ?? null };
}

async function interfaceFields(
  { run, networkId }: PartContext,
  wanted: ImportedInterface,
  addressId: string | null,
): Promise<Record<string, unknown>> {
  const nativeVlanId = wanted.native_vlan === null ? null : await ensureVlan(run, networkId, wanted.native_vlan);
  const vlans: string[] = [];
  for (const part of wanted.vlans) {
    const id = await ensureVlan(run, networkId, part);
    if (id !== null && !vlans.includes(id)) vlans.push(id);
  }
  return specified({
    if_descr: wanted.name,
    if_name: wanted.name,
    if_alias: wanted.alias,
    if_type: wanted.if_type,
    speed_bps: wanted.speed_bps,
    mac_address: wanted.mac_address,
    ip_address_id: addressId,
    native_vlan_id: nativeVlanId,
    vlan_ids: vlans.length === 0 ? null : vlans,
  });
}

/** ifIndexes are unique within a host; a scan that learns the device's own corrects them. */
function freeNumber(seen: ReadonlySet<number>, wanted: number): number {
  let number = wanted;
  while (seen.has(number)) number += 1;
  return number;
}

/** VLAN lists are unordered. */
function isSameSet(left: unknown, right: unknown): boolean {
  return Array.isArray(left) && Array.isArray(right) && new Set(left).symmetricDifference(new Set(right)).size === 0;
}

function checkedFields(fields: Readonly<Record<string, unknown>>, body: object): Record<string, unknown> {
  return Object.fromEntries(
    Object.keys(fields).map((name) => [name, fieldValueOf(body as Record<string, unknown>, name)]),
  );
}

/** A new host has no deleted parts. */
async function isPartDeleted({ run, existing }: PartContext, path: string, id: string): Promise<boolean> {
  return existing !== null && (await wasDeletedHere(run, path, id));
}
