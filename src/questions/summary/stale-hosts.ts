// Hosts that have not been seen for longer than their network allows. The present has an index of them; the past is read
// in their versions of then, in bounded steps.

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
  /** Null for all that the caller reaches. */
  readonly networkN: number | null;
  /** As of this transaction. */
  readonly sequence: number;
  /** Whether that is the newest. */
  readonly isPresent: boolean;
}

const STEP_HOSTS = 1_000;

/** The longest unseen first. */
export function* staleHosts(reader: Reader, query: StaleQuery): Generator<void, readonly StaleHost[]> {
  const stale = query.isPresent ? staleNow(reader, query) : yield* staleThen(reader, query);
  return stale.sort((one, other) => (one.since < other.since ? -1 : one.since > other.since ? 1 : one.n - other.n));
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

function* staleThen(reader: Reader, { reach, networkN, sequence }: StaleQuery): Generator<void, StaleHost[]> {
  const containers = networkN !== null ? [networkN] : (reach.networkNs ?? [reach.organizationN]);
  const stale: StaleHost[] = [];
  for (const container of containers)
    for (let after = 0; ; ) {
      const rows = reader
        .statement(
          // Most are not stale, and do not have the field: they need not be read as JSON.
          `SELECT s.n, (SELECT CASE WHEN instr(${membersSql(hostKind, "v")}, '"stale_since":') > 0
              THEN ('{' || ${membersSql(hostKind, "v")} || '}') ->> '$.stale_since' END FROM history_versions v
            WHERE v.key <= ((s.n << 31) | +?3) ORDER BY v.key DESC LIMIT 1)
          FROM history_spans s WHERE s.scope = +?1 * 64 + ${hostKind.code} AND s.n > +?2 AND s.born <= +?3
            AND s.died > +?3 ORDER BY s.n LIMIT ${STEP_HOSTS}`,
        )
        .values(container, after, sequence) as Array<[number, string | null]>;
      for (const [n, since] of rows) if (since !== null) stale.push({ n, since });
      yield;
      const last = rows.at(-1);
      if (last === undefined || rows.length < STEP_HOSTS) break;
      [after] = last;
    }
  return stale;
}
