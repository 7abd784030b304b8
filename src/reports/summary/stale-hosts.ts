// Stale hosts: not seen for longer than their network allows. Uses an index of the live hosts for the present, and an
// index of the versions with stale_since for the past. Works in bounded steps.

import type { Reach } from "../../db/reading/list-query.ts";
import type { Reader } from "../../db/reading/reader.ts";
import { membersSql } from "../../db/shape.ts";
import { hostKind } from "../../resources/hosts/host.ts";

export interface StaleHost {
  readonly n: number;
  /** RFC 3339. */
  readonly since: string;
}

interface StaleQuery {
  readonly reach: Reach;
  /** Null for everything that the caller can access. */
  readonly networkN: number | null;
  /** As of this transaction. */
  readonly sequence: number;
  /** Whether the transaction is the newest. */
  readonly isPresent: boolean;
}

const STEP_HOSTS = 1_000;

/** The longest unseen first. */
export function* staleHosts(reader: Reader, query: StaleQuery): Generator<void, readonly StaleHost[]> {
  const stale = query.isPresent ? staleNow(reader, query) : yield* staleInPast(reader, query);
  return stale.sort((left, right) => (left.since < right.since ? -1 : left.since > right.since ? 1 : left.n - right.n));
}

function staleNow(reader: Reader, { reach, networkN }: StaleQuery): StaleHost[] {
  const networks = networkN !== null ? [networkN] : reach.networkNs;
  const rows = reader
    .statement(
      `SELECT n, ('{' || members || '}') ->> '$.stale_since' FROM hosts INDEXED BY hosts_stale
        WHERE instr(members, '"stale_since":') > 0 AND organization_n = +?1
        AND (+?2 IS NULL OR network_n IN (SELECT value FROM json_each(+?2)))`,
    )
    .values(reach.organizationN, networks === null ? null : JSON.stringify(networks)) as Array<[number, string | null]>;
  return rows.flatMap(([n, since]) => (since === null ? [] : { n, since }));
}

function* staleInPast(reader: Reader, { reach, networkN, sequence }: StaleQuery): Generator<void, StaleHost[]> {
  const containers = networkN !== null ? [networkN] : (reach.networkNs ?? [reach.organizationN]);
  const stale: StaleHost[] = [];
  for (let after = 0; ; ) {
    const numbers = reader.statement(EVER_STALE).values(after) as Array<[number]>;
    const rows = reader
      .statement(STALE_OF)
      .values(JSON.stringify(numbers.flat()), sequence, JSON.stringify(containers)) as Array<[number, string | null]>;
    for (const [n, since] of rows) if (since !== null) stale.push({ n, since });
    yield;
    const last = numbers.at(-1);
    if (last === undefined || numbers.length < STEP_HOSTS) return stale;
    [after] = last;
  }
}

/** Condition of the partial index, verbatim; its GLOB is a cheap prefilter. */
const IS_STALE = `members GLOB '*ce":*' AND instr(members, '"stale_since":') > 0`;
/** Records with such a version up to then: skips from record to record through the index. */
const EVER_STALE = `WITH RECURSIVE ever (n, place) AS (
    SELECT (SELECT key >> 31 FROM history_versions INDEXED BY history_versions_of_stale
      WHERE ${IS_STALE} AND key >= ((+?1 + 1) << 31) ORDER BY key LIMIT 1), 1
    UNION ALL
    SELECT (SELECT key >> 31 FROM history_versions INDEXED BY history_versions_of_stale
      WHERE ${IS_STALE} AND key >= ((ever.n + 1) << 31) ORDER BY key LIMIT 1), place + 1
      FROM ever WHERE n IS NOT NULL AND place < ${STEP_HOSTS})
  SELECT n FROM ever WHERE n IS NOT NULL`;
const STALE_OF = `SELECT j.value, (SELECT ('{' || ${membersSql(hostKind, "v")} || '}') ->> '$.stale_since'
    FROM history_versions v WHERE v.key <= ((j.value << 31) | +?2) AND v.key > (j.value << 31)
    ORDER BY v.key DESC LIMIT 1)
  FROM json_each(+?1) j WHERE EXISTS (SELECT 1 FROM json_each(+?3) c CROSS JOIN history_spans s
    ON s.scope = c.value * 64 + ${hostKind.code} AND s.n = j.value AND s.born <= +?2 AND s.died > +?2)`;
