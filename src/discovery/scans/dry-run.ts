// Dry run: the same commands in one transaction on a read-only connection that is never committed. Only a commit
// writes.

import type { CommandActor } from "../../access/actor.ts";
import { ownValue } from "../../base/fields.ts";
import type { Instant } from "../../base/instant.ts";
import type { UuidSource } from "../../base/uuid.ts";
import type { Sql } from "../../db/connection.ts";
import { type AnyKind, containerId, type RecordBase } from "../../db/kind.ts";
import type { Commands } from "../../db/writing/command.ts";
import { Statements } from "../../db/writing/statements.ts";
import { type CommandOutcome, type NetChange, WriteTransaction } from "../../db/writing/transaction.ts";
import { KINDS } from "../../records/resources.ts";
import { type FdbEntryRecord, fdbEntryKind } from "../../resources/fdb-entries/fdb-entry.ts";
import { hostKind } from "../../resources/hosts/host.ts";
import { ifEntryKind } from "../../resources/if-entries/if-entry.ts";
import { recordLabel } from "../../resources/record-label.ts";
import type { Finding, Recorded } from "../sightings.ts";
import type { SightingCommands } from "./sighting-commands.ts";

/** Fields common to all records, not reported. */
const COMMON_FIELDS = new Set(["id", "created_at", "updated_at", "valid_from", "lineage_id", "first_discovery_id"]);

export class DryRun {
  private readonly db: Sql;
  private readonly tx: WriteTransaction;
  private readonly commands: Commands;
  private readonly actor: CommandActor;
  /** Keyed by record ID. */
  private readonly reasons = new Map<string, string>();
  /** Forwarding entries to remove and add, by interface: most of a scan's writes, so not held as records. */
  private readonly forwarding = new Map<string, { readonly from: Set<string>; readonly to: Set<string> }>();

  /**
   * Each command reads the current state: a snapshot held for a whole scan would block checkpoints of the WAL.
   * @param db a dedicated read-only connection
   */
  constructor(options: { db: Sql; commands: Commands; actor: CommandActor; now: Instant; uuids: UuidSource }) {
    this.db = options.db;
    this.commands = options.commands;
    this.actor = options.actor;
    this.tx = new UnfinishedTransaction({
      statements: new Statements(this.db),
      kinds: KINDS,
      author: options.actor,
      source: "discovery.dry_run",
      wallAt: options.now,
      uuids: options.uuids,
    });
  }

  /**
   * Runs a command like the writer.
   * @returns the outcome without record changes; findings() yields these at the end
   */
  async run(name: keyof SightingCommands, bytes: Uint8Array): Promise<CommandOutcome<Recorded>> {
    // Yields to other work on this thread.
    await new Promise<void>((resolve) => setImmediate(resolve));
    const command = Object.hasOwn(this.commands, name) ? this.commands[name] : undefined;
    if (command === undefined) throw new Error(`scans: unknown command ${name}`);
    const recorded = this.onOneSnapshot(() => command(this.tx, { bytes }, this.actor) as Recorded);
    this.addForwarding(this.tx.release(fdbEntryKind));
    for (const { type, id, reason } of recorded.findings)
      if (isRecordChange(type) && id !== null) this.reasons.set(id, reason);
    return {
      sequence: null,
      result: { ...recorded, findings: recorded.findings.filter(({ type }) => !isRecordChange(type)) },
    };
  }

  *findings(): Generator<Finding> {
    const reported = new Set<string>();
    for (const change of this.tx.eachNetChange()) {
      reported.add(change.id);
      yield this.findingOf(change, this.forwardingAt(change.id));
    }
    for (const id of this.forwarding.keys()) {
      const [record, changed] = reported.has(id) ? [null] : [this.tx.find(ifEntryKind, id), this.forwardingAt(id)];
      if (record === null || changed === undefined) continue;
      const label = recordLabel(ifEntryKind, record);
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

  /** Null for a record that would be deleted. */
  pendingWrites(kind: AnyKind): ReadonlyMap<string, RecordBase | null> {
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

  private onOneSnapshot<Result>(work: () => Result): Result {
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
    const hostId = kind.code === hostKind.code ? id : containerId(kind, record, "host");
    const changes: Record<string, FieldChange> = {};
    if (after !== null) {
      const [old, now] = [before as Record<string, unknown> | null, after as unknown as Record<string, unknown>];
      for (const field of changed ?? Object.keys(now)) {
        const [from, to] = [ownValue(old, field) ?? null, ownValue(now, field) ?? null];
        if (!COMMON_FIELDS.has(field) && (from !== null || to !== null)) changes[field] = { from, to };
      }
      if (forwarding !== undefined) changes.fdb_macs = forwarding;
    }
    return {
      type: operation === "Created" ? "Created" : operation === "Deleted" ? "Closed" : "Changed",
      entity: kind.name,
      id,
      label: recordLabel(kind, record),
      reason: this.reasons.get(id) ?? this.reasonOf(hostId ?? null),
      ...(after === null ? {} : { changes }),
    };
  }

  private reasonOf(hostId: string | null): string {
    return (hostId === null ? undefined : this.reasons.get(hostId)) ?? "seen by the scan";
  }
}

interface FieldChange {
  readonly from: unknown;
  readonly to: unknown;
}

function isRecordChange(type: Finding["type"]): boolean {
  return type === "Created" || type === "Changed" || type === "Closed";
}

/** Never runs: storing the callbacks would hold all reported data. */
class UnfinishedTransaction extends WriteTransaction {
  override runAfterWrite(): void {}
}
