// Stored decisions on which host the device at an address is, with the signs that decided. Kept outside the ledger, one
// row per change; without them, every decision is made again.

import { integer, sqliteTable, text } from "drizzle-orm/sqlite-core";
import { KeyedRows } from "../../db/keyed-row.ts";
import type { Reader } from "../../db/reading/reader.ts";
import { withChecksum } from "../../db/row-checksum.ts";
import type { SignGroup } from "../sightings.ts";
import { differenceOf, type RankedCandidate, type Similarity } from "./identity.ts";
import type { ScanWrite } from "./scan-write.ts";
import type { Signs } from "./signs.ts";

const identities = sqliteTable("discovery_identities", {
  network_n: integer().notNull(),
  ip_address: text().notNull(),
  sequence: integer().notNull(),
  decided_at: integer().notNull(),
  host_n: integer().notNull(),
  signs: text().notNull(),
  candidates: text().notNull(),
  decision: text().notNull(),
  checksum: integer().notNull(),
});

type IdentityRow = typeof identities.$inferSelect;
const identityRows = new KeyedRows(identities, ["network_n", "ip_address", "sequence"]);

/** Values listed per sign; a switch has hundreds of MAC addresses. */
const VALUES_MAX = 10;

export const DECISION_BASES = ["Signs", "Address", "LastReport", "Consolidated", "Split", "New"] as const;

/** A sign in a decision. */
export interface WeighedSign {
  readonly sign: SignGroup;
  /** Bits; negative for evidence against a match. */
  readonly weight: number;
  /** Number of shared values. */
  readonly common: number;
  /** At most VALUES_MAX: the shared values, else the device's own. */
  readonly values: readonly string[];
  /** At most VALUES_MAX of the host's values, if they differ. */
  readonly other_values?: readonly string[];
}

/** A host compared with a device. */
export interface WeighedHost {
  readonly host_id: string;
  /** Sum of the weights. */
  readonly score: number;
  readonly signs: readonly WeighedSign[];
  /** Matching and differing signs, as clauses; null if there are none. */
  readonly same: string | null;
  readonly other: string | null;
}

/** Reason why a device is a host. */
export interface IdentityDecision {
  readonly basis: (typeof DECISION_BASES)[number];
  /** Null for a new host. */
  readonly known: WeighedHost | null;
  /** The best other candidate. */
  readonly next: WeighedHost | null;
}

/** A decision on the device at an address. */
export interface AddressDecision {
  readonly ip_address: string;
  readonly decided_at: number;
  readonly decision: IdentityDecision;
}

/** Decisions in effect as of a transaction on the devices that are a host, by address. */
export function decisionsOf(reader: Reader, hostN: number, sequence: number): AddressDecision[] {
  const rows = reader.statement(OF_HOST).values(hostN, sequence) as Array<[string, number, string]>;
  return rows.map(([ip_address, decided_at, decision]) => ({
    ip_address,
    decided_at,
    decision: JSON.parse(decision) as IdentityDecision,
  }));
}

interface RememberedIdentity {
  readonly hostId: string | null;
  readonly signs: string;
  readonly candidates: ReadonlySet<number>;
}

/** The last decision on the device at an address. */
export function storedDecision({ tx, networkId }: ScanWrite, address: string): RememberedIdentity | null {
  const [row] = tx.db.$client
    .query(NEWEST("host_n, signs, candidates"))
    .values(tx.recordN(networkId) ?? 0, address) as [[hostN: number, signs: string, candidates: string] | undefined];
  if (row === undefined) return null;
  const [hostN, signs, candidates] = row;
  return { hostId: tx.recordId(hostN), signs, candidates: new Set(JSON.parse(candidates) as number[]) };
}

/** Digest of all signs. */
export function digestOfSigns({ serialNumbers, chassisId, engineId, macs, sysName, addresses, unread }: Signs): string {
  const sorted = [serialNumbers, macs, addresses, unread].map((values) => [...values].sort());
  // Omits a missing engine ID, so that digests of earlier versions stay valid and an upgrade reopens no decision.
  const texts = [chassisId, sysName, ...(engineId === null ? [] : [engineId])];
  return new Bun.CryptoHasher("sha256").update(JSON.stringify([sorted, ...texts])).digest("base64");
}

