// Items that need an Admin's approval as of a transaction: subnets that do not accept the network's credentials, and
// addresses not covered by their host's credentials. Starts from the assignments, never from all hosts; in bounded
// steps.

import { cidrSortKey, ipSortKey, parseIp } from "../../base/ip.ts";
import { compareCodePoints } from "../../base/text.ts";
import { scopeKey } from "../../db/kind.ts";
import type { Reach } from "../../db/reading/list-query.ts";
import type { Reader } from "../../db/reading/reader.ts";
import { membersSql } from "../../db/shape.ts";
import { credentialAssignmentKind } from "../../resources/credential-assignments/credential-assignment.ts";
import { ipAddressKind } from "../../resources/ip-addresses/ip-address.ts";
import { AcceptingSubnets, type SubnetPolicy } from "../../resources/subnets/accepting.ts";
import { subnetKind } from "../../resources/subnets/subnet.ts";
import { SKIPPED_TYPES, type SubnetType } from "../../resources/subnets/subnet-type.ts";
import { networksAt } from "../networks-at.ts";
import { WITHHELD_TYPES, type WithheldType } from "./withheld-schema.ts";

/** A withheld item, by record numbers. */
export interface WithheldItem {
  readonly type: WithheldType;
  readonly n: number;
  readonly id: string;
  /** Canonical. */
  readonly value: string;
  readonly networkN: number;
  /** Null for a subnet. */
  readonly hostId: string | null;
  /** Credentials with the assignments that include the item, in order of creation. */
  readonly assignments: ReadonlyArray<{ readonly n: number; readonly credentialId: string }>;
  readonly addressCount: number;
}

export interface WithheldQuery {
  readonly reach: Reach;
  /** Only this network; null for everything that the caller can access. */
  readonly networkId: string | null;
  readonly types: readonly WithheldType[];
  /** As of this transaction. */
  readonly sequence: number;
}

const STEP_ASSIGNMENTS = 500;
const STEP_SUBNETS = 1_000;

const newest = (n: string) =>
  `(SELECT max(key) FROM history_versions WHERE key > (${n} << 31) AND key <= ((${n} << 31) | +?2))`;
const memberSql = (kind: Parameters<typeof membersSql>[0], version: string) =>
  `'{' || ${membersSql(kind, version)} || '}'`;

const ASSIGNMENTS = `SELECT s.n, ${memberSql(credentialAssignmentKind, "v")} FROM history_spans s
  CROSS JOIN history_versions v ON v.key = ${newest("s.n")}
  WHERE s.scope = +?1 AND s.n > +?3 AND s.born <= +?2 AND s.died > +?2 ORDER BY s.n LIMIT ${STEP_ASSIGNMENTS}`;
/** Addresses of the hosts in assignments ?1 that the assignments did not cover at that time. */
const UNCOVERED = `SELECT j.value ->> 0, i.n, i.id, w.address FROM json_each(+?1) j
  CROSS JOIN history_records h ON h.id = j.value ->> 1
  CROSS JOIN history_spans t ON t.scope = h.n * 64 + ${ipAddressKind.code} AND t.born <= +?2 AND t.died > +?2
  CROSS JOIN history_records i ON i.n = t.n
  CROSS JOIN (SELECT x.key, (${memberSql(ipAddressKind, "x")}) ->> '$.ip_address' AS address FROM history_versions x) w
    ON w.key = ${newest("t.n")}
  WHERE NOT EXISTS (SELECT 1 FROM credential_coverage c WHERE c.assignment_n = j.value ->> 0
    AND c.ip_address = w.address AND c.since <= +?2 AND (c.until IS NULL OR c.until > +?2))
  ORDER BY 1, 2`;
const SUBNETS = `SELECT s.n, r.id, ${memberSql(subnetKind, "v")} FROM history_spans s
  CROSS JOIN history_records r ON r.n = s.n
  CROSS JOIN history_versions v ON v.key = ${newest("s.n")}
  WHERE s.scope = +?1 AND s.n > +?3 AND s.born <= +?2 AND s.died > +?2 ORDER BY s.n LIMIT ${STEP_SUBNETS}`;
