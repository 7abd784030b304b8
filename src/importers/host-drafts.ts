// Conversion of a source's devices to items of a bulk write: new, changed, unchanged. Must not write anything except
// the subnets and VLANs of a device's parts.

import { fieldValueOf } from "../base/custom-field-names.ts";
import { HostBulkItem } from "../resources/hosts/bulk-body.ts";
import { IfEntryItem } from "../resources/if-entries/if-entry.ts";
import { IpAddressItem } from "../resources/ip-addresses/ip-address.ts";
import { CHILDREN_MAX } from "../schemas/schemas.ts";
import type { Bringing } from "./bringing.ts";
import type { LedgerRecord } from "./ledger.ts";
import { ensureSubnet, ensureVlan } from "./places.ts";
import { PlanTally, planLine } from "./plan.ts";
import { bodyWithCustomFields, changesOf, checkedBody, said, wasDeletedHere } from "./records.ts";
import type { WantedAddress, WantedHost, WantedInterface } from "./wanted.ts";

export interface HostDraft {
  readonly wanted: WantedHost;
  /** Null if nothing needs to be written. */
  readonly item: HostBulkItem | null;
  /** Applied to the plan once written. */
  readonly tally: PlanTally;
}

/**
 * @param existing the host with its children; null if none
 * @param entries its interface entries for which the source lists VLANs: entries within a host lack VLANs
 * @returns null for a host that cannot be imported; the plan says why
 * @throws RemoteTrouble
 */
export async function draftHost(
  bringing: Bringing,
  wanted: WantedHost,
  existing: LedgerRecord | null,
  entries: ReadonlyMap<string, LedgerRecord>,
): Promise<HostDraft | null> {
  const { plan } = bringing;
  const tally = new PlanTally();
  const line = planLine(wanted.name, wanted.url);
  const network = existing === null ? bringing.networkOf(wanted.network) : { id: existing.network_id as string };
  if ("refused" in network) {
    plan.refuse("hosts", wanted.url, network.refused);
    return null;
  }
  const custom = bringing.customValues("host", wanted.custom, (why) => tally.refuse("fields", wanted.url, why));
  const fields = { ...ownFields(wanted), ...custom };
  const tags = bringing.tagIds(wanted.tags);
  const checked = checkedBody<HostBulkItem>(
    HostBulkItem,
    bodyWithCustomFields({ id: wanted.id, network_id: network.id, ...fields, tags }),
  );
  if ("refused" in checked) {
    plan.refuse("hosts", wanted.url, checked.refused);
    return null;
  }
  if (existing === null && (await wasDeletedHere(bringing, "/hosts", wanted.id))) {
    plan.add("hosts", "kept", `${line} was deleted here`);
    return null;
  }
  const context: PartContext = { bringing, tally, wanted, networkId: network.id, existing, entries };
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
  const { changes, kept } = await changesOf(bringing, "/hosts", existing, { fields, tags });
  tally.addChange("hosts", line, Object.keys(changes), kept);
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
  readonly bringing: Bringing;
  readonly tally: PlanTally;
  readonly wanted: WantedHost;
  readonly networkId: string;
  readonly existing: LedgerRecord | null;
  readonly entries: ReadonlyMap<string, LedgerRecord>;
}

function ownFields(wanted: WantedHost): Record<string, unknown> {
  const { name, hostname, description, manufacturer, model, serial_number, asset_tag, sys_location } = wanted;
  return said({ name, hostname, description, manufacturer, model, serial_number, asset_tag, sys_location });
}

/** An item that leaves a child unchanged. */
type Item = { readonly id: string } & Record<string, unknown>;

