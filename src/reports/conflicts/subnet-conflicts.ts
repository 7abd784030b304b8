// Conflicts of overlapping subnets in different networks. Within one network subnets do not conflict: prefixes are
// unique, and a nested prefix is a child. In bounded steps.

import { isLocalBridge } from "../../base/interface-name.ts";
import { type Cidr, cidrOf, parseCidr, uniqueWithin } from "../../base/ip.ts";
import { append } from "../../base/multimap.ts";
import { scopeKey } from "../../db/kind.ts";
import { membersSql } from "../../db/shape.ts";
import { ipAddressKind } from "../../resources/ip-addresses/ip-address.ts";
import { subnetKind } from "../../resources/subnets/subnet.ts";
import { SKIPPED_TYPES, type SubnetType } from "../../resources/subnets/subnet-type.ts";
import { networksAt } from "../networks-at.ts";
import { MACHINE_LOCAL_TYPES } from "./address-conflicts.ts";
import { byNumber, type Conflict, type ConflictQuery, type Party, type StatementSource } from "./conflict.ts";

const STEP_SUBNETS = 1_000;

const memberSql = (field: string) => `('{' || ${membersSql(subnetKind, "v")} || '}') ->> '$.${field}'`;
const SUBNETS = `SELECT r.n, r.id, ${memberSql("network_id")}, ${memberSql("cidr")}, ${memberSql("subnet_type")} FROM history_spans s
  CROSS JOIN history_records r ON r.n = s.n
  CROSS JOIN history_versions v ON v.key = (SELECT max(key) FROM history_versions WHERE key > (s.n << 31)
    AND key <= ((s.n << 31) | +?3))
  WHERE s.scope = +?1 AND s.n > +?2 AND s.born <= +?3 AND s.died > +?3 ORDER BY s.n LIMIT ${STEP_SUBNETS}`;
/** Default names of subnets read from a device: its addresses are named after their interface. */
const ADDRESS_NAMES = `SELECT DISTINCT ('{' || ${membersSql(ipAddressKind, "v")} || '}') ->> '$.name' FROM history_spans s
  CROSS JOIN history_versions v ON v.key = (SELECT max(key) FROM history_versions WHERE key > (s.n << 31)
    AND key <= ((s.n << 31) | +?2))
  WHERE s.scope = +?1 AND s.born <= +?2 AND s.died > +?2 LIMIT ${STEP_SUBNETS}`;
type Row = [n: number, id: string, networkId: string, cidr: string, type: SubnetType];

export function* subnetConflicts(
  connection: StatementSource,
  query: ConflictQuery,
): Generator<void, readonly Conflict[]> {
  const networks = networksAt(connection, query.reach, query.sequence);
  if (networks.length < 2) return [];
  const byPrefix = yield* subnetsByPrefix(connection, query, networks);
  const conflicts: Conflict[] = [];
  let examined = 0;
  for (const [value, parties] of byPrefix) {
    const all = withoutLocal(connection, query, overlapping(byPrefix, value, parties));
    if (all.length > 1) conflicts.push({ type: "Subnet", value, parties: byNumber(all) });
    examined += 1;
    if (examined % STEP_SUBNETS === 0) yield;
  }
  return conflicts;
}

function* subnetsByPrefix(
  connection: StatementSource,
  { sequence }: ConflictQuery,
  networks: readonly number[],
): Generator<void, Map<string, Party[]>> {
  const byPrefix = new Map<string, Party[]>();
  for (const network of networks)
    for (let after = 0; ; ) {
      const rows = connection.statement(SUBNETS).values(scopeKey(network, subnetKind), after, sequence) as Row[];
      for (const [n, id, networkId, cidr, type] of rows) {
        if (!isCounted(cidr, type)) continue;
        append(byPrefix, cidr, { n, id, networkId, claimN: n });
      }
      yield;
      const last = rows.at(-1);
      if (last === undefined || rows.length < STEP_SUBNETS) break;
      [after] = last;
    }
  return byPrefix;
}

/** Excludes containers, the types Internet and Remote, types local to one machine, and link-local prefixes. */
function isCounted(cidr: string, type: SubnetType): boolean {
  if (type === "Container" || SKIPPED_TYPES.includes(type) || MACHINE_LOCAL_TYPES.includes(type)) return false;
  const prefix = parseCidr(cidr);
  return prefix !== null && uniqueWithin(prefix) !== "link";
}

/** The subnets with a prefix, and from every other network the narrowest subnet that contains it. */
function overlapping(
  byPrefix: ReadonlyMap<string, readonly Party[]>,
  value: string,
  parties: readonly Party[],
): Party[] {
  const prefix = parseCidr(value) as Cidr;
  const all = [...parties];
  const networks = new Set(parties.map(({ networkId }) => networkId));
  for (let length = prefix.prefixLength - 1; length > 0; length -= 1)
    for (const enclosing of byPrefix.get(cidrOf(prefix, length).text) ?? [])
      if (!networks.has(enclosing.networkId)) {
        networks.add(enclosing.networkId);
        all.push(enclosing);
      }
  return all;
}

/** Excludes subnets that devices have only on their local bridges: each machine has its own. */
function withoutLocal(connection: StatementSource, { sequence }: ConflictQuery, parties: readonly Party[]): Party[] {
  if (parties.length < 2) return [];
  return parties.filter(({ n }) => {
    const rows = connection.statement(ADDRESS_NAMES).values(scopeKey(n, ipAddressKind), sequence) as Array<[string]>;
    const names = rows.flatMap(([name]) => (name === "" ? [] : [name]));
    return names.length === 0 || !names.every(isLocalBridge);
  });
}
