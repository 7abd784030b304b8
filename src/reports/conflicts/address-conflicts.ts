// Conflicts of one address on several hosts. An index of all addresses ever assigned limits the read to those with
// several records. Runs in bounded steps.

import { isLocalBridge, isVlanGateway } from "../../base/interface-name.ts";
import { parseIp, uniqueWithin } from "../../base/ip.ts";
import { virtualRouterOf } from "../../base/mac.ts";
import { membersSql } from "../../db/shape.ts";
import { entriesAt } from "../../history/edge-ports.ts";
import { hostKind } from "../../resources/hosts/host.ts";
import { ipAddressKind } from "../../resources/ip-addresses/ip-address.ts";
import { sightingsAt } from "../../resources/sightings.ts";
import { subnetKind } from "../../resources/subnets/subnet.ts";
import type { SubnetType } from "../../resources/subnets/subnet-type.ts";
import { byNumber, type Conflict, type ConflictQuery, type Party, type StatementSource } from "./conflict.ts";

/** Subnet types local to one machine: equal addresses there do not conflict. */
export const MACHINE_LOCAL_TYPES: readonly SubnetType[] = ["Loopback", "DockerBridge", "PodmanBridge"];

/** Address versions scanned per step. */
const STEP_VERSIONS = 20_000;
/** Addresses looked up per step. */
const STEP_ADDRESSES = 200;

const addressOf = (version: string) => `('{' || ${version}.members || '}') ->> '$.ip_address'`;
/** Condition of the partial index, verbatim; its GLOB is a cheap prefilter. */
const isOfAddress = (version: string) =>
  `${version}.members GLOB '*p_address":"*' AND instr(${version}.members, '"ip_address":"') > 0`;
const ADDRESS_VERSIONS = `history_versions x INDEXED BY history_versions_of_address`;

const EDGE = `SELECT ${addressOf("x")} FROM ${ADDRESS_VERSIONS} WHERE ${isOfAddress("x")} AND ${addressOf("x")} > +?1
  ORDER BY 1 LIMIT 1 OFFSET +?2`;
/** Covering-index read: groups do not select the address, which is looked up afterwards for the few matches. */
const SHARED = `SELECT ${addressOf("y")} FROM (SELECT min(x.key) AS first FROM ${ADDRESS_VERSIONS} WHERE ${isOfAddress("x")}
    AND ${addressOf("x")} > +?1 AND (+?2 IS NULL OR ${addressOf("x")} <= +?2) GROUP BY ${addressOf("x")}
    HAVING min(x.key) >> 31 < max(x.key) >> 31) g CROSS JOIN history_versions y ON y.key = g.first`;

const newest = (n: string) =>
  `(SELECT max(key) FROM history_versions WHERE key > (${n} << 31) AND key <= ((${n} << 31) | +?3))`;
const memberSql = (field: string) => `('{' || ${membersSql(ipAddressKind, "v")} || '}') ->> '$.${field}'`;

/** Records with each address at that time, and their subnet and host as of then. */
const HOLDERS = `SELECT DISTINCT j.value, h.n, h.id, ${memberSql("network_id")}, r.n, ${memberSql("mac_address")}, ${memberSql("name")},
    (SELECT ('{' || ${membersSql(subnetKind, "w")} || '}') ->> '$.subnet_type' FROM history_records u
      CROSS JOIN history_versions w ON w.key = ${newest("u.n")} WHERE u.id = ${memberSql("subnet_id")}),
    coalesce(${memberSql("stale_since")}, (SELECT ('{' || ${membersSql(hostKind, "w")} || '}') ->> '$.stale_since'
      FROM history_versions w WHERE w.key = ${newest("h.n")}))
  FROM json_each(+?1) j
  CROSS JOIN ${ADDRESS_VERSIONS} ON ${isOfAddress("x")} AND ${addressOf("x")} = j.value
  CROSS JOIN history_records r ON r.n = x.key >> 31 AND r.kind = ${ipAddressKind.code}
  CROSS JOIN history_spans s ON s.scope = +?2 * 64 + r.kind AND s.n = r.n AND s.born <= +?3 AND s.died > +?3
  CROSS JOIN history_versions v ON v.key = ${newest("r.n")}
  CROSS JOIN history_records h ON h.id = ${memberSql("host_id")}
  WHERE ${memberSql("ip_address")} = j.value AND (+?4 IS NULL OR EXISTS (SELECT 1 FROM json_each(+?4) c
    CROSS JOIN history_spans b ON b.scope = c.value * 64 + r.kind AND b.n = r.n AND b.born <= +?3 AND b.died > +?3))`;

type HolderRow = [
  address: string,
  n: number,
  id: string,
  networkId: string,
  claimN: number,
  mac: string | null,
  interfaceName: string,
  type: SubnetType | null,
  staleSince: string | null,
];

/** @param addresses only these; null for all */
export function* addressConflicts(
  connection: StatementSource,
  query: ConflictQuery,
  addresses: readonly string[] | null = null,
  stepVersions = STEP_VERSIONS,
): Generator<void, readonly Conflict[]> {
  const shared = addresses ?? (yield* sharedAddresses(connection, stepVersions));
  const conflicts: Conflict[] = [];
  const { networkNs, organizationN } = query.reach;
  const networks = networkNs === null ? null : JSON.stringify(networkNs);
  for (let start = 0; start < shared.length; start += STEP_ADDRESSES) {
    const batch = JSON.stringify(shared.slice(start, start + STEP_ADDRESSES));
    const rows = connection.statement(HOLDERS).values(batch, organizationN, query.sequence, networks) as HolderRow[];
    for (const [value, holders] of Map.groupBy(rows.filter(claimsExclusively), ([each]) => each))
      for (const parties of partiesByScope(value, holders, forwardedAt(connection, query)))
        if (parties.length > 1 && !isVirtual(connection, query, value, parties, holders))
          conflicts.push({ type: "Address", value, parties });
    yield;
  }
  return conflicts;
}

