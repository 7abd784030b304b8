// The addresses of hosts by the subnets that they say to be in, of many subnets at once, now or as of an instant.

import { scopeKey } from "../../db/kind.ts";
import type { AsOf } from "../../db/reading/list-query.ts";
import type { Reader } from "../../db/reading/reader.ts";
import { membersSql } from "../../db/shape.ts";
import { ipAddressKind } from "../ip-addresses/ip-address.ts";

/**
 * By the subnet that they say to be in, its place among the ids: addresses with commas between them, null for none.
 * One text for each subnet: very many rows are felt.
 */
export function hostAddresses(
  reader: Reader,
  asOf: AsOf | null,
  subnetIds: readonly string[],
): Array<[number, string | null]> {
  const ids = JSON.stringify(subnetIds);
  // A present that is held still is that of the live table as long as nothing was written since.
  const isLive = asOf === null || (asOf.present && reader.head().sequence === asOf.sequence);
  return (isLive ? reader.statement(LIVE).values(ids) : reader.statement(AS_OF).values(ids, asOf.sequence)) as Array<
    [number, string | null]
  >;
}

const LIVE = `SELECT j.key, (SELECT group_concat(a.ip_address) FROM ip_addresses a WHERE a.subnet_n = r.n)
  FROM json_each(?1) j CROSS JOIN history_records r ON r.id = j.value`;

/** What was not written since is as it is now: its live row is found faster than its version. */
const AS_OF = `SELECT j.key, (
    SELECT group_concat(CASE WHEN a.sequence <= ?2 THEN a.ip_address ELSE
      (SELECT ('{' || ${membersSql(ipAddressKind, "v")} || '}') ->> '$.ip_address' FROM history_versions v
        WHERE v.key <= ((s.n << 31) | ?2) ORDER BY v.key DESC LIMIT 1) END)
    FROM history_spans s LEFT JOIN ip_addresses a ON a.n = s.n
    WHERE s.scope = r.n * ${scopeKey(1, { code: 0 })} + ${ipAddressKind.code} AND s.born <= ?2 AND s.died > ?2)
  FROM json_each(?1) j CROSS JOIN history_records r ON r.id = j.value`;
