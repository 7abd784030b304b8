// Who set a field, by the ledger. Asked only where a scan contradicts the inventory.

import { ownValue } from "../../base/fields.ts";
import { parseMembers, type RecordBase, scopeKey } from "../../db/kind.ts";
import { changedSql, membersSql, ofKindSql } from "../../db/shape.ts";
import type { WriteTransaction } from "../../db/writing/transaction.ts";
import { KINDS } from "../../records/resources.ts";
import { consolidatedIn } from "../../resources/consolidations/consolidation.ts";
import { fdbEntryKind } from "../../resources/fdb-entries/fdb-entry.ts";

/** Versions looked at; a field unchanged in them counts as a person's. */
const VERSIONS_LOOKED_AT_MAX = 100_000;

const KIND = "(SELECT kind FROM history_records WHERE n = ?1)";
const MEMBERS = ofKindSql(KINDS, KIND, "v", membersSql);
const CHANGED = ofKindSql(KINDS, KIND, "v", changedSql);

interface Version {
  readonly sequence: number;
  readonly operation: number;
  readonly changed: string | null;
  readonly actor_type: string;
  readonly source: string;
  readonly members: string;
}

/**
 * Whether the value of a field of a live record was set by a person (or a program with a key), as opposed to discovery.
 * A restore or a revert sets nothing of its own: whoever set the value that it brought back, did; nor does a removal of
 * what the field named. A value that a record was created with by a person counts unless it is what everything is
 * created with.
 * @param unsaid what the field has where nobody says anything: null, "" or the default of a create
 */
export function isSetByPerson(
  tx: WriteTransaction,
  id: string,
  field: string,
  unsaid: readonly unknown[] = [],
): boolean {
  const valueIn = ({ members }: Version) => ownValue(parseMembers<RecordBase>(members), field);
  return isLastWordAPersons(tx, id, field, valueIn, unsaid);
}

/** The same of the MAC addresses that an interface entry forwards to, which are records of their own. */
export function isForwardingSetByPerson(tx: WriteTransaction, ifEntryId: string): boolean {
  return isLastWordAPersons(tx, ifEntryId, "fdb_macs", ({ sequence }) => forwardingAt(tx, ifEntryId, sequence), [null]);
}

/** The MAC addresses as they were after a transaction; null for none. */
function forwardingAt(tx: WriteTransaction, ifEntryId: string, sequence: number): string | null {
  const row = tx.db.$client
    .query(
      `SELECT group_concat(mac) AS macs FROM (
         SELECT DISTINCT (SELECT ('{' || ${membersSql(fdbEntryKind, "v")} || '}') ->> '$.mac_address'
           FROM history_versions v
           WHERE v.key <= ((s.n << 31) | ?2) ORDER BY v.key DESC LIMIT 1) AS mac
         FROM history_spans s WHERE s.scope = ?1 AND s.born <= ?2 AND s.died > ?2 ORDER BY mac)`,
    )
    .get(scopeKey(tx.recordN(ifEntryId) ?? 0, fdbEntryKind), sequence) as { macs: string | null };
  return row.macs;
}

/** @param valueIn asked only where it matters */
function isLastWordAPersons(
  tx: WriteTransaction,
  id: string,
  field: string,
  valueIn: (version: Version) => unknown,
  unsaid: readonly unknown[],
): boolean {
  const n = tx.recordN(id);
  // A record of this very transaction is what discovery made of it.
  if (n === null || n === 0) return false;
  const rows = tx.db.$client
    .query(
      `SELECT v.key & 2147483647 AS sequence, v.operation, ${CHANGED} AS changed, t.actor_type, t.source, ${MEMBERS}
        AS members
       FROM history_versions v JOIN history_transactions t ON t.sequence = v.key & 2147483647
       WHERE v.key BETWEEN (?1 << 31) AND (?1 << 31) + 2147483647 AND v.operation <> 3
         AND (v.changed IS NULL OR instr(${CHANGED}, ?2) > 0)
       ORDER BY v.key DESC LIMIT ${VERSIONS_LOOKED_AT_MAX}`,
    )
    .iterate(n, JSON.stringify(field)) as Iterable<Version>;
  /** The value that a restore brought back, while its origin is looked for. */
  let sought: { readonly value: unknown } | null = null;
  for (const version of rows) {
    if (sought !== null && !Bun.deepEquals(sought.value, valueIn(version))) continue;
    if (isRestoring(version.source)) {
      sought = { value: valueIn(version) };
      continue;
    }
    if (version.operation === UPDATED && MOVING.has(version.source)) {
      // What a host took of another one was set by whoever set it there; all else that changes follows what moved.
      const former = consolidatedIn(tx, n, version.sequence);
      if (former !== null) return isLastWordAPersons(tx, former, field, valueIn, unsaid);
      continue;
    }
    if (version.operation === UPDATED && isSideEffect(version.source, field)) {
      // What was named by it went, and nobody said that there is to be nothing in its place.
      if ((valueIn(version) ?? null) === null) return false;
      continue;
    }
    if ((version.actor_type !== "User" && version.actor_type !== "ApiKey") || version.source.startsWith(DISCOVERY))
      return false;
    if (version.operation === UPDATED) return true;
    const value = valueIn(version) ?? null;
    return !unsaid.some((each) => Bun.deepEquals(each, value));
  }
  return true;
}

/** Whether a person ever wrote a record: then it is not discovery's to end. */
export function isTouchedByPerson(tx: WriteTransaction, id: string): boolean {
  const n = tx.recordN(id);
  if (n === null || n === 0) return false;
  const row = tx.db.$client
    .query(
      `SELECT 1 FROM history_versions v JOIN history_transactions t ON t.sequence = v.key & 2147483647
       WHERE v.key BETWEEN (?1 << 31) AND (?1 << 31) + 2147483647 AND t.actor_type IN ('User', 'ApiKey')
         AND t.source NOT LIKE '${DISCOVERY}%' LIMIT 1`,
    )
    .get(n);
  return row !== null;
}

const UPDATED = 2;
/** Commands whose values come from the network, whoever asked for them. */
const DISCOVERY = "discovery.";

/**
 * Whether a command takes a reference off other records, as opposed to setting their fields: a removal takes itself off
 * all that names it, and an update of a host the addresses that it has no more off interface entries.
 */
function isSideEffect(source: string, field: string): boolean {
  return (
    source.endsWith(".delete") ||
    source.endsWith(".bulk_delete") ||
    (source === "host.update" && field === "ip_address_id")
  );
}

/** What moves records between hosts, and sets nothing of its own. */
const MOVING = new Set(["host.consolidate", "host.split"]);

function isRestoring(source: string): boolean {
  return source.endsWith(".restore") || source === "transaction.revert";
}
