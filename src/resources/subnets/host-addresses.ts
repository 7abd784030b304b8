// Host addresses by assigned subnet, for many subnets at once, now or as of a timestamp.

import { scopeKey } from "../../db/kind.ts";
import type { AsOf } from "../../db/reading/list-query.ts";
import type { Reader } from "../../db/reading/reader.ts";
import { membersSql } from "../../db/shape.ts";
import { ipAddressKind } from "../ip-addresses/ip-address.ts";

/**
 * Comma-separated addresses by the index of their assigned subnet; null for none. One string per subnet, because a row
 * per address would be slow.
 */
export function hostAddresses(
  reader: Reader,
  asOf: AsOf | null,
  subnetIds: readonly string[],
): Array<[number, string | null]> {
  const ids = JSON.stringify(subnetIds);
  return (
    asOf === null || isLive(reader, asOf)
      ? reader.statement(LIVE).values(ids)
      : reader.statement(AS_OF).values(ids, asOf.sequence)
  ) as Array<[number, string | null]>;
}

/** A pinned present equals the live table as long as nothing was written since. */
function isLive(reader: Reader, asOf: AsOf): boolean {
  return asOf.present && reader.head().sequence === asOf.sequence;
}

/** An address not written since has its live value: reading the live row is faster than the version. */
const ADDRESS_AS_OF = `CASE WHEN a.sequence <= ?2 THEN a.ip_address ELSE
  (SELECT ('{' || ${membersSql(ipAddressKind, "v")} || '}') ->> '$.ip_address' FROM history_versions v
    WHERE v.key <= ((s.n << 31) | ?2) ORDER BY v.key DESC LIMIT 1) END`;
/** Addresses of subnet r.n alive at that time. */
const ALIVE_AS_OF = `s.scope = r.n * ${scopeKey(1, { code: 0 })} + ${ipAddressKind.code} AND s.born <= ?2 AND s.died > ?2`;

const ALL_LIVE = "(SELECT group_concat(a.ip_address) FROM ip_addresses a WHERE a.subnet_n = r.n)";
const LIVE = `SELECT j.key, ${ALL_LIVE}
  FROM json_each(?1) j CROSS JOIN history_records r ON r.id = j.value`;

/** Whether no address of subnet r.n was added, removed or changed since. */
const UNCHANGED_SINCE = `NOT EXISTS (SELECT 1 FROM history_change_counts
  WHERE scope = r.n * ${scopeKey(1, { code: 0 })} + ${ipAddressKind.code} AND sequence > ?2)`;
const AS_OF = `SELECT j.key, CASE WHEN ${UNCHANGED_SINCE} THEN ${ALL_LIVE} ELSE (
    SELECT group_concat(${ADDRESS_AS_OF})
    FROM history_spans s LEFT JOIN ip_addresses a ON a.n = s.n WHERE ${ALIVE_AS_OF}) END
  FROM json_each(?1) j CROSS JOIN history_records r ON r.id = j.value`;

/** The same addresses individually, each with its record number. */
export function hostAddressNumbers(
  reader: Reader,
  asOf: AsOf,
  subnetIds: readonly string[],
): Array<[n: number, address: string]> {
  const ids = JSON.stringify(subnetIds);
  return (
    isLive(reader, asOf)
      ? reader.statement(EACH_LIVE).values(ids)
      : reader.statement(EACH_AS_OF).values(ids, asOf.sequence)
  ) as Array<[number, string]>;
}

const EACH_LIVE = `SELECT a.n, a.ip_address FROM json_each(?1) j CROSS JOIN history_records r ON r.id = j.value
  CROSS JOIN ip_addresses a ON a.subnet_n = r.n`;

const EACH_AS_OF = `SELECT s.n, ${ADDRESS_AS_OF}
  FROM json_each(?1) j CROSS JOIN history_records r ON r.id = j.value
  CROSS JOIN history_spans s ON ${ALIVE_AS_OF} LEFT JOIN ip_addresses a ON a.n = s.n`;
