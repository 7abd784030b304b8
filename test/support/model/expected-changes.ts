// Reference implementation of activity and filtered transaction lists: every version of the ledger with its record
// before and after, without stored aggregates. Shares no code with the code under test.

import { writtenSql } from "../../../src/db/packing.ts";
import { KINDS } from "../../../src/records/resources.ts";
import type { JsonRecord, Store } from "../store/store.ts";

/** A version with the record before and after it. */
export interface ExpectedChange {
  /** Whether it counts: changes to children count for their parent only, and some kinds appear only as children. */
  readonly isCounted: boolean;
  readonly sequence: number;
  readonly at: number;
  readonly actor: { readonly type: string; readonly id: string | null; readonly name: string };
  readonly reason: string | null;
  readonly type: string;
  readonly id: string;
  readonly operation: "Created" | "Updated" | "Deleted";
  readonly fields: readonly string[];
  /** The record before and after the change; one may be missing. */
  readonly states: readonly JsonRecord[];
}

/** Filters as in the API. */
export interface ChangeQuery {
  /** Ids of the caller's networks; null for all. */
  readonly reach: readonly string[] | null;
  readonly types?: readonly string[];
  readonly network_id?: string;
  readonly host_id?: string;
  readonly subnet_id?: string;
  readonly id?: string;
}

/** Changes of children count for their host, and those of bindings for their service. */
const CHILD_FIELDS: Readonly<Record<string, readonly string[]>> = {
  host: ["interfaces", "ip_addresses", "ports", "services", "components"],
  service: ["bindings"],
};
const UNREPORTED_KINDS = ["fdb_entry", "credential_assignment"];
/** Organization-wide kinds. */
const KINDS_OUTSIDE_NETWORKS = ["organization", "tag", "credential", "user"];

/** Every version except those of API keys, in commit order, of all networks. */
export function expectedChanges(store: Store): ExpectedChange[] {
  const rows = store.rows<JsonRecord>(
    `SELECT v.key >> 31 AS n, t.sequence, t.at, t.actor_type, t.actor_id, t.actor_name, t.reason, r.kind, r.id, v.operation,
      v.changed, ${writtenSql("v", "members")} AS members FROM history_versions v JOIN history_records r ON r.n = v.key >> 31
      JOIN history_transactions t ON t.sequence = v.key & 2147483647 ORDER BY t.sequence, n`,
  );
  const last = new Map<string, JsonRecord | null>();
  return rows.flatMap((row) => {
    const type = KINDS.find(({ code }) => code === row.kind)?.name as string;
    const before = last.get(row.id) ?? null;
    const after = row.members === null ? null : JSON.parse(`{${row.members}}`);
    last.set(row.id, after);
    const fields = row.changed === null ? [] : JSON.parse(row.changed);
    if (type === "api_key") return [];
    return {
      isCounted:
        !UNREPORTED_KINDS.includes(type) &&
        (fields.length === 0 || !fields.every((field: string) => CHILD_FIELDS[type]?.includes(field))),
      sequence: row.sequence,
      at: row.at,
      actor: { type: row.actor_type, id: row.actor_id, name: row.actor_name },
      reason: row.reason,
      type,
      id: row.id,
      operation: (["Created", "Updated", "Deleted"] as const)[row.operation - 1] as ExpectedChange["operation"],
      fields,
      states: [before, after].filter((state) => state !== null),
    };
  });
}

/** Whether a change matches the query. */
export function matchesQuery(change: ExpectedChange, query: ChangeQuery): boolean {
  const { reach, types, network_id, host_id, subnet_id, id } = query;
  const has = (field: string, values: readonly string[]) =>
    change.states.some((state) => values.includes(state[field]));
  const isInNetworks = (networks: readonly string[]) => has(change.type === "network" ? "id" : "network_id", networks);
  return (
    (reach === null || KINDS_OUTSIDE_NETWORKS.includes(change.type) || isInNetworks(reach)) &&
    (types === undefined || types.includes(change.type)) &&
    (network_id === undefined || isInNetworks([network_id])) &&
    (host_id === undefined || change.id === host_id || has("host_id", [host_id])) &&
    (subnet_id === undefined ||
      change.id === subnet_id ||
      (["ip_address", "ip_range"].includes(change.type) && has("subnet_id", [subnet_id]))) &&
    (id === undefined || change.id === id)
  );
}
