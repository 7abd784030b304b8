// Data that filters are evaluated on, as plain JSON: records at a timestamp, all their versions, their references, and
// the caller's reach. Scans everything, without indexes.

import type { Client } from "../appliance/client.ts";
import type { Wire } from "../appliance/factories.ts";

/** List path of each queried kind. */
export const LISTS = {
  host: "hosts",
  ip_address: "ip-addresses",
  port: "ports",
  service: "services",
  binding: "bindings",
  if_entry: "if-entries",
  subnet: "subnets",
  vlan: "vlans",
  network: "networks",
  tag: "tags",
  schedule: "discovery/schedules",
  ignored: "discovery/ignored",
  credential: "credentials",
  user: "users",
  api_key: "auth/keys",
} as const;
export type AskedKind = keyof typeof LISTS;
export const ASKED_KINDS = Object.keys(LISTS) as AskedKind[];
/** Kinds outside networks. */
const OF_ORGANIZATION: ReadonlySet<AskedKind> = new Set(["tag", "credential", "user", "api_key"]);

/** Valid from `from` until the next version of the same record. */
export interface Version {
  readonly kind: AskedKind;
  readonly from: number;
  /** Null after a deletion. */
  readonly record: Wire | null;
  readonly isUpdate: boolean;
  /** Fields recorded as changed. */
  readonly changed: readonly string[];
}

export interface Scene {
  /** End of ages and periods. */
  readonly at: number;
  /** Networks in reach; null for all. */
  readonly reach: ReadonlySet<string> | null;
  readonly records: ReadonlyMap<AskedKind, ReadonlyMap<string, Wire>>;
  /** Versions of all records ever, oldest first. */
  readonly versions: ReadonlyMap<string, readonly Version[]>;
  /** End of the pruned history; -Infinity if not pruned. */
  readonly thinnedUntil: number;
  /** Timestamp of the answering state: that of a retained state in pruned history. */
  known(instant: number): number;
  /** Ids that a search of this list returns for this caller. */
  found(words: string): ReadonlySet<string>;
}

/** Referenced kind of a field, and the ids there. */
interface Lead {
  readonly to: AskedKind;
  readonly isMany: boolean;
  ids(record: Wire, scene: Scene): readonly unknown[];
}

const one = (to: AskedKind, field: string): Lead => ({ to, isMany: false, ids: (record) => [record[field]] });
const many = (to: AskedKind, field: string): Lead => ({ to, isMany: true, ids: (record) => record[field] ?? [] });
const parts = (to: AskedKind, owner: string): Lead => ({
  to,
  isMany: true,
  ids: (record, scene) => all(scene, to).flatMap((each) => (each[owner] === record.id ? [each.id] : [])),
});

/** Devices and interfaces at the remote ends of links. */
function farEnds(path: string, ends: (record: Wire) => readonly (Wire | undefined)[]): Record<string, Lead> {
  const isMany = path !== "neighbor";
  const of = (record: Wire, type: string) => ends(record).flatMap((end) => (end?.type === type ? [end.id] : []));
  return {
    [`${path}.interface`]: { to: "if_entry", isMany, ids: (record) => of(record, "IfEntry") },
    [`${path}.host`]: {
      to: "host",
      isMany,
      ids: (record, scene) => [
        ...of(record, "Host"),
        ...of(record, "IfEntry").flatMap((id) => scene.records.get("if_entry")?.get(id)?.host_id ?? []),
      ],
    },
  };
}

/** By kind and name, as documented in the handbook. */
export const LEADS: Readonly<Record<AskedKind, Readonly<Record<string, Lead>>>> = {
  host: {
    network: one("network", "network_id"),
    tags: many("tag", "tags"),
    interfaces: parts("if_entry", "host_id"),
    ip_addresses: parts("ip_address", "host_id"),
    ports: parts("port", "host_id"),
    services: parts("service", "host_id"),
  },
  ip_address: {
    host: one("host", "host_id"),
    network: one("network", "network_id"),
    subnet: one("subnet", "subnet_id"),
  },
  port: { host: one("host", "host_id"), network: one("network", "network_id") },
  service: {
    host: one("host", "host_id"),
    network: one("network", "network_id"),
    tags: many("tag", "tags"),
    bindings: parts("binding", "service_id"),
  },
  binding: {
    service: one("service", "service_id"),
    port: one("port", "port_id"),
    ip_address: one("ip_address", "ip_address_id"),
    network: one("network", "network_id"),
  },
  if_entry: {
    host: one("host", "host_id"),
    network: one("network", "network_id"),
    ip_address: one("ip_address", "ip_address_id"),
    native_vlan: one("vlan", "native_vlan_id"),
    vlans: many("vlan", "vlan_ids"),
    vlan: { to: "vlan", isMany: true, ids: (record) => [record.native_vlan_id, ...(record.vlan_ids ?? [])] },
    ...farEnds("neighbor", ({ neighbor }) => [neighbor]),
    ...farEnds("more_neighbors.neighbor", ({ more_neighbors = [] }) =>
      more_neighbors.map(({ neighbor }: Wire) => neighbor),
    ),
  },
  subnet: { network: one("network", "network_id"), vlan: one("vlan", "vlan_id"), tags: many("tag", "tags") },
  vlan: { network: one("network", "network_id") },
  network: { tags: many("tag", "tags") },
  tag: {},
  schedule: { network: one("network", "network_id") },
  ignored: { network: one("network", "network_id"), host: one("host", "host_id") },
  credential: { tags: many("tag", "tags") },
  user: {},
  api_key: { tags: many("tag", "tags") },
};

