// Upgrade of acceptances and consolidations to records: each former row gets a version with its content. Answers about
// the past stay the same, as they use the timestamps in the record.

import { SYSTEM_AUTHOR } from "../access/actor.ts";
import { systemClock } from "../base/clock.ts";
import { formatInstant } from "../base/instant.ts";
import { systemRandom } from "../base/random.ts";
import { UuidSource } from "../base/uuid.ts";
import type { Sql } from "../db/connection.ts";
import { parseMembers } from "../db/kind.ts";
import { type CheckedRow, walkChecked } from "../db/row-checksum.ts";
import { endRowSum } from "../db/row-sums.ts";
import { membersSql } from "../db/shape.ts";
import { Statements } from "../db/writing/statements.ts";
import { WriteTransaction } from "../db/writing/transaction.ts";
import { KINDS } from "../records/resources.ts";
import {
  type AcceptedBy,
  type ConflictType,
  conflictAcceptanceKind,
} from "../resources/conflict-acceptances/acceptance.ts";
import { hostConsolidationKind } from "../resources/consolidations/consolidation.ts";
import { networkKind } from "../resources/networks/network.ts";

/** A former row, by column. */
interface AcceptanceRow {
  readonly id: string;
  readonly organization_n: number;
  readonly network_ids: string;
  readonly type: ConflictType;
  readonly value: string;
  readonly fingerprint: string;
  readonly reason: string | null;
  readonly accepted_at: number;
  readonly accepted_by: string;
  readonly withdrawn_at: number | null;
  readonly withdrawn_by: string | null;
}

interface ConsolidationRow {
  readonly former_n: number;
  readonly sequence: number;
  readonly into_n: number;
  readonly network_n: number;
  readonly signs: string;
  readonly into_signs: string;
}

const FIRST_OF_NETWORK = `SELECT ${membersSql(networkKind, "v")} FROM history_versions v
  WHERE v.key >= (?1 << 31) ORDER BY v.key LIMIT 1`;

/** Runs in the caller's transaction. Damaged rows are lost, and counted as lost. */
export function recordEarlierNotes(db: Sql): void {
  const tx = new WriteTransaction({
    statements: new Statements(db),
    kinds: KINDS,
    author: SYSTEM_AUTHOR,
    source: "upgrade",
    wallAt: systemClock.now(),
    uuids: new UuidSource(systemRandom),
  });
  const idOf = (n: number) => {
    const id = tx.recordId(n);
    if (id === null) throw new Error(`upgrade: there is no record n ${n}`);
    return id;
  };
  for (const row of taken<AcceptanceRow>(db, "earlier_acceptances", ["id"], "conflict_acceptances")) {
    const organization_id = idOf(row.organization_n);
    tx.create(
      conflictAcceptanceKind,
      organization_id,
      {
        organization_id,
        network_ids: JSON.parse(row.network_ids) as string[],
        type: row.type,
        value: row.value,
        fingerprint: row.fingerprint,
        reason: row.reason,
        accepted_at: formatInstant(row.accepted_at),
        accepted_by: JSON.parse(row.accepted_by) as AcceptedBy,
        withdrawn_at: row.withdrawn_at === null ? null : formatInstant(row.withdrawn_at),
        withdrawn_by: row.withdrawn_by === null ? null : (JSON.parse(row.withdrawn_by) as AcceptedBy),
      },
      { id: row.id },
    );
  }
  const keys = ["former_n", "sequence"];
  for (const row of taken<ConsolidationRow>(db, "earlier_consolidations", keys, "host_consolidations")) {
    const [members] = db.$client.query(FIRST_OF_NETWORK).values(row.network_n)[0] as [string];
    const { organization_id } = parseMembers<{ organization_id: string }>(members);
    tx.create(hostConsolidationKind, organization_id, {
      organization_id,
      former_id: idOf(row.former_n),
      into_id: idOf(row.into_n),
      network_id: idOf(row.network_n),
      closed_in: row.sequence,
      signs: JSON.parse(row.signs) as string[],
      into_signs: JSON.parse(row.into_signs) as string[],
    });
  }
  tx.finish();
}

/** The undamaged rows of a table, which is then dropped. @param before the table's former name */
function taken<Row>(db: Sql, name: string, key: readonly string[], before: string): Row[] {
  const { $client } = db;
  const columns = ($client.query(`SELECT name FROM pragma_table_info('${name}') ORDER BY name`).values() as string[][])
    .flat()
    .filter((column) => column !== "checksum");
  const rows: CheckedRow[] = [];
  for (const _ of walkChecked(db, { name, columns, key }, (step) => rows.push(...step)));
  const whole = rows.filter(({ isWhole }) => isWhole);
  const written = ($client.query("SELECT rows FROM row_sums WHERE name = ?").values(before)[0]?.[0] ?? 0) as number;
  endRowSum(db, before, Math.max(0, written - whole.length));
  $client.run(`DROP TABLE temp.${name}`);
  return whole.map(({ values }) => Object.fromEntries(columns.map((column, place) => [column, values[place]])) as Row);
}
