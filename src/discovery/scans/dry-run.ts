// A scan that only tells what it would do: the same commands, on one transaction over a connection that can only read, which is never
// finished. Finishing is what writes, so nothing is ever written.

import type { CommandActor } from "../../access/actor.ts";
import type { Instant } from "../../base/instant.ts";
import type { UuidSource } from "../../base/uuid.ts";
import type { Sql } from "../../db/connection.ts";
import type { AnyKind, RecordBase } from "../../db/kind.ts";
import { Statements } from "../../db/statements.ts";
import { WriteTransaction, type NetChange, type Outcome } from "../../db/transaction.ts";
import type { Commands } from "../../db/writer.ts";
import { recordLabel } from "../../resources/record-label.ts";
import { fdbEntryKind, type FdbEntryRecord } from "../../resources/fdb-entries/fdb-entry.ts";
import { hostKind } from "../../resources/hosts/host.ts";
import { ifEntryKind } from "../../resources/if-entries/if-entry.ts";
import type { Finding, Recorded } from "../sightings.ts";

/** What every record has, and nobody looked for. */
const OF_EVERY_RECORD = new Set(["id", "created_at", "updated_at", "valid_from", "lineage_id", "first_discovery_id"]);

export class DryRun {
  private readonly db: Sql;
  private readonly tx: WriteTransaction;
  private readonly commands: Commands;
  private readonly actor: CommandActor;
  /** Why a record would be written, by its id. */
  private readonly reasons = new Map<string, string>();
  /** Which forwarding entries would go and come, by interface. They are most of what a scan writes, and not held as records. */
  private readonly forwarding = new Map<string, { readonly from: Set<string>; readonly to: Set<string> }>();

  /**
   * Each command sees one state of the database, and the next one perhaps another: one state held for as long as a scan takes would keep the
   * log from being folded in, which would grow with all that others write meanwhile.
   * @param db a connection of its own that can only read
   */
  constructor(options: { db: Sql; commands: Commands; actor: CommandActor; now: Instant; uuids: UuidSource }) {
    this.db = options.db;
    this.commands = options.commands;
    this.actor = options.actor;
    this.tx = new UnfinishedTransaction(
      new Statements(this.db),
      options.actor,
      "discovery.dry_run",
      options.now,
      options.uuids,
    );
  }

  /** As the writer would run it. @returns what would be told besides changes of records, which findings() tells at the end */
  async run(name: string, bytes: Uint8Array): Promise<Outcome<Recorded>> {
    // Others on this thread have their turn before.
    await new Promise<void>((resolve) => setImmediate(resolve));
    const command = Object.hasOwn(this.commands, name) ? this.commands[name] : undefined;
    if (command === undefined) throw new Error(`scans: there is no command ${name}`);
    const recorded = this.onOneState(() => command(this.tx, { bytes }, this.actor) as Recorded);
    this.addForwarding(this.tx.release(fdbEntryKind));
    for (const { type, id, reason } of recorded.findings)
      if (isOfRecords(type) && id !== null) this.reasons.set(id, reason);
    return {
      sequence: null,
      result: { ...recorded, findings: recorded.findings.filter(({ type }) => !isOfRecords(type)) },
    };
  }

  /** What would be written, record by record. */
  *findings(): Generator<Finding> {
    const told = new Set<string>();
    for (const change of this.tx.eachNetChange()) {
      told.add(change.id);
      yield this.findingOf(change, this.forwardingAt(change.id));
    }
    for (const id of this.forwarding.keys()) {
      const [record, changed] = told.has(id) ? [null] : [this.tx.find(ifEntryKind, id), this.forwardingAt(id)];
      if (record === null || changed === undefined) continue;
      const label = labelOf(ifEntryKind.name, record);
      yield {
        type: "Changed",
        entity: ifEntryKind.name,
        id,
        label,
        reason: this.reasonOf(record.host_id),
        changes: { fdb_macs: changed },
      };
    }
  }

  /** The records of a kind that would be written, each as it would be; null for one that would be gone. */
  unwritten(kind: AnyKind): ReadonlyMap<string, RecordBase | null> {
    return new Map(
      this.tx
        .netChanges()
        .flatMap((change) => (change.kind.code === kind.code ? [[change.id, change.after] as const] : [])),
    );
  }

  close(): void {
    this.db.$client.close();
  }

  private addForwarding(changes: readonly NetChange[]): void {
    for (const { before, after } of changes) {
      const entry = (after ?? before) as FdbEntryRecord;
      const changed = this.forwarding.get(entry.if_entry_id) ?? { from: new Set(), to: new Set() };
      this.forwarding.set(entry.if_entry_id, changed);
      (after === null ? changed.from : changed.to).add(entry.mac_address);
    }
  }

  private forwardingAt(id: string): FieldChange | undefined {
    const changed = this.forwarding.get(id);
    return changed === undefined ? undefined : { from: [...changed.from], to: [...changed.to] };
  }

  private onOneState<Result>(work: () => Result): Result {
    this.db.$client.run("BEGIN");
    try {
      return work();
    } finally {
      this.db.$client.run("ROLLBACK");
    }
  }

  private findingOf(
    { kind, id, operation, changed, before, after }: NetChange,
    forwarding: FieldChange | undefined,
  ): Finding {
    const record = (after ?? before) as RecordBase;
    const hostId = kind.code === hostKind.code ? id : kind.scopeIds(record).host;
    const changes: Record<string, FieldChange> = {};
    if (after !== null) {
      const [old, now] = [before as Record<string, unknown> | null, after as unknown as Record<string, unknown>];
      for (const field of changed ?? Object.keys(now)) {
        const [from, to] = [old?.[field] ?? null, now[field] ?? null];
        if (!OF_EVERY_RECORD.has(field) && (from !== null || to !== null)) changes[field] = { from, to };
      }
      if (forwarding !== undefined) changes["fdb_macs"] = forwarding;
    }
    return {
      type: operation === "Created" ? "Created" : operation === "Deleted" ? "Closed" : "Changed",
      entity: kind.name,
      id,
      label: labelOf(kind.name, record),
      reason: this.reasons.get(id) ?? this.reasonOf(hostId ?? null),
      ...(after === null ? {} : { changes }),
    };
  }

  /** Why a host would be written, for what is below it. */
  private reasonOf(hostId: string | null): string {
    return (hostId === null ? undefined : this.reasons.get(hostId)) ?? "seen by the scan";
  }
}

interface FieldChange {
  readonly from: unknown;
  readonly to: unknown;
}

function isOfRecords(type: Finding["type"]): boolean {
  return type === "Created" || type === "Changed" || type === "Closed";
}

/** What is to be done once it is written never is: it would hold all that the devices told. */
class UnfinishedTransaction extends WriteTransaction {
  override afterwardsRun(): void {}
}

function labelOf(kind: string, record: RecordBase): string {
  return recordLabel(kind, record as unknown as Record<string, unknown>);
}
