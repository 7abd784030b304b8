// Interface in API format, for measurements with many interfaces.

/** An interface with every field that a scan fills, distinct per host and index. About 840 bytes in a response. */
export function fullInterface(host: number, index: number) {
  const mac = [0, 0x1b, host >> 16, host >> 8, host, index]
    .map((byte) => (byte & 255).toString(16).padStart(2, "0"))
    .join(":");
  return {
    if_index: index,
    if_descr: `GigabitEthernet1/0/${index}`,
    if_name: `Gi1/0/${index}`,
    if_alias: `uplink of rack ${index}`,
    if_type: 6,
    speed_bps: 1_000_000_000,
    admin_status: "Up" as const,
    oper_status: "Up" as const,
    mac_address: mac,
    lldp_chassis_id: { subtype: "MacAddress" as const, value: mac },
    lldp_port_id: { subtype: "InterfaceName" as const, value: `Gi0/${index}` },
    lldp_sys_name: `core-${host % 16}.example.net`,
    lldp_port_desc: `GigabitEthernet0/${index}`,
  };
}