/** @returns the whole list, null if unchanged; and the first address ID per interface origin */
async function draftAddresses(context: PartContext) {
  const { bringing, tally, wanted, networkId, existing } = context;
  const stored = (existing?.ip_addresses ?? []) as LedgerRecord[];
  const byAddress = new Map(stored.map((each) => [each.ip_address as string, each]));
  const items = new Map<string, Item>(
    stored.map(({ id, ip_address, subnet_id }) => [id, { id, ip_address, subnet_id }]),
  );
  const ids = new Map<string, string>();
  const taken = new Set<string>();
  let isChanged = false;
  for (const each of wanted.addresses) {
    const line = planLine(`${each.ip_address} of ${wanted.name}`, each.url);
    const fields = said({ name: each.name, mac_address: each.mac_address });
    const checked = checkedBody<IpAddressItem>(IpAddressItem, { id: each.id, ip_address: each.ip_address, ...fields });
    if ("refused" in checked) {
      tally.refuse("addresses", each.url, checked.refused);
      continue;
    }
    const { ip_address } = checked.body;
    if (taken.has(ip_address)) {
      tally.refuse("addresses", each.url, `the host has ${ip_address} already`);
      continue;
    }
    taken.add(ip_address);
    const record = byAddress.get(ip_address) ?? null;
    if (record === null) {
      const isKept = await isPartDeleted(context, "/ip-addresses", each.id);
      if (isKept) {
        tally.add("addresses", "kept", `${line} was deleted here`);
        continue;
      }
      const refused = items.size >= CHILDREN_MAX ? FULL : await ensurePlace(bringing, networkId, each, ip_address);
      if (refused !== null) {
        tally.refuse("addresses", each.url, refused);
        continue;
      }
      items.set(each.id, { ...checked.body, id: each.id });
      tally.add("addresses", "created", line);
      isChanged = true;
    } else {
      const wantedFields = checkedFields(fields, checked.body);
      const { changes, kept } = await changesOf(bringing, "/ip-addresses", record, { fields: wantedFields });
      tally.addChange("addresses", line, Object.keys(changes), kept);
      if (Object.keys(changes).length > 0) {
        items.set(record.id, { ...(items.get(record.id) as Item), ...changes });
        isChanged = true;
      }
    }
    const id = record?.id ?? each.id;
    if (each.interfaceId !== null && !ids.has(each.interfaceId)) ids.set(each.interfaceId, id);
  }
  return { items: isChanged ? ([...items.values()] as unknown as IpAddressItem[]) : null, ids };
}

const FULL = `the host has ${CHILDREN_MAX} of them already`;

/** @returns the reason for having no subnet; null if the address has one, or one was created */
function ensurePlace(bringing: Bringing, networkId: string, wanted: WantedAddress, address: string) {
  const { url, prefixLength } = wanted;
  return ensureSubnet(bringing, networkId, { url, first: address, last: address, prefixLength });
}

/** @returns the whole list; null if unchanged */
async function draftInterfaces(
  context: PartContext,
  addressIds: ReadonlyMap<string, string>,
): Promise<IfEntryItem[] | null> {
  const { bringing, tally, wanted, existing } = context;
  const stored = (existing?.interfaces ?? []) as LedgerRecord[];
  const find = storedInterfaces(stored, wanted);
  const items = new Map<string, Item>(stored.map(({ id, if_index, if_descr }) => [id, { id, if_index, if_descr }]));
  const numbers = new Set(stored.map((each) => each.if_index as number));
  let isChanged = false;
  for (const each of wanted.interfaces) {
    const line = planLine(`${each.name} of ${wanted.name}`, each.url);
    const record = await withVlans(context, find(each), each);
    const custom = bringing.customValues("if_entry", each.custom, (why) => tally.refuse("fields", each.url, why));
    const fields = { ...(await interfaceFields(context, each, addressIds.get(each.id) ?? null)), ...custom };
    const if_index = (record?.if_index as number | undefined) ?? freeNumber(numbers, each.if_index);
    const checked = checkedBody<IfEntryItem>(IfEntryItem, bodyWithCustomFields({ id: each.id, if_index, ...fields }));
    if ("refused" in checked) {
      tally.refuse("interfaces", each.url, checked.refused);
      continue;
    }
    if (record === null) {
      if (items.size >= CHILDREN_MAX) {
        tally.refuse("interfaces", each.url, FULL);
        continue;
      }
      if (await isPartDeleted(context, "/if-entries", each.id)) {
        tally.add("interfaces", "kept", `${line} was deleted here`);
        continue;
      }
      numbers.add(if_index);
      const admin = each.admin_status === "Up" ? {} : { admin_status: each.admin_status };
      items.set(each.id, { ...checked.body, ...admin, id: each.id });
      tally.add("interfaces", "created", line);
      isChanged = true;
      continue;
    }
    const wantedFields: Record<string, unknown> = {
      ...checkedFields(fields, checked.body),
      admin_status: each.admin_status,
    };
    if (isSameSet(record.vlan_ids, fields.vlan_ids)) wantedFields.vlan_ids = record.vlan_ids;
    const weak = each.admin_status === "Up" ? ["admin_status"] : [];
    const { changes, kept } = await changesOf(bringing, "/if-entries", record, { fields: wantedFields, weak });
    tally.addChange("interfaces", line, Object.keys(changes), kept);
    if (Object.keys(changes).length === 0) continue;
    items.set(record.id, { ...(items.get(record.id) as Item), ...bodyWithCustomFields(changes) });
    isChanged = true;
  }
  return isChanged ? ([...items.values()] as unknown as IfEntryItem[]) : null;
}

