// Agent of a device: all rows that it currently serves, by table. Unchanged tables are rendered once.

import { type Device, isStarting, type TableName } from "../site/machines.ts";
import type { Site } from "../site/site.ts";
import {
  addressRows,
  aggregateRows,
  entityRows,
  interfaceRows,
  localLldpRows,
  nameRows,
  staleRowsOf,
  systemRows,
  vlanRows,
} from "./device-rows.ts";
import { arpRows, cdpRows, forwardingRows, neighborRows } from "./neighbor-rows.ts";
import type { Rows, Value } from "./rows.ts";

/** Tables of an agent, each with the name by which faults address it; null for tables without faults. */
export type AgentTables = ReadonlyArray<{ readonly table: TableName | null; readonly rows: Rows }>;

export class Agents {
  private readonly site: Site;
  private readonly own = new Map<string, { readonly version: string; readonly tables: AgentTables }>();
  private readonly learned = new Map<string, { readonly revision: string; readonly tables: AgentTables }>();

  constructor(site: Site) {
    this.site = site;
  }

  /** Identifies what the device serves now, except for sysUpTime. */
  revisionOf(device: Device): string {
    const isWhole = device.fault === null && !isStarting(device, this.site.now);
    return `${device.version} ${staleRowsOf(device, this.site.now).length} ${this.revisionOfLearned(device)} ${isWhole ? "" : this.site.now}`;
  }

  /** Everything that the device serves now, with its fault. */
  tablesOf(device: Device): AgentTables {
    const tables = [
      { table: null, rows: systemRows(device, this.site.now) },
      ...this.ownTables(device),
      ...this.learnedTables(device),
    ];
    const { fault } = device;
    const isShort = isStarting(device, this.site.now);
    if (!isShort && (fault === null || fault.kind === "cut")) return tables;
    return tables.map((each) => {
      const isOfInterfaces = each.table === "interfaces" || each.table === "names";
      if (fault?.kind === "missing" && isOfInterfaces) return { ...each, rows: NO_ROWS };
      if (isShort && isOfInterfaces) return { ...each, rows: firstRows(each.rows, 2 / 3, true) };
      if (fault?.kind === "short" && each.table === fault.table)
        return { ...each, rows: firstRows(each.rows, 3 / 4, false) };
      return fault?.kind === "shrunk" && each.table === fault.table ? { ...each, rows: shrunk(each.rows) } : each;
    });
  }

  private ownTables(device: Device): AgentTables {
    const known = this.own.get(device.id);
    const version = `${device.version} ${staleRowsOf(device, this.site.now).length}`;
    if (known?.version === version) return known.tables;
    const { site } = this;
    const tables: AgentTables = [
      { table: "interfaces", rows: interfaceRows(device, site.now) },
      { table: "names", rows: nameRows(device, site.now) },
      { table: null, rows: aggregateRows(device) },
      { table: "addresses", rows: addressRows(device) },
      { table: "vlans", rows: vlanRows(device) },
      { table: "entity", rows: entityRows(device) },
      { table: null, rows: localLldpRows(device) },
      { table: "lldp", rows: neighborRows(site, device) },
      { table: null, rows: cdpRows(site, device) },
    ];
    this.own.set(device.id, { version, tables });
    return tables;
  }

  private learnedTables(device: Device): AgentTables {
    const revision = this.revisionOfLearned(device);
    const known = this.learned.get(device.id);
    if (known?.revision === revision) return known.tables;
    const tables: AgentTables = [
      { table: "forwarding", rows: forwardingRows(this.site, device) },
      { table: "arp", rows: arpRows(this.site, device) },
    ];
    this.learned.set(device.id, { revision, tables });
    return tables;
  }

  private revisionOfLearned(device: Device): string {
    return device.vlans.size === 0 ? "" : `${device.version} ${this.site.stationRevision}`;
  }
}

/** The first third of the rows. ifNumber agrees with a long table and contradicts a short one. */
function shrunk(rows: Rows): Rows {
  const longest = longestOf(rows);
  return firstRows(rows, 1 / 3, longest - Math.ceil(longest / 3) >= 8);
}

const NO_ROWS: Rows = { scalars: new Map(), columns: new Map() };

function longestOf({ columns }: Rows): number {
  return Math.max(0, ...[...columns.values()].map(({ size }) => size));
}

/** @param isConsistent whether ifNumber agrees */
function firstRows(rows: Rows, share: number, isConsistent: boolean): Rows {
  const { scalars, columns } = rows;
  const kept = Math.ceil(longestOf(rows) * share);
  return {
    scalars: new Map(
      [...scalars].map(([oid, value]): [string, Value] => [
        oid,
        isConsistent && typeof value === "number" ? kept : value,
      ]),
    ),
    columns: new Map([...columns].map(([oid, values]) => [oid, new Map([...values].slice(0, kept))])),
  };
}
