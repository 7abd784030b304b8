// Plain JSON data on which filters are evaluated: records at a timestamp, all their versions, their references, and the
// networks in the caller's reach. Scans everything, without indexes.

import type { Client } from "../appliance/client.ts";
import type { JsonRecord } from "../appliance/factories.ts";

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
export type QueriedKind = keyof typeof LISTS;
export const QUERIED_KINDS = Object.keys(LISTS) as QueriedKind[];
/** Kinds outside networks. */
const ORGANIZATION_KINDS: ReadonlySet<QueriedKind> = new Set(["tag", "credential", "user", "api_key"]);

/** Version of a record, valid from `from` until the next one. */
export interface Version {
  readonly kind: QueriedKind;
  readonly from: number;
  /** Null after a deletion. */
  readonly record: JsonRecord | null;
  readonly isUpdate: boolean;
  /** Fields recorded as changed. */
  readonly changed: readonly string[];
}

export interface Dataset {
  /** Time from which ages are counted, and the end of periods. */
  readonly at: number;
  /** Networks in reach; null for all. */
  readonly reach: ReadonlySet<string> | null;
  readonly records: ReadonlyMap<QueriedKind, ReadonlyMap<string, JsonRecord>>;
  /** Versions of all records that ever existed, by id, oldest first. */
  readonly versions: ReadonlyMap<string, readonly Version[]>;
  /** End of the pruned history; -Infinity if not pruned. */
  readonly prunedUntil: number;
  /** Timestamp of the state that a read returns: in pruned history, the retained one. */
  storedInstant(instant: number): number;
  /** Ids that a search of this list returns for this caller. */
  searchResults(words: string): ReadonlySet<string>;
}

/** Referenced kind of a field, and the ids there. */
interface Reference {
  readonly to: QueriedKind;
  readonly isMany: boolean;
  ids(record: JsonRecord, dataset: Dataset): readonly unknown[];
}

const toOne = (to: QueriedKind, field: string): Reference => ({ to, isMany: false, ids: (record) => [record[field]] });
const toMany = (to: QueriedKind, field: string): Reference => ({
  to,
  isMany: true,
  ids: (record) => record[field] ?? [],
});
const children = (to: QueriedKind, owner: string): Reference => ({
  to,
  isMany: true,
  ids: (record, dataset) => all(dataset, to).flatMap((child) => (child[owner] === record.id ? [child.id] : [])),
});

/** Devices and interfaces at the remote ends of links. */
function remoteEnds(
  path: string,
  ends: (record: JsonRecord) => readonly (JsonRecord | undefined)[],
): Record<string, Reference> {
  const isMany = path !== "neighbor";
  const idsOfType = (record: JsonRecord, type: string) =>
    ends(record).flatMap((end) => (end?.type === type ? [end.id] : []));
  return {
    [`${path}.interface`]: { to: "if_entry", isMany, ids: (record) => idsOfType(record, "IfEntry") },
    [`${path}.host`]: {
      to: "host",
      isMany,
      ids: (record, dataset) => [
        ...idsOfType(record, "Host"),
        ...idsOfType(record, "IfEntry").flatMap((id) => dataset.records.get("if_entry")?.get(id)?.host_id ?? []),
      ],
    },
  };
}

/** By kind and name, as documented in the handbook. */
export const REFERENCES: Readonly<Record<QueriedKind, Readonly<Record<string, Reference>>>> = {
  host: {
    network: toOne("network", "network_id"),
    tags: toMany("tag", "tags"),
    interfaces: children("if_entry", "host_id"),
    ip_addresses: children("ip_address", "host_id"),
    ports: children("port", "host_id"),
    services: children("service", "host_id"),
  },
  ip_address: {
    host: toOne("host", "host_id"),
    network: toOne("network", "network_id"),
    subnet: toOne("subnet", "subnet_id"),
  },
  port: { host: toOne("host", "host_id"), network: toOne("network", "network_id") },
  service: {
    host: toOne("host", "host_id"),
    network: toOne("network", "network_id"),
    tags: toMany("tag", "tags"),
    bindings: children("binding", "service_id"),
  },
  binding: {
    service: toOne("service", "service_id"),
    port: toOne("port", "port_id"),
    ip_address: toOne("ip_address", "ip_address_id"),
    network: toOne("network", "network_id"),
  },
  if_entry: {
    host: toOne("host", "host_id"),
    network: toOne("network", "network_id"),
    ip_address: toOne("ip_address", "ip_address_id"),
    native_vlan: toOne("vlan", "native_vlan_id"),
    vlans: toMany("vlan", "vlan_ids"),
    vlan: { to: "vlan", isMany: true, ids: (record) => [record.native_vlan_id, ...(record.vlan_ids ?? [])] },
    ...remoteEnds("neighbor", ({ neighbor }) => [neighbor]),
    ...remoteEnds("more_neighbors.neighbor", ({ more_neighbors = [] }) =>
      more_neighbors.map(({ neighbor }: JsonRecord) => neighbor),
    ),
  },
  subnet: { network: toOne("network", "network_id"), vlan: toOne("vlan", "vlan_id"), tags: toMany("tag", "tags") },
  vlan: { network: toOne("network", "network_id") },
  network: { tags: toMany("tag", "tags") },
  tag: {},
  schedule: { network: toOne("network", "network_id") },
  ignored: { network: toOne("network", "network_id"), host: toOne("host", "host_id") },
  credential: { tags: toMany("tag", "tags") },
  user: {},
  api_key: { tags: toMany("tag", "tags") },
};

