// What is asked of an agent and what came back: between the protocol, which knows no MIB, and the MIBs, which know no protocol.

import type { DeviceTable } from "../device.ts";

/** Integers and counters as numbers, OIDs and IpAddress as dotted text, everything else as its bytes. */
export type SnmpValue = number | string | Uint8Array;

/** One thing to ask, in the order of a plan. Everything in a step is asked together. */
export interface ReadStep {
  /** Unique in its plan: `if_table`. */
  readonly name: string;
  /** The part of the report that suffers when it fails. */
  readonly table: DeviceTable;
  /** Name → OID of single instances, `.0` included: asked by GET. */
  readonly scalars?: Readonly<Record<string, string>>;
  /** Name → OID of columns of one table, walked side by side. */
  readonly columns?: Readonly<Record<string, string>>;
  /** The step that reads the same table: further columns of it, whose rows are counted there. */
  readonly rowsIn?: string;
  /** Whether it is worth asking, by what was read before; without it always. */
  readonly isNeeded?: (reads: Reads) => boolean;
  /** The steps without whose rows `isNeeded` does not ask for it. */
  readonly hangsOn?: readonly string[];
  /** Columns that the rows of a device may all be without, today and not tomorrow. */
  readonly optional?: readonly string[];
  /**
   * Asked once in each of these VLANs' own contexts, which is how Cisco switches keep one BRIDGE-MIB per VLAN: community `public@10`, or SNMPv3
   * context `vlan-10`. The index of every value begins with the VLAN's number and a dot. Without it: asked once, in the device's own context.
   */
  readonly vlanContexts?: (reads: Reads) => readonly number[];
}

export interface ColumnRead {
  /** Read to its end. */
  readonly isComplete: boolean;
  /** Not complete, since the agent served it before and has nothing in it now. */
  readonly isLost?: true;
  /** Complete and empty, and the agent served it once: it is not missed any more. */
  readonly isEnded?: true;
  /** Why not, in a clause for people: `no answer within 5 s`. */
  readonly problem: string | null;
  /** Index below the column's OID (`10101`, `0.7.1`) → value. */
  readonly values: ReadonlyMap<string, SnmpValue>;
}

export interface StepRead {
  /** Those that exist: noSuchObject, noSuchInstance and noSuchName are left out. */
  readonly scalars: ReadonlyMap<string, SnmpValue>;
  /** Why the scalars could not be asked; null where they were. */
  readonly scalarsProblem: string | null;
  readonly columns: ReadonlyMap<string, ColumnRead>;
}

/** Step name → what came of it. Steps that were not needed are not in it. */
export type Reads = ReadonlyMap<string, StepRead>;
