// Grouping of a VLAN's interfaces by device. Pure.

/** Interface data required for the grouping. */
export interface VlanPort {
  readonly id: string;
  readonly host_id: string;
  readonly if_index: number;
  readonly native_vlan_id?: string | null;
  readonly oper_status: string;
}

/** Device with its interfaces in the VLAN, in ifIndex order. */
export interface VlanDevice<Port> {
  readonly hostId: string;
  readonly untagged: readonly Port[];
  readonly tagged: readonly Port[];
  /** Number of interfaces that are up, tagged and untagged. */
  readonly up: number;
}

/** Devices with the most interfaces first. */
export function vlanDevices<Port extends VlanPort>(vlanId: string, ports: readonly Port[]): VlanDevice<Port>[] {
  const byHost = Map.groupBy(ports, ({ host_id }) => host_id);
  return [...byHost]
    .map(([hostId, hostPorts]) => {
      const sorted = hostPorts.toSorted((a, b) => a.if_index - b.if_index);
      return {
        hostId,
        untagged: sorted.filter(({ native_vlan_id }) => native_vlan_id === vlanId),
        tagged: sorted.filter(({ native_vlan_id }) => native_vlan_id !== vlanId),
        up: hostPorts.filter(({ oper_status }) => oper_status === "Up").length,
      };
    })
    .sort((a, b) => b.untagged.length + b.tagged.length - a.untagged.length - a.tagged.length);
}