/** Records in ?1 whose last decision by an Admin was a refusal; reverts and restores do not count as decisions. */
const REFUSED = `SELECT j.value FROM json_each(+?1) j
  CROSS JOIN history_versions v ON v.key = (SELECT max(w.key) FROM history_versions w
    CROSS JOIN history_transactions t ON t.sequence = w.key & 2147483647
    WHERE w.key > (j.value << 31) AND w.key <= ((j.value << 31) | +?2)
      AND instr(w.changed, '"accepts_credentials"') > 0
      AND t.source <> 'transaction.revert' AND t.source NOT LIKE '%.restore')
  WHERE (${memberSql(subnetKind, "v")}) ->> '$.accepts_credentials' = 0`;
const ADDRESS_COUNTS = `SELECT j.value, coalesce((SELECT c.count FROM history_census c
    WHERE c.scope = j.value * 64 + ${ipAddressKind.code} AND c.sequence <= +?2 ORDER BY c.sequence DESC LIMIT 1), 0)
  FROM json_each(+?1) j`;

/** Subnets by prefix, then addresses; for equal values, the older first. */
export function* findWithheld(reader: Reader, query: WithheldQuery): Generator<void, readonly WithheldItem[]> {
  const { sequence, types, networkId } = query;
  const found: WithheldItem[] = [];
  const networks = networksAt(reader, query.reach, sequence);
  const ids = reader.recordIds(networks);
  for (const [index, networkN] of networks.entries()) {
    if (networkId !== null && ids[index] !== networkId) continue;
    const { broadcast, ofHosts: hostAssignments } = yield* assignmentsIn(reader, networkN, sequence);
    const subnets = broadcast.length === 0 ? [] : yield* subnetsIn(reader, networkN, sequence);
    const accepting = new AcceptingSubnets(subnets);
    if (types.includes("Subnet"))
      found.push(...withheldSubnets(reader, { networkN, sequence, broadcast, subnets, accepting }));
    if (types.includes("Address"))
      found.push(...(yield* withheldAddresses(reader, { networkN, sequence, broadcast, hostAssignments, accepting })));
    yield;
  }
  return found
    .map((each) => ({ each, order: WITHHELD_TYPES.indexOf(each.type), key: sortKey(each) }))
    .sort(
      (left, right) => left.order - right.order || compareCodePoints(left.key, right.key) || left.each.n - right.each.n,
    )
    .map(({ each }) => each);
}

interface CredentialAssignment {
  readonly n: number;
  readonly credentialId: string;
}

interface HostAssignment extends CredentialAssignment {
  readonly hostId: string;
  /** Null for every address of the host. */
  readonly addressIds: readonly string[] | null;
}

interface KnownSubnet extends SubnetPolicy {
  readonly n: number;
}

function* assignmentsIn(reader: Reader, networkN: number, sequence: number) {
  const [broadcast, hostAssignments]: [CredentialAssignment[], HostAssignment[]] = [[], []];
  const scope = scopeKey(networkN, credentialAssignmentKind);
  for (let after = 0, isLast = false; !isLast; ) {
    const rows = reader.statement(ASSIGNMENTS).values(scope, sequence, after) as Array<[number, string]>;
    for (const [n, text] of rows) {
      const { credential_id, host_id, ip_address_ids } = JSON.parse(text) as {
        readonly credential_id: string;
        readonly host_id: string | null;
        readonly ip_address_ids: readonly string[] | null;
      };
      if (host_id === null) broadcast.push({ n, credentialId: credential_id });
      else hostAssignments.push({ n, credentialId: credential_id, hostId: host_id, addressIds: ip_address_ids });
      after = n;
    }
    isLast = rows.length < STEP_ASSIGNMENTS;
    yield;
  }
  return { broadcast, ofHosts: hostAssignments };
}

