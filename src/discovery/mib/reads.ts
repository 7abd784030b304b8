// What is asked of an agent and what came back: the seam between the protocol and the MIBs.

import type { DeviceTable } from "../device.ts";

/** Integers and counters as numbers, OIDs and IpAddress as dotted text, everything else as its bytes. */
export type SnmpValue = number | string | Uint8Array;

/** One thing to ask. Everything in a step is asked together. */
export interface ReadStep {
  /** Unique in its plan: `if_table`. */
  readonly name: string;
  /** The part of the report that fails with it. */
  readonly table: DeviceTable;
  /** Name → OID of single instances, `.0` included: asked by GET. */
  readonly scalars?: Readonly<Record<string, string>>;
  /** Name → OID of columns of one table, walked side by side. */
  readonly columns?: Readonly<Record<string, string>>;
  /** The step that counts the rows of the same table. */
  readonly rowsIn?: string;
  /** Whether it is worth asking after what was read before; by default always. */
  readonly isNeeded?: (reads: Reads) => boolean;
  /** `isNeeded` is false without rows of these steps. */
  readonly hangsOn?: readonly string[];
  /** Columns that all rows may lack from one day to the next. */
  readonly optional?: readonly string[];
  /**
   * Asked in the context of each of these VLANs, as Cisco switches keep one BRIDGE-MIB per VLAN: community `public@10`,
   * SNMPv3 context `vlan-10`. Every index then begins with the VLAN number and a dot.
   */
  readonly vlanContexts?: (reads: Reads) => readonly number[];
}

export interface ColumnRead {
  /** Read to its end. */
  readonly isComplete: boolean;
  /** Not complete: served before, empty now. */
  readonly isLost?: true;
  /** Complete and empty, served once, and no longer missed. */
  readonly isEnded?: true;
  /** Why not, in a clause for people: `no answer within 5 s`. */
  readonly problem: string | null;
  /** Index below the column's OID (`10101`, `0.7.1`) → value. */
  readonly values: ReadonlyMap<string, SnmpValue>;
}

export interface StepRead {
  /** noSuchObject, noSuchInstance and noSuchName are left out. */
  readonly scalars: ReadonlyMap<string, SnmpValue>;
  /** Null where the scalars were asked. */
  readonly scalarsProblem: string | null;
  readonly columns: ReadonlyMap<string, ColumnRead>;
}

/** By step name, without steps that were not needed. */
export type Reads = ReadonlyMap<string, StepRead>;
