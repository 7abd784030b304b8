// Interface between the SNMP protocol and the MIBs: read steps and their results.

import type { DeviceTable } from "../device.ts";

/** Integers and counters as numbers, OIDs and IpAddress as dotted text, everything else as bytes. */
export type SnmpValue = number | string | Uint8Array;

/** A unit of polling: everything in a step is requested together. */
export interface ReadStep {
  /** Unique in its plan: `if_table`. */
  readonly name: string;
  /** Section of the report that fails with this step. */
  readonly table: DeviceTable;
  /** Name → OID of a single instance, including `.0`: requested by GET. */
  readonly scalars?: Readonly<Record<string, string>>;
  /** Name → OID of a column; all columns of one table are walked in parallel. */
  readonly columns?: Readonly<Record<string, string>>;
  /** Step that counts the rows of this table. */
  readonly rowsIn?: string;
  /** True if earlier results justify polling this step. Default: always. */
  readonly isNeeded?: (reads: Reads) => boolean;
  /** Steps without whose rows `isNeeded` is false. */
  readonly dependsOn?: readonly string[];
  /** Columns that may vanish from all rows at any time, and such scalars. */
  readonly optional?: readonly string[];
  /**
   * Polls the step in the context of each of these VLANs: Cisco switches keep one BRIDGE-MIB per VLAN (community
   * `public@10`, SNMPv3 context `vlan-10`). Every index then begins with the VLAN number and a dot.
   */
  readonly vlanContexts?: (reads: Reads) => readonly number[];
}

export interface ColumnRead {
  /** Read to the end. */
  readonly isComplete: boolean;
  /** Incomplete: served before, empty now. */
  readonly isLost?: true;
  /** Complete and empty; once served, and past its grace period. */
  readonly isEnded?: true;
  /** Reason for an incomplete column, as a user-readable clause: `no response within 5 s`. */
  readonly problem: string | null;
  /** Index below the column's OID (`10101`, `0.7.1`) → value. */
  readonly values: ReadonlyMap<string, SnmpValue>;
}

export interface StepRead {
  /** Excludes noSuchObject, noSuchInstance and noSuchName. */
  readonly scalars: ReadonlyMap<string, SnmpValue>;
  /** Null if the scalars were read. */
  readonly scalarsProblem: string | null;
  readonly columns: ReadonlyMap<string, ColumnRead>;
}

/** Keyed by step name; excludes steps that were not needed. */
export type Reads = ReadonlyMap<string, StepRead>;