/** Addresses that more than one record has ever had. */
function* sharedAddresses(connection: StatementSource, stepVersions: number): Generator<void, string[]> {
  const shared: string[] = [];
  for (let after = ""; ; ) {
    const edge = connection.statement(EDGE).values(after, stepVersions)[0]?.[0] as string | undefined;
    const rows = connection.statement(SHARED).values(after, edge ?? null) as Array<[string]>;
    for (const [address] of rows) shared.push(address);
    yield;
    if (edge === undefined) return shared;
    after = edge;
  }
}

/** Whether a holder claims the address exclusively: routers share a virtual one, and every machine has its own bridges. */
function claimsExclusively([, , , , , mac, interfaceName, type]: HolderRow): boolean {
  return (
    (mac === null || virtualRouterOf(mac) === null) &&
    !isLocalBridge(interfaceName) &&
    (type === null || !MACHINE_LOCAL_TYPES.includes(type))
  );
}

/** Hosts grouped by the scope in which the address is unique: per network, or everywhere. */
function partiesByScope(address: string, holders: readonly HolderRow[], isForwarded: IsForwarded): Party[][] {
  const ip = parseIp(address);
  const within = ip === null ? "link" : uniqueWithin(ip);
  if (within === "link") return [];
  const byScope = Map.groupBy(holders, ([, , , networkId]) => (within === "network" ? networkId : ""));
  return [...byScope.values()].map((found) =>
    byNumber(contradicting(found, isForwarded).map(([, n, id, networkId, claimN]) => ({ n, id, networkId, claimN }))),
  );
}

/**
 * Whether several devices legitimately share the address: it was seen with the MAC address of a virtual router (CARP
 * reports another one), or all of them report it as their own and none sees it on another, as with an anycast gateway.
 * Without such sightings, whether it is on the same VLAN interface of devices whose other addresses all differ.
 */
function isVirtual(
  connection: StatementSource,
  query: ConflictQuery,
  value: string,
  parties: readonly Party[],
  holders: readonly HolderRow[],
): boolean {
  const { at } = query;
  const networkIds = new Set(parties.map(({ networkId }) => networkId));
  const seen = [...networkIds].flatMap((id) => sightingsAt(connection, id, value, at));
  if (seen.some(({ mac }) => mac !== null && virtualRouterOf(mac) !== null)) return true;
  const own = seen.filter(({ kind }) => kind === "Own");
  const neighborSightings = seen.filter(({ kind }) => kind === "Neighbor");
  return (
    (neighborSightings.length > 0 || areGateways(connection, query, parties, holders)) &&
    parties.every(({ n }) => own.some(({ hostN }) => hostN === n)) &&
    neighborSightings.every((each) => own.every(({ mac }) => mac !== each.mac))
  );
}

function areGateways(
  connection: StatementSource,
  { sequence }: ConflictQuery,
  parties: readonly Party[],
  holders: readonly HolderRow[],
): boolean {
  const claims = new Set(parties.map(({ claimN }) => claimN));
  const [name = "", ...others] = new Set(
    holders.filter(([, , , , claimN]) => claims.has(claimN)).map(([, , , , , , interfaceName]) => interfaceName),
  );
  const hasOthers = ({ n }: Party) => connection.statement(HAS_OTHERS).values(n, sequence).length > 0;
  return others.length === 0 && isVlanGateway(name) && parties.every(hasOthers);
}

/** A second address of a host at that time. */
const HAS_OTHERS = `SELECT 1 FROM history_spans s WHERE s.scope = +?1 * 64 + ${ipAddressKind.code} AND s.born <= +?2
  AND s.died > +?2 LIMIT 1 OFFSET 1`;

/**
 * Selects the holders that contradict each other. A holder that is no longer seen, or whose MAC address is in no
 * forwarding table, has lost the address to a holder that is. Hosts with a common MAC address share it, such as a
 * cluster or the switches of an anycast gateway.
 */
function contradicting(holders: readonly HolderRow[], isForwarded: IsForwarded): readonly HolderRow[] {
  const present = holders.filter(([, , , , , , , , staleSince]) => staleSince === null);
  const claiming = present.length > 0 ? present : holders;
  const [first] = claiming;
  const isShared = first?.[5] !== null && claiming.every(([, , , , , mac]) => mac === first?.[5]);
  if (isShared || claiming.length < 2) return [];
  const isConnected = ([, , , networkId, , mac]: HolderRow) => mac === null || isForwarded(networkId, mac);
  const connected = claiming.filter(isConnected);
  return connected.some(([, , , , , mac]) => mac !== null) ? connected : claiming;
}

type IsForwarded = (networkId: string, mac: string) => boolean;

/** Whether a forwarding table of a network has a MAC address. */
function forwardedAt(connection: StatementSource, query: ConflictQuery): IsForwarded {
  return (networkId, mac) => entriesAt(connection, query, networkId, mac).length > 0;
}
