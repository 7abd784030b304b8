// IANAifType-MIB numbers for kernel interface attributes. Pure; independent of state that can change while the
// interface stays the same (MTU, status, addresses).

/** Type attributes in /sys/class/net/<name>. */
interface InterfaceAttributes {
  /** ARPHRD_… of include/uapi/linux/if_arp.h, from the file `type`. */
  hardwareType: number;
  /** DEVTYPE of the file `uevent`; null if the driver sets none. */
  deviceType: string | null;
  /** Names of the files and directories there. */
  entries: ReadonlySet<string>;
}

export const IF_TYPE = {
  other: 1,
  ethernetCsmacd: 6,
  fddi: 15,
  ppp: 23,
  softwareLoopback: 24,
  slip: 28,
  ieee80211: 71,
  hdlc: 118,
  tunnel: 131,
  l2vlan: 135,
  ieee1394: 144,
  ieee8023adLag: 161,
  infiniband: 199,
  bridge: 209,
  wwanPP: 243,
} as const;

/**
 * The most specific attribute wins: bridges, bonds and VLANs are all Ethernet by hardware type. Emulated Ethernet
 * (veth, tap, dummy, macvlan) is ethernetCsmacd, as SNMP agents report it; IP encapsulation, also of Ethernet, is
 * tunnel.
 */
export function interfaceType({ hardwareType, deviceType, entries }: InterfaceAttributes): number {
  if (hardwareType === ARPHRD_LOOPBACK) return IF_TYPE.softwareLoopback;
  if (entries.has("bridge")) return IF_TYPE.bridge;
  if (entries.has("bonding")) return IF_TYPE.ieee8023adLag;
  const byDevice = TYPE_BY_DEVICE.get(deviceType ?? "");
  if (byDevice !== undefined) return byDevice;
  if (entries.has("wireless") || entries.has("phy80211")) return IF_TYPE.ieee80211;
  // A tun device has no hardware; a tap device is Ethernet and has the file too.
  if (hardwareType === ARPHRD_NONE && entries.has("tun_flags")) return IF_TYPE.tunnel;
  return TYPE_BY_HARDWARE.get(hardwareType) ?? IF_TYPE.other;
}

const ARPHRD_LOOPBACK = 772;
const ARPHRD_NONE = 65_534;

const TYPE_BY_DEVICE: ReadonlyMap<string, number> = new Map([
  ["bridge", IF_TYPE.bridge],
  ["bond", IF_TYPE.ieee8023adLag],
  ["team", IF_TYPE.ieee8023adLag],
  ["vlan", IF_TYPE.l2vlan],
  ["wlan", IF_TYPE.ieee80211],
  ["wwan", IF_TYPE.wwanPP],
  ["ppp", IF_TYPE.ppp],
  ["wireguard", IF_TYPE.tunnel],
  ["vxlan", IF_TYPE.tunnel],
  ["geneve", IF_TYPE.tunnel],
  ["gtp", IF_TYPE.tunnel],
  ["bareudp", IF_TYPE.tunnel],
  ["l2tpeth", IF_TYPE.tunnel],
  ["ovpn", IF_TYPE.tunnel],
]);

const TYPE_BY_HARDWARE: ReadonlyMap<number, number> = new Map([
  [1, IF_TYPE.ethernetCsmacd], // ARPHRD_ETHER
  [24, IF_TYPE.ieee1394],
  [32, IF_TYPE.infiniband],
  [256, IF_TYPE.slip],
  [257, IF_TYPE.slip], // ARPHRD_CSLIP
  [258, IF_TYPE.slip], // ARPHRD_SLIP6
  [259, IF_TYPE.slip], // ARPHRD_CSLIP6
  [512, IF_TYPE.ppp],
  [513, IF_TYPE.hdlc],
  [768, IF_TYPE.tunnel], // ARPHRD_TUNNEL: IP in IP
  [769, IF_TYPE.tunnel], // ARPHRD_TUNNEL6
  [774, IF_TYPE.fddi],
  [776, IF_TYPE.tunnel], // ARPHRD_SIT: IPv6 in IPv4
  [778, IF_TYPE.tunnel], // ARPHRD_IPGRE
  [801, IF_TYPE.ieee80211],
  [802, IF_TYPE.ieee80211], // ARPHRD_IEEE80211_PRISM
  [803, IF_TYPE.ieee80211], // ARPHRD_IEEE80211_RADIOTAP
  [823, IF_TYPE.tunnel], // ARPHRD_IP6GRE
]);
