// Nearly full subnets, by the share of addresses in use by hosts. Running counts select the candidates, so only their
// addresses are read, in bounded steps.

import { parseCidr } from "../../base/ip.ts";
import { scopeKey } from "../../db/kind.ts";
import type { Reader } from "../../db/reading/reader.ts";
import { membersSql } from "../../db/shape.ts";
import { ipAddressKind } from "../../resources/ip-addresses/ip-address.ts";
import { hostAddresses } from "../../resources/subnets/host-addresses.ts";
import { subnetKind } from "../../resources/subnets/subnet.ts";

/** Percentage of usable addresses in use that makes a subnet nearly full. */
export const FULL_PERCENT = 90;
/** Longer prefixes are ignored: such subnets are meant to be nearly full. */
const LONGEST_PREFIX = 29;
/** Usable addresses of a /29. */
const USABLE_MIN = 6;

const STEP_SUBNETS = 1_000;

const USED = `(SELECT c.count FROM history_census c WHERE c.scope = s.n * 64 + ${ipAddressKind.code}
  AND c.sequence <= +?3 ORDER BY c.sequence DESC LIMIT 1)`;
const USED_SUBNETS = `SELECT s.n, iif(coalesce(${USED}, 0) < ${USABLE_MIN}, NULL, ${USED}) FROM history_spans s
  WHERE s.scope = +?1 AND s.n > +?2 AND s.born <= +?3 AND s.died > +?3 ORDER BY s.n LIMIT ${STEP_SUBNETS}`;
const PREFIXES = `SELECT j.key, r.id, ('{' || ${membersSql(subnetKind, "v")} || '}') ->> '$.cidr' FROM json_each(+?1) j
  CROSS JOIN history_records r ON r.n = j.value
  CROSS JOIN history_versions v ON v.key = (SELECT max(key) FROM history_versions WHERE key > (r.n << 31)
    AND key <= ((r.n << 31) | +?2))`;

/**
 * Yields between steps. Returns the ids of nearly full subnets, fullest first.
 * @param networks record numbers of the networks to examine
 */
export function* fullSubnets(
  reader: Reader,
  networks: readonly number[],
  sequence: number,
): Generator<void, readonly string[]> {
  const full: Array<{ readonly id: string; readonly share: number }> = [];
  for (const network of networks)
    for (let after = 0; ; ) {
      const scope = scopeKey(network, subnetKind);
      const rows = reader.statement(USED_SUBNETS).values(scope, after, sequence) as Array<[number, number | null]>;
      const used = rows.flatMap(([n, count]) => (count === null ? [] : [{ n, count }]));
      const ns = JSON.stringify(used.map(({ n }) => n));
      const prefixes = reader.statement(PREFIXES).values(ns, sequence) as Array<[number, string, string]>;
      const candidates = prefixes
        .map(([index, id, cidr]) => ({ id, count: used[index]?.count ?? 0, usable: usableAddresses(cidr) }))
        .filter(({ count, usable }) => isFull(count, usable));
      yield;
      // Two hosts may share an address: counts the distinct addresses of each candidate.
      for (const { id, usable } of candidates) {
        const [[, addresses] = [0, null]] = hostAddresses(reader, reader.atSequence(sequence), [id]);
        const distinct = new Set(addresses?.split(",")).size;
        if (isFull(distinct, usable)) full.push({ id, share: distinct / usable });
        yield;
      }
      const last = rows.at(-1);
      if (last === undefined || rows.length < STEP_SUBNETS) break;
      [after] = last;
    }
  return full.sort((left, right) => right.share - left.share || (left.id < right.id ? -1 : 1)).map(({ id }) => id);
}

function isFull(addresses: number, usable: number): boolean {
  return addresses * 100 >= usable * FULL_PERCENT;
}

/** Excludes the network and broadcast addresses; infinite for IPv6 and ignored prefixes. */
function usableAddresses(text: string): number {
  const cidr = parseCidr(text);
  if (cidr === null || cidr.version === 6 || cidr.prefixLength > LONGEST_PREFIX) return Number.POSITIVE_INFINITY;
  return 2 ** (32 - cidr.prefixLength) - 2;
}
