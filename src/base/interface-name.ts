// Interface names in full and abbreviated form: `GigabitEthernet1/0/7` and `Gi1/0/7` are one name. Text only.

/** Vendor names of interface types by their common abbreviation. */
const TYPES: Readonly<Record<string, readonly string[]>> = {
  eth: ["ethernet", "et"],
  fa: ["fastethernet"],
  gi: ["gigabitethernet", "gigabit", "gige", "gig"],
  tw: ["twogigabitethernet"],
  fiv: ["fivegigabitethernet"],
  te: ["tengigabitethernet", "tengige", "tengig", "ten"],
  twe: ["twentyfivegigabitethernet", "twentyfivegige"],
  fo: ["fortygigabitethernet", "fortygige"],
  fif: ["fiftygigabitethernet", "fiftygige"],
  hu: ["hundredgigabitethernet", "hundredgige"],
  fh: ["fourhundredgigabitethernet", "fourhundredgige"],
  po: ["port-channel", "portchannel"],
  be: ["bundle-ether"],
  vl: ["vlan"],
  lo: ["loopback"],
  tu: ["tunnel"],
  se: ["serial"],
  mgmt: ["management", "ma"],
};

/** Bridges and host-only networks of container engines and hypervisors. */
const LOCAL_BRIDGE = new RegExp(
  [
    String.raw`docker(?:\d|_gwbridge)|br-[\da-f]{12}$|podman\d|nerdctl\d|cni|flannel|cali|veth`,
    String.raw`virbr\d|lxcbr\d|lxdbr\d|incusbr\d|mpqemubr\d|vboxnet\d|vmnet[18]$|virtualbox host-only`,
    String.raw`vmware (?:network adapter|virtual ethernet adapter for) vmnet[18]|vethernet \((?:default switch|nat|wsl)`,
  ]
    .map((names) => `^(?:${names})`)
    .join("|"),
  "i",
);

/** Whether an interface is a bridge within one machine: its addresses are often the same on every machine. */
export function isLocalBridge(name: string): boolean {
  return LOCAL_BRIDGE.test(name);
}

/** Whether an interface is the gateway of a VLAN on a router or switch: `Vlan20`, `Vlanif20`, `irb.20`, `BVI20`. */
export function isVlanGateway(name: string): boolean {
  return /^(?:vl|vlan|vlanif|vlan-interface|irb|bvi|bdi|vbdif|ve)[-. ]?\d+$/i.test(name);
}

const SHORT_BY_NAME: ReadonlyMap<string, string> = new Map(
  Object.entries(TYPES).flatMap(([short, names]) => [short, ...names].map((name) => [name, short] as const)),
);
const NUMBERED = /^([a-z]+(?:-[a-z]+)*)(\d\S*)$/;

/** Parsed interface name: the abbreviated name and its number. */
interface NumberedInterface {
  /** `gi1/0/7` */
  readonly name: string;
  /** `1/0/7` */
  readonly number: string;
}

/**
 * Parses a name of a known type and a number, with or without a space between them.
 * @param text in lower case
 * @returns null for any other name
 */
export function numberedInterface(text: string): NumberedInterface | null {
  const [, type, number] = NUMBERED.exec(withoutSpace(text)) ?? [];
  const short = SHORT_BY_NAME.get(type ?? "");
  return short === undefined || number === undefined ? null : { name: short + number, number };
}

/**
 * Abbreviated prefixes for a prefix in full or abbreviated form: `gigab` → `gi`, `g1/0` → `gi1/0`, `t1` → `tw1`, `te1`,
 * `twe1` and `tu1`.
 * @param text in lower case
 * @returns empty if no type has this prefix
 */
export function interfacePrefixes(text: string): string[] {
  const [, typePrefix, number] = /^([a-z]+(?:-[a-z]*)*)(\d\S*)?$/.exec(withoutSpace(text)) ?? [];
  if (typePrefix === undefined) return [];
  const exact = SHORT_BY_NAME.get(typePrefix);
  // `te1` is not a prefix of a longer type name: with a number, the type is complete.
  if (number !== undefined && exact !== undefined) return [exact + number];
  const shorts = new Set<string>();
  for (const [name, short] of SHORT_BY_NAME) if (name.startsWith(typePrefix)) shorts.add(short);
  return [...shorts].map((short) => short + (number ?? ""));
}

/** `gi 1/0/7` as `gi1/0/7`. */
function withoutSpace(text: string): string {
  return text.replace(/^([a-z-]+)\s+(?=\d)/, "$1");
}

/** Types of link aggregates by vendor: `Po1`, `ae0`, `bond0`, `Trk2`, `Eth-Trunk1`, `Bridge-Aggregation10`. */
const AGGREGATE =
  /^(?:po|port-?channel|bundle-ether|be|ae|agg|lag|lagg|bond|team|trk|trunk|eth-trunk|bagg|bridge-aggregation)[-_ ]?\d+$/i;

/** Whether an interface is a link aggregate, by its name alone. */
export function isAggregateName(name: string): boolean {
  return AGGREGATE.test(name);
}

/** Name of the interface that a unit or subinterface belongs to: `ge-0/0/47` of `ge-0/0/47.0`; null for others. */
export function unitOf(name: string): string | null {
  return /^(.*[a-z].*)\.\d+$/i.exec(name)?.[1] ?? null;
}

/** Many devices report aggregates, bridges and VLAN interfaces as Ethernet. */
const LOGICAL_TYPES: ReadonlySet<string> = new Set(
  "vlan vl vlanif svi ve po port-channel portchannel be bundle-ether ae lag trk bond team lo loopback tu tunnel tun tap gre gr ip sit wg br bridge bdi bvi irb null nu dummy ifb vxlan nve vtep vmbr veth virbr docker cni flannel cali ppp pppoe cpu dsc stackport stacksub".split(
    " ",
  ),
);

/** Whether a type, in lower case and without the number, is not one of ports: `vl`, `br`, `bond`. */
export function isLogicalType(type: string): boolean {
  return LOGICAL_TYPES.has(type);
}

/** Whether an interface is not a port, by its name alone: `vmbr0`, `veth12ab34c`. */
export function isLogicalName(name: string): boolean {
  const type = /^[a-z]+(?:-[a-z]+)*/.exec(name.toLowerCase())?.[0] ?? "";
  return isLogicalType(type) || /^(?:veth|cali|tap|fwpr|fwbr|fwln|br-|ovs|vnet)/i.test(name);
}
