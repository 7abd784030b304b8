// Counts of a device's rows that were dropped because of a limit or a user's deletion, and the findings that account
// for every row.

import { type HostRecord, hostKind } from "../../resources/hosts/host.ts";
import { DEVICE_TABLES, type Device, type DeviceTable, type PortList } from "../device.ts";
import { describeRows, narrowed, type RowReason, setAside } from "../rows.ts";
import type { ScanWrite } from "./scan-write.ts";

type Counts = Partial<Record<DeviceTable, Partial<Record<RowReason, number>>>>;

export class OmittedRows {
  private readonly counts: Counts;

  /** @param text from toText */
  constructor(text: string | null = null) {
    this.counts = text === null ? {} : (JSON.parse(text) as Counts);
  }

  add(table: DeviceTable, reason: RowReason, count: number): void {
    if (count <= 0) return;
    const reasons = (this.counts[table] ??= {});
    reasons[reason] = (reasons[reason] ?? 0) + count;
  }

  /** JSON; null if empty. */
  toText(): string | null {
    return this.isEmpty ? null : JSON.stringify(this.counts);
  }

  private get isEmpty(): boolean {
    return Object.keys(this.counts).length === 0;
  }

  without(rows: Device["rows"]): Device["rows"] {
    if (this.isEmpty) return rows;
    const countOf = (table: DeviceTable) => narrowed(rows[table], { set_aside: this.counts[table] ?? {} });
    return Object.fromEntries(DEVICE_TABLES.map((table) => [table, countOf(table)])) as Device["rows"];
  }
}

/**
 * Reports the row counts of each table. Neighbors (arp) report their own.
 * @param unknown interface lists left unchanged
 */
export function reportRows(
  write: ScanWrite,
  host: HostRecord,
  device: Device,
  omitted: OmittedRows,
  unknown: readonly PortList[],
): void {
  const rows = omitted.without(device.rows);
  for (const table of DEVICE_TABLES) {
    const unknownRows = rowsOfLists(device, table, unknown);
    const count = setAside(rows[table], "withheld", unknownRows);
    if (table === "arp" || count.read === 0) continue;
    const concluded = unknownRows > 0 ? [] : (device.conclusions?.[table] ?? []);
    const reason = [describeRows(count), ...concluded].join("; ");
    write.addFinding({
      type: "Read",
      entity: hostKind.name,
      id: host.id,
      label: `${host.name}: ${table}`,
      reason,
      rows: count,
    });
  }
}

/** Counts the rows of a table behind these interface lists. Port lists are only part of their rows. */
function rowsOfLists(device: Device, table: DeviceTable, lists: readonly PortList[]): number {
  if (lists.length === 0) return 0;
  const { interfaces = [] } = device;
  if (table === "forwarding" && lists.includes("forwarding"))
    return interfaces.reduce((sum, each) => sum + (each.forwarding?.length ?? 0), 0);
  if (table === "vlans" && lists.includes("native_vlan"))
    return interfaces.filter((each) => typeof each.native_vlan === "number").length;
  return 0;
}