function* subnetsIn(reader: Reader, networkN: number, sequence: number): Generator<void, KnownSubnet[]> {
  const subnets: KnownSubnet[] = [];
  const scope = scopeKey(networkN, subnetKind);
  for (let after = 0, isLast = false; !isLast; ) {
    const rows = reader.statement(SUBNETS).values(scope, sequence, after) as Array<[number, string, string]>;
    for (const [n, id, text] of rows) {
      const { cidr, subnet_type, accepts_credentials } = JSON.parse(text) as {
        readonly cidr: string;
        readonly subnet_type: SubnetType;
        readonly accepts_credentials: boolean;
      };
      subnets.push({ n, id, cidr, subnet_type, accepts_credentials });
      after = n;
    }
    isLast = rows.length < STEP_SUBNETS;
    yield;
  }
  return subnets;
}

interface NetworkScope {
  readonly networkN: number;
  readonly sequence: number;
  /** Assignments to the whole network. */
  readonly broadcast: readonly CredentialAssignment[];
  readonly accepting: AcceptingSubnets;
}

/** Subnets without a decision by an Admin and outside any subnet that accepts credentials. */
function withheldSubnets(
  reader: Reader,
  { networkN, sequence, broadcast, subnets, accepting }: NetworkScope & { readonly subnets: readonly KnownSubnet[] },
): WithheldItem[] {
  // Subnets of types scanned only when named never count, but a larger accepting subnet still opens their addresses.
  const outside = subnets.filter(({ cidr }) => !accepting.acceptsAllOf(cidr));
  const undecided = outside.filter(({ subnet_type }) => !SKIPPED_TYPES.includes(subnet_type));
  if (undecided.length === 0) return [];
  const ns = (items: readonly KnownSubnet[]) => JSON.stringify(items.map(({ n }) => n));
  const refused = new Set((reader.statement(REFUSED).values(ns(undecided), sequence) as Array<[number]>).flat());
  const counts = new Map(reader.statement(ADDRESS_COUNTS).values(ns(outside), sequence) as Array<[number, number]>);
  const totals = new Map<string, number>();
  for (const { n, cidr } of outside)
    for (const { id } of accepting.enclosing(cidr)) totals.set(id, (totals.get(id) ?? 0) + (counts.get(n) ?? 0));
  return undecided
    .filter(({ n }) => !refused.has(n))
    .map(({ n, id, cidr }) => ({
      type: "Subnet",
      n,
      id,
      value: cidr,
      networkN,
      hostId: null,
      assignments: broadcast,
      addressCount: totals.get(id) ?? 0,
    }));
}

/** Addresses included in assignments of their host and covered by none of them. */
function* withheldAddresses(
  reader: Reader,
  {
    networkN,
    sequence,
    broadcast,
    hostAssignments,
    accepting,
  }: NetworkScope & { readonly hostAssignments: readonly HostAssignment[] },
): Generator<void, WithheldItem[]> {
  const networkWide = new Set(broadcast.map(({ credentialId }) => credentialId));
  const byAddress = new Map<number, WithheldItem & { readonly assignments: CredentialAssignment[] }>();
  for (let start = 0; start < hostAssignments.length; start += STEP_ASSIGNMENTS) {
    const step = new Map(hostAssignments.slice(start, start + STEP_ASSIGNMENTS).map((each) => [each.n, each]));
    const pairs = JSON.stringify([...step.values()].map(({ n, hostId }) => [n, hostId]));
    const rows = reader.statement(UNCOVERED).values(pairs, sequence) as Array<[number, number, string, string]>;
    for (const [assignmentN, n, id, value] of rows) {
      const { credentialId, hostId, addressIds } = step.get(assignmentN) as HostAssignment;
      if (addressIds?.includes(id) === false) continue;
      if (networkWide.has(credentialId) && accepting.accepts(value)) continue;
      const known = byAddress.get(n);
      const assignment = { n: assignmentN, credentialId };
      if (known === undefined)
        byAddress.set(n, {
          type: "Address",
          n,
          id,
          value,
          networkN,
          hostId,
          assignments: [assignment],
          addressCount: 1,
        });
      else known.assignments.push(assignment);
    }
    yield;
  }
  return [...byAddress.values()];
}

function sortKey({ type, value }: WithheldItem): string {
  if (type === "Subnet") return cidrSortKey(value);
  const ip = parseIp(value);
  return ip === null ? "" : ipSortKey(ip);
}
