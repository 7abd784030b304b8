// SNMP read steps in polling order: the device, then the tables that other tables refer to, then those tables.

import {
  IP_ADDR_TABLE_ADDRESSES_STEP,
  IP_ADDR_TABLE_STEP,
  IP_ADDRESS_TABLE_STEP,
  IPV6_ADDR_TABLE_STEP,
} from "./addresses.ts";
import {
  IP_NET_TO_MEDIA_ADDRESSES_STEP,
  IP_NET_TO_MEDIA_STEP,
  IP_NET_TO_PHYSICAL_STEP,
  IPV6_NET_TO_MEDIA_STEP,
} from "./arp.ts";
import { BRIDGE_STEP } from "./bridge.ts";
import { CDP_STEP } from "./cdp.ts";
import { CISCO_MEMBERSHIP_STEP, CISCO_TRUNKS_STEP, CISCO_VLANS_STEP } from "./cisco-vlans.ts";
import { ENTITY_STEP } from "./entity.ts";
import { FORWARDING_STEP, Q_FORWARDING_STEP, VLAN_BRIDGE_STEP, VLAN_FORWARDING_STEP } from "./forwarding.ts";
import { IF_TABLE_STEP, IF_X_TABLE_STEP } from "./interfaces.ts";
import {
  LLDP_LOCAL_PORTS_STEP,
  LLDP_LOCAL_STEP,
  LLDP_REMOTE_ADDRESSES_STEP,
  LLDP_REMOTE_STEP,
  LLDP_V2_LOCAL_PORTS_STEP,
  LLDP_V2_LOCAL_STEP,
  LLDP_V2_REMOTE_ADDRESSES_STEP,
  LLDP_V2_REMOTE_STEP,
} from "./lldp-steps.ts";
import type { ReadStep } from "./reads.ts";
import { AGGREGATION_PORTS_STEP, IF_STACK_STEP } from "./stacking.ts";
import { SYSTEM_STEP } from "./system.ts";
import { PORT_VLAN_STEP, VLAN_CURRENT_STEP, VLAN_STATIC_STEP } from "./vlans.ts";

/** Each step comes after the steps that its `isNeeded` and `vlanContexts` read. */
const STEPS = [
  SYSTEM_STEP,
  ENTITY_STEP,
  IF_TABLE_STEP,
  IF_X_TABLE_STEP,
  IF_STACK_STEP,
  AGGREGATION_PORTS_STEP,
  IP_ADDRESS_TABLE_STEP,
  IP_ADDR_TABLE_STEP,
  IP_ADDR_TABLE_ADDRESSES_STEP,
  IPV6_ADDR_TABLE_STEP,
  BRIDGE_STEP,
  LLDP_LOCAL_STEP,
  LLDP_REMOTE_STEP,
  LLDP_REMOTE_ADDRESSES_STEP,
  LLDP_LOCAL_PORTS_STEP,
  LLDP_V2_LOCAL_STEP,
  LLDP_V2_REMOTE_STEP,
  LLDP_V2_REMOTE_ADDRESSES_STEP,
  LLDP_V2_LOCAL_PORTS_STEP,
  CDP_STEP,
  VLAN_CURRENT_STEP,
  VLAN_STATIC_STEP,
  PORT_VLAN_STEP,
  CISCO_VLANS_STEP,
  CISCO_TRUNKS_STEP,
  CISCO_MEMBERSHIP_STEP,
  Q_FORWARDING_STEP,
  FORWARDING_STEP,
  VLAN_FORWARDING_STEP,
  VLAN_BRIDGE_STEP,
  IP_NET_TO_PHYSICAL_STEP,
  IP_NET_TO_MEDIA_STEP,
  IP_NET_TO_MEDIA_ADDRESSES_STEP,
  IPV6_NET_TO_MEDIA_STEP,
] as const satisfies readonly ReadStep[];

export const READING_PLAN: readonly ReadStep[] = STEPS;

/** Steps that read a separate table and count its rows. */
export type RowStep = Exclude<
  Extract<(typeof STEPS)[number], { readonly columns: object }>,
  { readonly rowsIn: string }
>["name"];