/** Finds by import ID, else by unique name. */
function storedInterfaces(stored: readonly LedgerRecord[], wanted: WantedHost) {
  const byId = new Map(stored.map((each) => [each.id, each]));
  const spoken = new Set(wanted.interfaces.map((each) => each.id));
  const byName = new Map<unknown, LedgerRecord | null>();
  for (const each of stored) {
    if (spoken.has(each.id)) continue;
    const name = each.if_name ?? each.if_descr;
    byName.set(name, byName.has(name) ? null : each);
  }
  return ({ id, name }: WantedInterface): LedgerRecord | null => {
    const found = byId.get(id) ?? byName.get(name) ?? null;
    if (found !== null) byName.delete(name);
    return found;
  };
}

/** True if the source lists VLANs of the interface. */
export function namesVlans({ native_vlan, vlans }: WantedInterface): boolean {
  return native_vlan !== null || vlans.length > 0;
}

/** Returns the entry, with its VLANs if needed. */
async function withVlans(
  { bringing, entries }: PartContext,
  entry: LedgerRecord | null,
  wanted: WantedInterface,
): Promise<LedgerRecord | null> {
  if (entry === null || !namesVlans(wanted)) return entry;
  const whole = entries.get(entry.id) ?? (await bringing.ledger.byIds("/if-entries", [entry.id])).get(entry.id);
  return { ...entry, native_vlan_id: whole?.native_vlan_id ?? null, vlan_ids: whole?.vlan_ids ?? null };
}

async function interfaceFields(
  { bringing, networkId }: PartContext,
  wanted: WantedInterface,
  addressId: string | null,
): Promise<Record<string, unknown>> {
  const native = wanted.native_vlan === null ? null : await ensureVlan(bringing, networkId, wanted.native_vlan);
  const vlans: string[] = [];
  for (const each of wanted.vlans) {
    const id = await ensureVlan(bringing, networkId, each);
    if (id !== null && !vlans.includes(id)) vlans.push(id);
  }
  return said({
    if_descr: wanted.name,
    if_name: wanted.name,
    if_alias: wanted.alias,
    if_type: wanted.if_type,
    speed_bps: wanted.speed_bps,
    mac_address: wanted.mac_address,
    ip_address_id: addressId,
    native_vlan_id: native,
    vlan_ids: vlans.length === 0 ? null : vlans,
  });
}

/** ifIndexes are unique within a host; a scan that learns the device's own corrects them. */
function freeNumber(taken: ReadonlySet<number>, wanted: number): number {
  let number = wanted;
  while (taken.has(number)) number += 1;
  return number;
}

/** VLAN lists are unordered. */
function isSameSet(one: unknown, other: unknown): boolean {
  return Array.isArray(one) && Array.isArray(other) && new Set(one).symmetricDifference(new Set(other)).size === 0;
}

function checkedFields(fields: Readonly<Record<string, unknown>>, body: object): Record<string, unknown> {
  return Object.fromEntries(
    Object.keys(fields).map((name) => [name, fieldValueOf(body as Record<string, unknown>, name)]),
  );
}

/** A new host has no deleted parts. */
async function isPartDeleted({ bringing, existing }: PartContext, path: string, id: string): Promise<boolean> {
  return existing !== null && (await wasDeletedHere(bringing, path, id));
}