/**
 * Stores a decision after this transaction. A decision for unchanged reasons only updates the stored signs: machines
 * with containers have different cards in every scan.
 */
export function storeDecision(
  { tx, networkId }: ScanWrite,
  address: string,
  hostId: string,
  signs: string,
  candidateIds: Iterable<string>,
  decision: IdentityDecision,
): void {
  const ids = [...new Set([...candidateIds, hostId])];
  tx.runAfterWrite(() => {
    const numbers = ids.map((id) => tx.recordN(id)).filter((n) => n !== null);
    const network_n = tx.recordN(networkId) as number;
    const host_n = tx.recordN(hostId) as number;
    const last = tx.db.$client.query(NEWEST("*")).get(network_n, address) as IdentityRow | null;
    const isSame =
      last?.host_n === host_n && groundsOf(JSON.parse(last.decision) as IdentityDecision) === groundsOf(decision);
    const made = isSame ? last : { sequence: tx.sequence, decided_at: tx.instant, decision: JSON.stringify(decision) };
    const row = withChecksum(identities, {
      network_n,
      ip_address: address,
      sequence: made.sequence,
      decided_at: made.decided_at,
      host_n,
      signs,
      candidates: JSON.stringify(numbers.sort((a, b) => a - b)),
      decision: made.decision,
    });
    identityRows.upsert(tx.db, row);
  });
}

/** The hosts, and which of their signs match and differ. */
function groundsOf({ basis, known, next }: IdentityDecision): string {
  const signsOf = (host: WeighedHost | null) =>
    host === null ? null : [host.host_id, host.signs.map(({ sign, common }) => [sign, common > 0])];
  return JSON.stringify([basis, signsOf(known), signsOf(next)]);
}

/** The compared signs of a candidate. */
function weighedSigns(seen: Signs, known: Signs, { groups }: Similarity): WeighedSign[] {
  return groups.map(({ group, weight, common }) => ({
    sign: group,
    weight,
    common: common.length,
    values: first(common.length > 0 ? common : valuesOf(seen, group)),
    ...(common.length > 0 ? {} : { other_values: first(valuesOf(known, group)) }),
  }));
}

export function weighedHost(seen: Signs, candidate: RankedCandidate<string> | undefined): WeighedHost | null {
  if (candidate === undefined) return null;
  const { id, similarity, signs } = candidate;
  return {
    host_id: id,
    score: similarity.score,
    signs: weighedSigns(seen, signs, similarity),
    same: similarity.groups.some(({ common }) => common.length > 0) ? similarity.reason : null,
    other: differenceOf(similarity),
  };
}

function valuesOf(signs: Signs, group: SignGroup): readonly string[] {
  if (group === "serial_numbers") return [...signs.serialNumbers];
  if (group === "cards") return [...signs.macs];
  if (group === "addresses") return [...(signs.managed.size > 0 ? signs.managed : signs.addresses)];
  const texts = { chassis_id: signs.chassisId, engine_id: signs.engineId, system_name: signs.sysName };
  const value = texts[group];
  return value === null ? [] : [value];
}

function first(values: readonly string[]): string[] {
  return [...values].sort().slice(0, VALUES_MAX);
}

const NEWEST = (columns: string) => `SELECT ${columns} FROM discovery_identities
  WHERE network_n = +?1 AND ip_address = +?2 ORDER BY sequence DESC LIMIT 1`;
const OF_HOST = `SELECT d.ip_address, d.decided_at, d.decision FROM discovery_identities d
  WHERE d.host_n = +?1 AND d.sequence <= +?2 AND NOT EXISTS (SELECT 1 FROM discovery_identities l
    WHERE l.network_n = d.network_n AND l.ip_address = d.ip_address AND l.sequence > d.sequence AND l.sequence <= +?2)
  ORDER BY d.decided_at DESC, d.ip_address`;
