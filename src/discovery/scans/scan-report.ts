// Running outcome of a scan: counts, and findings handed over in batches. Bounded.

import { ownValue } from "../../base/fields.ts";
import type { Finding, RecordCounts, Recorded } from "../sightings.ts";
import { type ScanOutcome, STORED_FINDINGS_MAX, STORED_READS_MAX } from "./scan.ts";

export class ScanReport {
  icmp: string | null = null;
  problem: string | null = null;
  devices = 0;
  /** Including dropped findings. */
  count = 0;
  private storedCount = 0;
  private storedReads = 0;
  private dropped = 0;
  private unreached = 0;
  private transactions: { first: number; last: number } | null = null;
  private readonly byType = new Map<string, number>();
  private readonly records: Records = {};
  private pending: Finding[] = [];
  /** Keyed by record ID. */
  private readonly pendingIndexes = new Map<string, number>();

  /** Several commands may report the same record: merges findings until the first is handed over. */
  add(finding: Finding): void {
    if (finding.type === "Changed" && finding.id !== null && this.mergeIntoPending(finding.id, finding)) return;
    this.byType.set(finding.type, (this.byType.get(finding.type) ?? 0) + 1);
    this.count += 1;
    if (finding.type === "Unreached") this.unreached += 1;
    // Read findings must not crowd out the others.
    const isRead = finding.type === "Read";
    if (isRead ? this.storedReads >= STORED_READS_MAX : this.storedCount - this.storedReads >= STORED_FINDINGS_MAX) {
      this.dropped += 1;
      return;
    }
    this.storedCount += 1;
    if (isRead) this.storedReads += 1;
    this.pending.push(finding);
    if (finding.id !== null && (finding.type === "Created" || finding.type === "Changed"))
      this.pendingIndexes.set(finding.id, this.pending.length - 1);
  }

  /** @param findings the findings to report */
  addRecorded(recorded: Recorded, sequence: number | null, findings: readonly Finding[] = recorded.findings): void {
    for (const [kind, counts] of Object.entries(recorded.records)) addCounts(this.records, kind, counts);
    for (const finding of findings) this.add(finding);
    this.addTransaction(sequence);
  }

  /** @param kind name of the kind's collection: `hosts` */
  hasCreated(kind: string): boolean {
    return (ownValue(this.records, kind)?.created ?? 0) > 0;
  }

  addTransaction(sequence: number | null): void {
    if (sequence === null) return;
    this.transactions = {
      first: Math.min(this.transactions?.first ?? sequence, sequence),
      last: Math.max(this.transactions?.last ?? sequence, sequence),
    };
  }

  /** Returns the findings since the last call, and the ordinal of the first. */
  takePending(): { readonly ordinal: number; readonly findings: readonly Finding[] } {
    const findings = this.pending;
    this.pending = [];
    this.pendingIndexes.clear();
    return { ordinal: this.storedCount - findings.length, findings };
  }

  get pendingCount(): number {
    return this.pending.length;
  }

  /** @param found number of addresses that responded */
  outcome(found: number): ScanOutcome {
    return {
      records: this.records,
      hosts: { found, devices: this.devices, unreached: this.unreached },
      findings: Object.fromEntries(this.byType),
      findings_dropped: this.dropped,
      transactions: this.transactions,
      icmp: this.icmp,
      problem: this.problem,
    };
  }

  private mergeIntoPending(id: string, { changes, records = {} }: Finding): boolean {
    const index = this.pendingIndexes.get(id);
    const first = index === undefined ? undefined : this.pending[index];
    if (index === undefined || first === undefined || first.changes !== undefined || changes !== undefined)
      return false;
    const sum: Records = {};
    for (const each of [first.records ?? {}, records])
      for (const [kind, counts] of Object.entries(each)) addCounts(sum, kind, counts);
    this.pending[index] = { ...first, ...(Object.keys(sum).length === 0 ? {} : { records: sum }) };
    return true;
  }
}

type Records = Record<string, { created: number; updated: number; deleted: number }>;

function addCounts(records: Records, kind: string, { created, updated, deleted }: RecordCounts): void {
  const counts = ownValue(records, kind) ?? { created: 0, updated: 0, deleted: 0 };
  records[kind] = counts;
  counts.created += created;
  counts.updated += updated;
  counts.deleted += deleted;
}
