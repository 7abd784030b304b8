// LLDP read steps: LLDP-MIB (IEEE 802.1AB-2005), else LLDP-V2-MIB (IEEE 802.1AB-2009).

import { hasRows } from "./columns.ts";
import type { ReadStep } from "./reads.ts";

/** lldpLocalSystemData. */
export const LLDP_LOCAL_STEP = {
  name: "lldp_local",
  table: "lldp",
  scalars: {
    chassisIdSubtype: "1.0.8802.1.1.2.1.3.1.0",
    chassisId: "1.0.8802.1.1.2.1.3.2.0",
    sysCapSupported: "1.0.8802.1.1.2.1.3.5.0",
    sysCapEnabled: "1.0.8802.1.1.2.1.3.6.0",
  },
} as const satisfies ReadStep;

/** lldpRemTable: index lldpRemTimeMark.lldpRemLocalPortNum.lldpRemIndex. */
export const LLDP_REMOTE_STEP = {
  name: "lldp_rem_table",
  table: "lldp",
  columns: {
    chassisIdSubtype: "1.0.8802.1.1.2.1.4.1.1.4",
    chassisId: "1.0.8802.1.1.2.1.4.1.1.5",
    portIdSubtype: "1.0.8802.1.1.2.1.4.1.1.6",
    portId: "1.0.8802.1.1.2.1.4.1.1.7",
    portDesc: "1.0.8802.1.1.2.1.4.1.1.8",
    sysName: "1.0.8802.1.1.2.1.4.1.1.9",
    sysDesc: "1.0.8802.1.1.2.1.4.1.1.10",
    sysCapSupported: "1.0.8802.1.1.2.1.4.1.1.11",
    sysCapEnabled: "1.0.8802.1.1.2.1.4.1.1.12",
  },
  optional: ["portDesc", "sysName", "sysDesc", "sysCapSupported", "sysCapEnabled"],
} as const satisfies ReadStep;

/**
 * lldpRemManAddrTable: index of lldpRemTable, then lldpRemManAddrSubtype.length.address. Only the index holds the
 * address.
 */
export const LLDP_REMOTE_ADDRESSES_STEP = {
  name: "lldp_rem_man_addr_table",
  table: "lldp",
  columns: { manAddrIfSubtype: "1.0.8802.1.1.2.1.4.2.1.3" },
  isNeeded: (reads) => hasRows(reads, LLDP_REMOTE_STEP),
  dependsOn: [LLDP_REMOTE_STEP.name],
} as const satisfies ReadStep;

/** lldpLocPortTable: index lldpLocPortNum. */
export const LLDP_LOCAL_PORTS_STEP = {
  name: "lldp_loc_port_table",
  table: "lldp",
  columns: {
    portIdSubtype: "1.0.8802.1.1.2.1.3.7.1.2",
    portId: "1.0.8802.1.1.2.1.3.7.1.3",
    portDesc: "1.0.8802.1.1.2.1.3.7.1.4",
  },
  isNeeded: (reads) => hasRows(reads, LLDP_REMOTE_STEP),
  dependsOn: [LLDP_REMOTE_STEP.name],
} as const satisfies ReadStep;

/**
 * lldpV2LocalSystemData. Version 2 is polled only if version 1 has no neighbors: agents that serve both repeat the same
 * data.
 */
export const LLDP_V2_LOCAL_STEP = {
  name: "lldp_v2_local",
  table: "lldp",
  scalars: {
    chassisIdSubtype: "1.3.111.2.802.1.1.13.1.3.1.0",
    chassisId: "1.3.111.2.802.1.1.13.1.3.2.0",
    sysCapSupported: "1.3.111.2.802.1.1.13.1.3.5.0",
    sysCapEnabled: "1.3.111.2.802.1.1.13.1.3.6.0",
  },
  isNeeded: (reads) => !hasRows(reads, LLDP_REMOTE_STEP),
} as const satisfies ReadStep;

/** lldpV2RemTable: index lldpV2RemTimeMark.lldpV2RemLocalIfIndex.lldpV2RemLocalDestMACAddress.lldpV2RemIndex. */
export const LLDP_V2_REMOTE_STEP = {
  name: "lldp_v2_rem_table",
  table: "lldp",
  columns: {
    chassisIdSubtype: "1.3.111.2.802.1.1.13.1.4.1.1.5",
    chassisId: "1.3.111.2.802.1.1.13.1.4.1.1.6",
    portIdSubtype: "1.3.111.2.802.1.1.13.1.4.1.1.7",
    portId: "1.3.111.2.802.1.1.13.1.4.1.1.8",
    portDesc: "1.3.111.2.802.1.1.13.1.4.1.1.9",
    sysName: "1.3.111.2.802.1.1.13.1.4.1.1.10",
    sysDesc: "1.3.111.2.802.1.1.13.1.4.1.1.11",
    sysCapSupported: "1.3.111.2.802.1.1.13.1.4.1.1.12",
    sysCapEnabled: "1.3.111.2.802.1.1.13.1.4.1.1.13",
  },
  optional: ["portDesc", "sysName", "sysDesc", "sysCapSupported", "sysCapEnabled"],
  isNeeded: (reads) => !hasRows(reads, LLDP_REMOTE_STEP),
} as const satisfies ReadStep;

/** lldpV2RemManAddrTable: same layout as version 1. */
export const LLDP_V2_REMOTE_ADDRESSES_STEP = {
  name: "lldp_v2_rem_man_addr_table",
  table: "lldp",
  columns: { manAddrIfSubtype: "1.3.111.2.802.1.1.13.1.4.2.1.3" },
  isNeeded: (reads) => hasRows(reads, LLDP_V2_REMOTE_STEP),
  dependsOn: [LLDP_V2_REMOTE_STEP.name],
} as const satisfies ReadStep;

/** lldpV2LocPortTable: index lldpV2LocPortIfIndex, which is not an ifIndex on every agent. */
export const LLDP_V2_LOCAL_PORTS_STEP = {
  name: "lldp_v2_loc_port_table",
  table: "lldp",
  columns: {
    portIdSubtype: "1.3.111.2.802.1.1.13.1.3.7.1.2",
    portId: "1.3.111.2.802.1.1.13.1.3.7.1.3",
    portDesc: "1.3.111.2.802.1.1.13.1.3.7.1.4",
  },
  isNeeded: (reads) => hasRows(reads, LLDP_V2_REMOTE_STEP),
  dependsOn: [LLDP_V2_REMOTE_STEP.name],
} as const satisfies ReadStep;
