// Visible records by caller, derived from the ledger's rows and the role rules (handbook: security, "Roles"): those of
// the organization, limited to the caller's networks. Shares no code with the request handling.

import { OPERATION } from "../../../src/db/kind.ts";
import { writtenSql } from "../../../src/db/packing.ts";
import { KINDS } from "../../../src/records/resources.ts";
import type { TestAppliance } from "../appliance/appliance.ts";
import type { JsonRecord } from "../appliance/factories.ts";

/** Visibility of a caller: an organization and the networks within reach; null for all networks. */
export interface Visibility {
  readonly organizationId: string;
  readonly networkIds: readonly string[] | null;
}

interface LedgerVersion {
  readonly sequence: number;
  readonly operation: keyof typeof OPERATION;
  /** Null if the version deletes the record. */
  readonly fields: JsonRecord | null;
  /** Changed fields; empty for created or deleted records. */
  readonly changed: readonly string[];
}

interface LedgerRecord {
  readonly id: string;
  /** Name of the kind, such as `if_entry`. */
  readonly kind: string;
  readonly organizationId: string;
  /** Null for records of the organization as a whole. */
  readonly networkId: string | null;
  readonly versions: LedgerVersion[];
}

const NAMES = new Map(KINDS.map((kind) => [kind.code, kind.name]));
const COUNTED_PARTS: Readonly<Record<string, readonly string[]>> = {
  host: ["interfaces", "ip_addresses", "ports", "services", "components"],
  service: ["bindings"],
};
const OPERATIONS = Object.keys(OPERATION) as Array<keyof typeof OPERATION>;

export class LedgerOracle {
  private readonly records = new Map<string, LedgerRecord>();
  private readonly appliance: TestAppliance;
  private readAt = 0;

  constructor(appliance: TestAppliance) {
    this.appliance = appliance;
  }

  /** The latest transaction. */
  get head(): number {
    return this.appliance.reader.head().sequence;
  }

  /** The last transaction at or before a timestamp; 0 for none. */
  sequenceAt(at: string): number {
    const row = this.appliance.reader.db
      .query<{ sequence: number }, [number]>(
        "SELECT sequence FROM history_transactions WHERE at <= ? ORDER BY at DESC LIMIT 1",
      )
      .get(Date.parse(at));
    return row?.sequence ?? 0;
  }

  /** Reason of a transaction; null if none was given. */
  reasonOf(sequence: number): string | null {
    return (
      this.appliance.reader.db
        .query<{ reason: string | null }, [number]>("SELECT reason FROM history_transactions WHERE sequence = ?")
        .get(sequence)?.reason ?? null
    );
  }

  find(id: string): LedgerRecord | undefined {
    return this.known().get(id);
  }

  /** All records up to the latest transaction, by id. */
  known(): ReadonlyMap<string, LedgerRecord> {
    this.refresh();
    return this.records;
  }

  /** Whether a record is, or was, visible. */
  canSee(visibility: Visibility, record: LedgerRecord): boolean {
    if (record.organizationId !== visibility.organizationId) return false;
    return (
      record.networkId === null || visibility.networkIds === null || visibility.networkIds.includes(record.networkId)
    );
  }

  /** Live records of one kind as of a transaction, in list order. */
  liveRecords(visibility: Visibility, kind: string, sequence: number): JsonRecord[] {
    this.refresh();
    const found: JsonRecord[] = [];
    for (const record of this.records.values()) {
      if (record.kind !== kind || !this.canSee(visibility, record)) continue;
      const fields = record.versions.findLast((version) => version.sequence <= sequence)?.fields ?? null;
      if (fields !== null) found.push(fields);
    }
    return found.sort((a, b) => compare(a.created_at, b.created_at) || compare(a.id, b.id));
  }

  /** Versions after one transaction up to another, each with its record's id, in commit order. */
  versions(
    visibility: Visibility,
    kinds: readonly string[],
    after: number,
    until: number,
  ): Array<LedgerVersion & { readonly id: string; readonly kind: string }> {
    this.refresh();
    const found: Array<LedgerVersion & { readonly id: string; readonly kind: string }> = [];
    for (const record of this.records.values()) {
      if (!kinds.includes(record.kind) || !this.canSee(visibility, record)) continue;
      for (const version of record.versions)
        if (version.sequence > after && version.sequence <= until)
          found.push({ ...version, id: record.id, kind: record.kind });
    }
    return found.sort((a, b) => a.sequence - b.sequence);
  }

  /**
   * Like versions, limited to counted changes: those of children count for their host, those of bindings for their
   * service.
   */
  countedVersions(
    visibility: Visibility,
    kinds: readonly string[],
    after: number,
    until: number,
  ): Array<LedgerVersion & { readonly id: string; readonly kind: string }> {
    return this.versions(visibility, kinds, after, until).filter(
      ({ kind, changed }) => changed.length === 0 || !changed.every((field) => COUNTED_PARTS[kind]?.includes(field)),
    );
  }

  private refresh(): void {
    const { head } = this;
    if (head === this.readAt) return;
    const rows = this.appliance.reader.db
      .query<
        {
          id: string;
          kind: number;
          sequence: number;
          operation: number;
          members: string | null;
          changed: string | null;
        },
        [number, number]
      >(
        `SELECT r.id, r.kind, v.key & 2147483647 AS sequence, v.operation, ${writtenSql("v", "members")} AS members,
          v.changed FROM history_versions v
          JOIN history_records r ON r.n = v.key >> 31
         WHERE (v.key & 2147483647) > ? AND (v.key & 2147483647) <= ? ORDER BY sequence, r.kind`,
      )
      .all(this.readAt, head);
    for (const row of rows) {
      const fields = row.members === null ? null : (JSON.parse(`{${row.members}}`) as JsonRecord);
      const version = {
        sequence: row.sequence,
        operation: OPERATIONS.find((name) => OPERATION[name] === row.operation) ?? "Updated",
        fields,
        changed: row.changed === null ? [] : (JSON.parse(row.changed) as string[]),
      };
      const known = this.records.get(row.id);
      if (known !== undefined) known.versions.push(version);
      else
        this.records.set(row.id, {
          id: row.id,
          kind: NAMES.get(row.kind) ?? "",
          ...this.ownershipOf(row.id, NAMES.get(row.kind) ?? "", fields ?? {}),
          versions: [version],
        });
    }
    this.readAt = head;
  }

  /** Organization and network that a record belongs to. */
  private ownershipOf(
    id: string,
    kind: string,
    fields: JsonRecord,
  ): Pick<LedgerRecord, "organizationId" | "networkId"> {
    if (kind === "organization") return { organizationId: id, networkId: null };
    if (kind === "network") return { organizationId: fields.organization_id, networkId: id };
    const networkId: string | null = fields.network_id ?? null;
    const organizationId = fields.organization_id ?? this.records.get(networkId ?? "")?.organizationId;
    if (typeof organizationId !== "string") throw new Error(`the ${kind} ${id} is in no organization`);
    return { organizationId, networkId };
  }
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
