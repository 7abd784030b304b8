// Interface type names by number in IANA's registry (IANAifType-MIB): a common name and the registered one.

/** By number: common name and registered name. */
export const IF_TYPES: Readonly<Record<number, readonly [word: string, registered: string]>> = {
  1: ["Other", "other"],
  6: ["Ethernet", "ethernetCsmacd"],
  18: ["T1 or E1", "ds1"],
  22: ["Serial", "propPointToPointSerial"],
  23: ["PPP", "ppp"],
  24: ["Loopback", "softwareLoopback"],
  30: ["T3 or E3", "ds3"],
  32: ["Frame Relay", "frameRelay"],
  33: ["Serial console", "rs232"],
  37: ["ATM", "atm"],
  39: ["SONET or SDH", "sonet"],
  53: ["Virtual", "propVirtual"],
  54: ["Aggregate", "propMultiplexor"],
  62: ["Fast Ethernet", "fastEther"],
  69: ["Fast Ethernet, fiber", "fastEtherFX"],
  71: ["Wi-Fi", "ieee80211"],
  94: ["ADSL", "adsl"],
  97: ["VDSL", "vdsl"],
  108: ["Multilink PPP", "pppMultilinkBundle"],
  117: ["Gigabit Ethernet", "gigabitEthernet"],
  127: ["Cable, MAC layer", "docsCableMaclayer"],
  128: ["Cable, downstream", "docsCableDownstream"],
  129: ["Cable, upstream", "docsCableUpstream"],
  131: ["Tunnel", "tunnel"],
  134: ["ATM subinterface", "atmSubInterface"],
  135: ["VLAN, layer 2", "l2vlan"],
  136: ["VLAN, routed", "l3ipvlan"],
  142: ["IP forwarding", "ipForward"],
  150: ["MPLS tunnel", "mplsTunnel"],
  160: ["USB", "usb"],
  161: ["Link aggregation", "ieee8023adLag"],
  166: ["MPLS", "mpls"],
  169: ["SHDSL", "shdsl"],
  188: ["Radio, MAC layer", "radioMAC"],
  195: ["Optical channel", "opticalChannel"],
  196: ["Optical transport", "opticalTransport"],
  199: ["InfiniBand", "infiniband"],
  209: ["Bridge", "bridge"],
  237: ["WiMAX", "ieee80216WMAN"],
  238: ["ADSL2+", "adsl2plus"],
  243: ["Mobile network (3GPP)", "wwanPP"],
  244: ["Mobile network (3GPP2)", "wwanPP2"],
  246: ["Pseudowire", "ifPwType"],
  250: ["GPON", "gpon"],
  251: ["VDSL2", "vdsl2"],
  258: ["Virtual network card", "vmwareVirtualNic"],
  272: ["Team of network cards", "vmwareNicTeam"],
};

/** `Ethernet`, with `ethernetCsmacd, 6` as detail; an unlisted type as its number. */
export function ifTypeLabel(type: number): { readonly word: string; readonly detail: string } {
  const entry = IF_TYPES[type];
  return entry === undefined
    ? { word: String(type), detail: "IANAifType" }
    : { word: entry[0], detail: `${entry[1]}, ${type}` };
}
