// Running outcome of a scan: counts, and findings handed over in batches. Bounded.

import { ownValue } from "../../base/fields.ts";
import type { Finding, RecordCounts, Recorded } from "../sightings.ts";
import { FINDINGS_KEPT, READS_KEPT, type ScanOutcome } from "./scan.ts";

export class ScanReport {
  icmp: string | null = null;
  problem: string | null = null;
  devices = 0;
  /** Including dropped findings. */
  count = 0;
  private kept = 0;
  private keptReads = 0;
  private dropped = 0;
  private unreached = 0;
  private transactions: { first: number; last: number } | null = null;
  private readonly byType = new Map<string, number>();
  private readonly records: Records = {};
  private fresh: Finding[] = [];
  /** Keyed by record ID. */
  private readonly freshPlaces = new Map<string, number>();

  /** Several commands may report the same record: merges findings until the first is handed over. */
  add(finding: Finding): void {
    if (finding.type === "Changed" && finding.id !== null && this.isTogether(finding.id, finding)) return;
    this.byType.set(finding.type, (this.byType.get(finding.type) ?? 0) + 1);
    this.count += 1;
    if (finding.type === "Unreached") this.unreached += 1;
    // Read findings must not crowd out the others.
    const isRead = finding.type === "Read";
    if (isRead ? this.keptReads >= READS_KEPT : this.kept - this.keptReads >= FINDINGS_KEPT) {
      this.dropped += 1;
      return;
    }
    this.kept += 1;
    if (isRead) this.keptReads += 1;
    this.fresh.push(finding);
    if (finding.id !== null && (finding.type === "Created" || finding.type === "Changed"))
      this.freshPlaces.set(finding.id, this.fresh.length - 1);
  }

  /** @param findings the findings to report */
  addRecorded(recorded: Recorded, sequence: number | null, findings: readonly Finding[] = recorded.findings): void {
    for (const [kind, counts] of Object.entries(recorded.records)) addCounts(this.records, kind, counts);
    for (const finding of findings) this.add(finding);
    this.wrote(sequence);
  }

  wrote(sequence: number | null): void {
    if (sequence === null) return;
    this.transactions = {
      first: Math.min(this.transactions?.first ?? sequence, sequence),
      last: Math.max(this.transactions?.last ?? sequence, sequence),
    };
  }

  /** Returns the findings since the last call, and the ordinal of the first. */
  takeFresh(): { readonly ordinal: number; readonly findings: readonly Finding[] } {
    const findings = this.fresh;
    this.fresh = [];
    this.freshPlaces.clear();
    return { ordinal: this.kept - findings.length, findings };
  }

  get freshCount(): number {
    return this.fresh.length;
  }

  /** @param found number of addresses that answered */
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

  private isTogether(id: string, { changes, records = {} }: Finding): boolean {
    const place = this.freshPlaces.get(id);
    const first = place === undefined ? undefined : this.fresh[place];
    if (place === undefined || first === undefined || first.changes !== undefined || changes !== undefined)
      return false;
    const sum: Records = {};
    for (const each of [first.records ?? {}, records])
      for (const [kind, counts] of Object.entries(each)) addCounts(sum, kind, counts);
    this.fresh[place] = { ...first, ...(Object.keys(sum).length === 0 ? {} : { records: sum }) };
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
