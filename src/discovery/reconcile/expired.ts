// Query for expired and expiring records of a network. Runs outside the writer: it scans a whole network.

import { formatInstant, type Instant, parseInstant } from "../../base/instant.ts";
import { isLocallyAdministered } from "../../base/mac.ts";
import type { Sql } from "../../db/connection.ts";
import { addressOfKey } from "../../resources/sightings.ts";
import type { CoveringScans } from "./covering-scans.ts";
import { BY_PERSON } from "./provenance.ts";

const HOUR_MS = 3_600_000;

/** Expiry times of a network in hours; null for never. */
export interface ExpiryHours {
  readonly expire_addresses_after_hours: number | null;
  readonly expire_hosts_after_hours: number | null;
  readonly expire_random_macs_after_hours: number | null;
}

/** A record that has not been confirmed for the number of hours set in its network. */
export interface Expired {
  readonly entity: "host" | "ip_address";
  readonly id: string;
  readonly last_seen_at: string;
  readonly hours: number;
}

/** A record known only from sweeps and neighbor tables. */
export interface Expiring extends Expired {
  readonly label: string;
  /** True for a host that ever responded to SNMP, and for a record that a user edited: it becomes stale instead. */
  readonly is_kept: boolean;
  /** Earliest time at which it expires. */
  readonly due_at: Instant;
  /** Addresses of the host. */
  readonly addresses: readonly string[];
}

/** Expired hosts, then addresses, that enough scans have covered since. @param scans of the network */
export function* findExpired(
  db: Sql["$client"],
  networkN: number,
  now: Instant,
  scans: CoveringScans,
): Generator<Expired> {
  for (const { entity, id, last_seen_at, hours, due_at, addresses } of findExpiring(db, networkN, now)) {
    if (due_at > now) continue;
    const since = due_at - hours * HOUR_MS;
    const silentFrom = now - hours * HOUR_MS;
    const isCovered =
      addresses.length === 0
        ? scans.haveRun(since)
        : addresses.every((address) => scans.haveCovered(address, since, silentFrom));
    if (isCovered) yield { entity, id, last_seen_at, hours };
  }
}

/** Numbers of expired sightings that enough scans have covered since. */
export function* findExpiredSightings(
  db: Sql["$client"],
  networkN: number,
  now: Instant,
  scans: CoveringScans,
): Generator<number> {
  const hours = hoursOf(db, networkN);
  const shortest = Math.min(
    hours?.expire_addresses_after_hours ?? Number.POSITIVE_INFINITY,
    hours?.expire_random_macs_after_hours ?? Number.POSITIVE_INFINITY,
  );
  if (hours === null || shortest === Number.POSITIVE_INFINITY) return;
  const rows = db.query(UNSEEN_SIGHTINGS).iterate(networkN, now - shortest * HOUR_MS) as Iterable<{
    n: number;
    address_key: string;
    mac_address: string | null;
    kind: string;
    seen: Instant;
  }>;
  for (const { n, address_key, mac_address, kind, seen } of rows) {
    const isRandom = kind !== "Own" && mac_address !== null && isLocallyAdministered(mac_address);
    const after = hoursFor(hours, "expire_addresses_after_hours", isRandom);
    if (after === null) continue;
    const silentFrom = now - after * HOUR_MS;
    if (seen <= silentFrom && scans.haveCovered(addressOfKey(address_key), seen, silentFrom)) yield n;
  }
}

/**
 * Hosts, then addresses, that will expire unless they are seen again; least recently seen first.
 * @param before latest expiry time of interest
 * @param limit of each kind
 */
export function* findExpiring(
  db: Sql["$client"],
  networkN: number,
  before: Instant,
  limit = Number.MAX_SAFE_INTEGER,
): Generator<Expiring> {
  const hours = hoursOf(db, networkN);
  if (hours === null) return;
  const began = beganAt(db, networkN);
  for (const [entity, setting, sql] of KINDS) {
    const shortest = Math.min(
      hours[setting] ?? Number.POSITIVE_INFINITY,
      hours.expire_random_macs_after_hours ?? Number.POSITIVE_INFINITY,
    );
    if (shortest === Number.POSITIVE_INFINITY) continue;
    const cutoff = formatInstant(Math.max(0, before - shortest * HOUR_MS));
    const rows = db.query(sql).iterate(networkN, cutoff, limit) as Iterable<{
      id: string;
      label: string;
      last_seen_at: string;
      heard_at: string | null;
      is_random: number | null;
      is_kept: number;
      addresses: string | null;
    }>;
    for (const { id, label, last_seen_at, heard_at, is_random, is_kept, addresses } of rows) {
      const after = hoursFor(hours, setting, is_random === 1);
      const seen = [last_seen_at, heard_at ?? ""].reduce((some, other) => (some > other ? some : other));
      if (after === null) continue;
      const due_at = Math.max(parseInstant(seen) ?? 0, began) + after * HOUR_MS;
      const own = { entity, id, label, is_kept: is_kept === 1, addresses: addresses?.split(" ") ?? [] };
      yield { ...own, last_seen_at, hours: after, due_at };
    }
  }
}

/** The shorter time for hosts with only locally administered MAC addresses; null for never. */
function hoursFor(hours: ExpiryHours, setting: (typeof KINDS)[number][1], isRandom: boolean): number | null {
  const [given, random] = [hours[setting], hours.expire_random_macs_after_hours];
  if (!isRandom || random === null) return given;
  return given === null ? random : Math.min(given, random);
}