function all(scene: Scene, kind: AskedKind): Wire[] {
  return [...(scene.records.get(kind)?.values() ?? [])];
}

export function isWithinReach(scene: Pick<Scene, "reach">, kind: AskedKind, record: Wire): boolean {
  if (OF_ORGANIZATION.has(kind) || scene.reach === null) return true;
  return scene.reach.has(kind === "network" ? record.id : record.network_id);
}

/** Records reached through a chain of references; those out of reach do not exist. */
export function ledTo(scene: Scene, kind: AskedKind, record: Wire, names: readonly string[]): Wire[] {
  const [name, ...rest] = names;
  if (name === undefined) return [record];
  const lead = LEADS[kind][name] as Lead;
  return lead
    .ids(record, scene)
    .map((id) => scene.records.get(lead.to)?.get(id as string))
    .filter((each) => each !== undefined && isWithinReach(scene, lead.to, each))
    .flatMap((each) => ledTo(scene, lead.to, each as Wire, rest));
}

/** Values of a field: of nested fields where it has a dot, of every item of a list. */
export function valuesIn(value: unknown, path: readonly string[]): unknown[] {
  if (Array.isArray(value)) return value.flatMap((each) => valuesIn(each, path));
  const [name, ...rest] = path;
  if (name === undefined) return isEmpty(value) ? [] : [value];
  return value === null || typeof value !== "object" ? [] : valuesIn((value as Wire)[name], rest);
}

function isEmpty(value: unknown): boolean {
  if (value === undefined || value === null || value === "") return true;
  return typeof value === "object" && Object.keys(value).length === 0;
}

/** All versions of all records, from the change feed. */
export async function readVersions(owner: Client): Promise<Map<string, Version[]>> {
  const versions = new Map<string, Version[]>();
  const add = (kind: AskedKind, operation: string, transaction: Wire, record: Wire, changed: string[]) => {
    const own = versions.get(record.id) ?? [];
    versions.set(record.id, own);
    own.push({
      kind,
      from: Date.parse(transaction.at),
      record: operation === "Deleted" ? null : record,
      isUpdate: operation === "Updated",
      changed,
    });
  };
  for (let [after, mark] = [0, ""]; ; ) {
    const { data, body } = await owner.get(`changes?after=${after}&mark=${mark}&limit=1000`);
    for (const { entity_type, operation, transaction, record, changed_fields } of data as Wire[])
      if (entity_type in LISTS) add(entity_type, operation, transaction, record, changed_fields);
    const { feed } = body.meta;
    if (!feed.has_more) break;
    ({ after, mark } = feed);
  }
  // The feed omits keys.
  for (const { id } of (await owner.get(`${LISTS.api_key}?limit=0`)).data as Wire[])
    for (const { operation, transaction, record, changed_fields } of (
      await owner.get(`${LISTS.api_key}/${id}/history`)
    ).data.reverse())
      add("api_key", operation, transaction, record, changed_fields);
  return versions;
}

/** All records of all kinds, from an Owner's lists. @param at null for live */
export async function readRecords(owner: Client, at: string | null): Promise<Map<AskedKind, Map<string, Wire>>> {
  const records = new Map<AskedKind, Map<string, Wire>>();
  for (const kind of ASKED_KINDS) {
    const more = `${at === null ? "" : `&at=${at}`}${kind === "host" ? "&include_children=false" : ""}`;
    const { data } = await owner.get(`${LISTS[kind]}?limit=0${more}`);
    records.set(kind, new Map(data.map((record: Wire) => [record.id, record])));
  }
  return records;
}