function all(dataset: Dataset, kind: QueriedKind): JsonRecord[] {
  return [...(dataset.records.get(kind)?.values() ?? [])];
}

export function isWithinReach(dataset: Pick<Dataset, "reach">, kind: QueriedKind, record: JsonRecord): boolean {
  if (ORGANIZATION_KINDS.has(kind) || dataset.reach === null) return true;
  return dataset.reach.has(kind === "network" ? record.id : record.network_id);
}

/** Records reached through a chain of references; those out of reach do not exist. */
export function followReferences(
  dataset: Dataset,
  kind: QueriedKind,
  record: JsonRecord,
  names: readonly string[],
): JsonRecord[] {
  const [name, ...rest] = names;
  if (name === undefined) return [record];
  const reference = REFERENCES[kind][name] as Reference;
  return reference
    .ids(record, dataset)
    .map((id) => dataset.records.get(reference.to)?.get(id as string))
    .filter((target) => target !== undefined && isWithinReach(dataset, reference.to, target))
    .flatMap((target) => followReferences(dataset, reference.to, target as JsonRecord, rest));
}

/** Values at a path: of nested fields, and of every item of a list. */
export function valuesIn(value: unknown, path: readonly string[]): unknown[] {
  if (Array.isArray(value)) return value.flatMap((item) => valuesIn(item, path));
  const [name, ...rest] = path;
  if (name === undefined) return isEmpty(value) ? [] : [value];
  return value === null || typeof value !== "object" ? [] : valuesIn((value as JsonRecord)[name], rest);
}

function isEmpty(value: unknown): boolean {
  if (value === undefined || value === null || value === "") return true;
  return typeof value === "object" && Object.keys(value).length === 0;
}

/** All versions of all records, from the change feed. */
export async function readVersions(owner: Client): Promise<Map<string, Version[]>> {
  const versions = new Map<string, Version[]>();
  const add = (
    kind: QueriedKind,
    operation: string,
    transaction: JsonRecord,
    record: JsonRecord,
    changed: string[],
  ) => {
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
    for (const { entity_type, operation, transaction, record, changed_fields } of data as JsonRecord[])
      if (entity_type in LISTS) add(entity_type, operation, transaction, record, changed_fields);
    const { feed } = body.meta;
    if (!feed.has_more) break;
    ({ after, mark } = feed);
  }
  // The feed omits keys.
  for (const { id } of (await owner.get(`${LISTS.api_key}?limit=0`)).data as JsonRecord[])
    for (const { operation, transaction, record, changed_fields } of (
      await owner.get(`${LISTS.api_key}/${id}/history`)
    ).data.reverse())
      add("api_key", operation, transaction, record, changed_fields);
  return versions;
}

/** All records of all kinds, from an Owner's lists. @param at null for live records */
export async function readRecords(
  owner: Client,
  at: string | null,
): Promise<Map<QueriedKind, Map<string, JsonRecord>>> {
  const records = new Map<QueriedKind, Map<string, JsonRecord>>();
  for (const kind of QUERIED_KINDS) {
    const parameters = `${at === null ? "" : `&at=${at}`}${kind === "host" ? "&include_children=false" : ""}`;
    const { data } = await owner.get(`${LISTS[kind]}?limit=0${parameters}`);
    records.set(kind, new Map(data.map((record: JsonRecord) => [record.id, record])));
  }
  return records;
}
