// Provenance of field values, read from the ledger. Queried only if a scan contradicts the inventory.

import { ownValue } from "../../base/fields.ts";
import { parseMembers, type RecordBase, scopeKey } from "../../db/kind.ts";
import { byKindSql, changedSql, membersSql } from "../../db/shape.ts";
import type { WriteTransaction } from "../../db/writing/transaction.ts";
import { KINDS } from "../../records/resources.ts";
import { consolidatedIn } from "../../resources/consolidations/consolidation.ts";
import { fdbEntryKind } from "../../resources/fdb-entries/fdb-entry.ts";

/** Maximum number of versions read; a field unchanged in all of them counts as set by a user. */
const VERSIONS_EXAMINED_MAX = 100_000;

const KIND = "(SELECT kind FROM history_records WHERE n = ?1)";
const MEMBERS = byKindSql(KINDS, KIND, "v", membersSql);
const CHANGED = byKindSql(KINDS, KIND, "v", changedSql);

interface Version {
  readonly sequence: number;
  readonly operation: number;
  readonly changed: string | null;
  readonly actor_type: string;
  readonly source: string;
  readonly members: string;
}

/**
 * True if a user (or a program with an API key) set the field of a live record, and not discovery. A restore or revert
 * is attributed to the author of the restored value; removing the referenced record does not count. A value with which
 * a user created the record counts unless it is the default.
 * @param defaults default values of the field: null, "" or the default of a create
 */
export function isSetByUser(
  tx: WriteTransaction,
  id: string,
  field: string,
  defaults: readonly unknown[] = [],
): boolean {
  const valueIn = ({ members }: Version) => ownValue(parseMembers<RecordBase>(members), field);
  return wasLastSetByPerson(tx, id, field, valueIn, defaults);
}

/** isSetByUser for the MAC addresses in an entry's forwarding table, which are separate records. */
export function isForwardingSetByUser(tx: WriteTransaction, ifEntryId: string): boolean {
  return wasLastSetByPerson(tx, ifEntryId, "fdb_macs", ({ sequence }) => forwardingAt(tx, ifEntryId, sequence), [null]);
}

/** Returns the MAC addresses after a transaction; null if none. */
function forwardingAt(tx: WriteTransaction, ifEntryId: string, sequence: number): string | null {
  const row = tx.db.$client
    .query(
      `SELECT group_concat(mac) AS macs FROM (
         SELECT DISTINCT (SELECT ('{' || ${membersSql(fdbEntryKind, "v")} || '}') ->> '$.mac_address'
           FROM history_versions v
           WHERE v.key <= ((s.n << 31) | ?2) ORDER BY v.key DESC LIMIT 1) AS mac
         FROM history_spans s WHERE s.scope = +?1 AND s.born <= ?2 AND s.died > ?2 ORDER BY mac)`,
    )
    .get(scopeKey(tx.recordN(ifEntryId) ?? 0, fdbEntryKind), sequence) as { macs: string | null };
  return row.macs;
}

/** @param valueIn called only where needed */
function wasLastSetByPerson(
  tx: WriteTransaction,
  id: string,
  field: string,
  valueIn: (version: Version) => unknown,
  defaults: readonly unknown[],
): boolean {
  const n = tx.recordN(id);
  // Discovery created a record of the current transaction.
  if (n === null || n === 0) return false;
  const rows = tx.db.$client
    .query(
      `SELECT v.key & 2147483647 AS sequence, v.operation, ${CHANGED} AS changed, t.actor_type, t.source, ${MEMBERS}
        AS members
       FROM history_versions v JOIN history_transactions t ON t.sequence = v.key & 2147483647
       WHERE v.key BETWEEN (?1 << 31) AND (?1 << 31) + 2147483647 AND v.operation <> 3
         AND (v.changed IS NULL OR instr(${CHANGED}, ?2) > 0)
       ORDER BY v.key DESC LIMIT ${VERSIONS_EXAMINED_MAX}`,
    )
    .iterate(n, JSON.stringify(field)) as Iterable<Version>;
  /** Value restored by a transaction, while its origin is searched. */
  let restored: { readonly value: unknown } | null = null;
  for (const version of rows) {
    if (restored !== null && !Bun.deepEquals(restored.value, valueIn(version))) continue;
    if (isRestore(version.source)) {
      restored = { value: valueIn(version) };
      continue;
    }
    if (version.operation === UPDATED && MOVE_COMMANDS.has(version.source)) {
      // A value moved from another host is attributed to its author there; all other changes result from the move.
      const former = consolidatedIn(tx, n, version.sequence);
      if (former !== null) return wasLastSetByPerson(tx, former, field, valueIn, defaults);
      continue;
    }
    if (version.operation === UPDATED && isSideEffect(version.source, field)) {
      // The referenced record was removed: no author set the field to null.
      if ((valueIn(version) ?? null) === null) return false;
      continue;
    }
    if ((version.actor_type !== "User" && version.actor_type !== "ApiKey") || version.source.startsWith(DISCOVERY))
      return false;
    if (version.operation === UPDATED) return true;
    const value = valueIn(version) ?? null;
    return !defaults.some((each) => Bun.deepEquals(each, value));
  }
  return true;
}

/** True if a user ever edited the record: discovery must not delete it. */
export function wasWrittenByUser(tx: WriteTransaction, id: string): boolean {
  const n = tx.recordN(id);
  if (n === null || n === 0) return false;
  const row = tx.db.$client
    .query(
      `SELECT 1 FROM history_versions v JOIN history_transactions t ON t.sequence = v.key & 2147483647
       WHERE v.key BETWEEN (?1 << 31) AND (?1 << 31) + 2147483647 AND ${BY_PERSON} LIMIT 1`,
    )
    .get(n);
  return row !== null;
}

const UPDATED = 2;
/** Commands whose values come from the network, even if a user started them. */
const DISCOVERY = "discovery.";
/** SQL condition: transaction `t` was made by a user. */
export const BY_PERSON = `t.actor_type IN ('User', 'ApiKey') AND t.source NOT LIKE '${DISCOVERY}%'`;

/**
 * True if a command clears references in other records instead of setting their fields: a delete clears references to
 * itself, and a host update clears removed addresses from interface entries.
 */
function isSideEffect(source: string, field: string): boolean {
  return (
    source.endsWith(".delete") ||
    source.endsWith(".bulk_delete") ||
    (source === "host.update" && field === "ip_address_id")
  );
}

/** Commands that move records between hosts and set no values themselves. */
const MOVE_COMMANDS = new Set(["host.consolidate", "host.split"]);

function isRestore(source: string): boolean {
  return source.endsWith(".restore") || source === "transaction.revert";
}