function hoursOf(db: Sql["$client"], networkN: number): ExpiryHours | null {
  return db.query(HOURS).get(networkN) as ExpiryHours | null;
}

/** Coverage by scans was not recorded before then. */
function beganAt(db: Sql["$client"], networkN: number): Instant {
  const [[began]] = db.query(BEGAN).values(networkN) as [[number | null]];
  return began ?? Number.POSITIVE_INFINITY;
}

const member = (table: string, name: string) => `json_extract('{' || ${table}.members || '}', '$.${name}')`;
const HOURS = `SELECT ${["addresses", "hosts", "random_macs"]
  .map((what) => `${member("w", `expire_${what}_after_hours`)} AS expire_${what}_after_hours`)
  .join(", ")} FROM networks w WHERE w.n = ?1`;
const BEGAN = "SELECT min(created_at) FROM discovery_reporters WHERE network_n = ?1";

const LAST_SEEN = "json_extract('{' || substr(o.observed, 2) || '}', '$.last_seen_at')";
/** MAC addresses of host h. */
const MACS = `SELECT mac_address FROM ip_addresses WHERE host_n = h.n AND mac_address IS NOT NULL
  UNION SELECT mac_address FROM discovery_macs WHERE host_n = h.n`;
const IS_RANDOM = `(SELECT min(substr(mac_address, 2, 1) IN ('2', '3', '6', '7', 'a', 'b', 'e', 'f')) FROM (${MACS}))`;
/** A MAC address in a forwarding table means that the host is still there. */
const HEARD_AT = `(SELECT max(json_extract('{' || substr(p.observed, 2) || '}', '$.last_seen_at'))
  FROM (${MACS}) m CROSS JOIN fdb_entries f ON f.mac_address = m.mac_address AND f.network_n = +?1
  JOIN observations p ON p.n = f.if_entry_n)`;
const HAS_ANSWERED = `(EXISTS (SELECT 1 FROM if_entries i WHERE i.host_n = h.n)
  OR EXISTS (SELECT 1 FROM discovery_tellings t WHERE t.host_n = h.n))`;
/** Reported by its own device, as far as known. */
const IS_REPORTED = `EXISTS (SELECT 1 FROM discovery_tellings t WHERE t.host_n = a.host_n AND (t.ip_address = a.ip_address
  OR a.n IN (SELECT value FROM json_each(t.seen)) OR a.n IN (SELECT value FROM json_each(coalesce(t.unread, '[]')))))`;
/** Excludes records that are already marked as stale: they stay. */
const IS_FRESH = (table: string) => `${member(table, "stale_since")} IS NULL`;

const IS_TOUCHED = (n: string) => `EXISTS (SELECT 1 FROM history_versions v
  JOIN history_transactions t ON t.sequence = v.key & 2147483647
  WHERE v.key BETWEEN (${n} << 31) AND (${n} << 31) + 2147483647 AND ${BY_PERSON})`;

const HOSTS = `SELECT r.id, ${member("h", "name")} AS label, x.last_seen_at, ${HEARD_AT} AS heard_at, ${IS_RANDOM} AS is_random,
    ${HAS_ANSWERED} OR ${IS_TOUCHED("h.n")} AS is_kept,
    (SELECT group_concat(ip_address, ' ') FROM ip_addresses WHERE host_n = h.n) AS addresses
  FROM (SELECT h.n, ${LAST_SEEN} AS last_seen_at FROM hosts h JOIN observations o ON o.n = h.n
    WHERE h.network_n = +?1 AND ${LAST_SEEN} < ?2 AND (${IS_FRESH("h")} OR NOT ${HAS_ANSWERED})
    ORDER BY 2, h.n LIMIT ?3) x
  JOIN hosts h ON h.n = x.n JOIN history_records r ON r.n = x.n`;
const ADDRESSES = `SELECT r.id, a.ip_address AS label, x.last_seen_at, NULL AS heard_at, ${IS_RANDOM} AS is_random,
    ${IS_TOUCHED("a.n")} AS is_kept, a.ip_address AS addresses
  FROM (SELECT a.n, ${LAST_SEEN} AS last_seen_at FROM ip_addresses a JOIN observations o ON o.n = a.n
    WHERE a.network_n = +?1 AND ${LAST_SEEN} < ?2 AND NOT ${IS_REPORTED} ORDER BY 2, a.n LIMIT ?3) x
  JOIN ip_addresses a ON a.n = x.n JOIN hosts h ON h.n = a.host_n JOIN history_records r ON r.n = x.n`;
const KINDS = [
  ["host", "expire_hosts_after_hours", HOSTS],
  ["ip_address", "expire_addresses_after_hours", ADDRESSES],
] as const;

const SEEN = "max(s.last_seen, CASE WHEN s.gone_at IS NULL THEN r.read_at ELSE 0 END)";
const UNSEEN_SIGHTINGS = `SELECT s.n, s.address_key, s.mac_address, r.kind, ${SEEN} AS seen
  FROM discovery_sightings s JOIN discovery_reporters r ON r.n = s.reporter_n
  WHERE s.network_n = ?1 AND s.ended_at IS NULL AND ${SEEN} <= ?2`;
