// Lab network definition: nodes, daemon configurations, and scripts for the kernel. Pure: returns strings only.

import type { ServedVlan } from "./bridge-mib.ts";

export type NodeName = "switch-a" | "switch-b" | "host" | "cdp-box" | "silent";
/** Port in the format `switch-a p3`. */
export type PortName = `${NodeName} ${string}`;

interface LabNode {
  readonly name: NodeName;
  /** Management address of its agent; null if the node has no management interface. */
  readonly address: string | null;
  /** Cabled ports, in addition to `eth0` of the management network. */
  readonly ports: readonly string[];
  readonly access: "community" | "user" | "none";
  readonly lldpd: readonly string[] | null;
  /** Whether its ports are members of a bridge `br0`. */
  readonly isSwitch: boolean;
}

export const COMMUNITY = "public";

/** SNMPv3 user of `host`, which has no community: SHA and AES-128. */
export const LAB_USER = { name: "auditor", authPassword: "authpass123", privPassword: "privpass123" } as const;

/** Namespace in which netledger runs. */
export const MANAGER = "manager";
export const MANAGER_ADDRESS = "10.98.0.1";
export const LAB_CIDR = "10.98.0.0/24";
/** Network on the same link, without hosts. */
export const SILENT_CIDR = "10.99.0.0/16";

/** Network of the hosts behind the switches. Never scanned. */
const CABLED_NETWORK = "10.98.1";

/** Domain of reverse DNS names. */
const DOMAIN = "lab.example";

/** Namespace that joins ports to each other. */
const PATCH_PANEL = "patch";
const FOLDER = "/run/lab";

const SWITCH = { ports: ["p1", "p2", "p3", "p4", "p5"], access: "community", isSwitch: true } as const;
const LLDP_ONLY: readonly string[] = [];
/** Also receives CDP; shows only LLDP neighbors on a port that has any. Sends one protocol only. */
const LLDP_BEFORE_CDP = ["-c", "-H", "17"];
/**
 * Shows all neighbors received on a port. CDP frames pass through bridges, so these may include neighbors other than
 * the one its cable connects to.
 */
const LLDP_AND_CDP = ["-c", "-H", "3"];
/** CDPv2, sent unconditionally, without LLDP. */
const CDP_ONLY = ["-ccccc", "-ll"];

export const NODES: readonly LabNode[] = [
  { name: "switch-a", address: "10.98.0.11", lldpd: LLDP_BEFORE_CDP, ...SWITCH },
  { name: "switch-b", address: "10.98.0.12", lldpd: LLDP_AND_CDP, ...SWITCH },
  { name: "host", address: "10.98.0.21", ports: ["eth1"], access: "user", lldpd: LLDP_ONLY, isSwitch: false },
  { name: "cdp-box", address: "10.98.0.22", ports: ["eth1"], access: "community", lldpd: CDP_ONLY, isSwitch: false },
  { name: "silent", address: null, ports: ["eth1"], access: "none", lldpd: null, isSwitch: false },
];

/** Links between the two switches without a patch panel. The second carries only link-local frames. */
export const TRUNKS: readonly string[] = ["p1", "p2"];
const SILENT_TRUNK = "p2";
export const FORWARDING_TRUNK = "p1";

/** The kernel numbers interfaces in creation order: lo, eth0, p3, p4, p5, and then these. */
const FIRST_TRUNK_IF_INDEX = 6;

/** Initial cabling. The silent host is detectable only by its cable. */
export const CABLES: ReadonlyArray<readonly [PortName, PortName]> = [
  ["host eth1", "switch-a p3"],
  ["cdp-box eth1", "switch-a p4"],
  ["silent eth1", "switch-b p3"],
];

/** Only switch-b serves VLANs. */
const VLANS: readonly ServedVlan[] = [
  { number: 1, name: "default", tagged: [], untagged: ["p1", "p2", "p3"] },
  { number: 20, name: "voice", tagged: ["p1", "p2"], untagged: ["p4"] },
  { number: 30, name: "cameras", tagged: ["p1"], untagged: ["p5"] },
];

export function node(name: NodeName): LabNode {
  return NODES.find((labNode) => labNode.name === name) as LabNode;
}

/** MAC address of an interface, the same in every lab. */
export function macOf(name: NodeName, port: string): string {
  const number = NODES.findIndex((labNode) => labNode.name === name) + 1;
  const suffix = port === "br0" ? 0xb0 : port === "eth0" ? 0xe0 : Number(port.slice(-1));
  return `00:1b:21:98:0${number}:${suffix.toString(16).padStart(2, "0")}`;
}

/** Reverse DNS name of a lab address; null for none. */
export function hostnameAt(address: string): string | null {
  const name = address === MANAGER_ADDRESS ? MANAGER : NODES.find((labNode) => labNode.address === address)?.name;
  return name === undefined ? null : `${name}.${DOMAIN}`;
}

/**
 * Script that builds the network in private namespaces, prints `up` and, when stdin is closed, kills all processes in
 * them and exits.
 */
export function networkScript(): string {
  const namespaces = [MANAGER, PATCH_PANEL, ...NODES.map(({ name }) => name)];
  return [
    "set -e",
    "mount -t tmpfs tmpfs /run",
    `mkdir -p /run/netns /run/lldpd ${FOLDER}`,
    // The lab's resolver, regardless of this machine's configuration and of the file's location.
    `echo nameserver ${MANAGER_ADDRESS} >${FOLDER}/resolv.conf; resolver=$(readlink -m /etc/resolv.conf); mkdir -p "$(dirname "$resolver")"; [ -e "$resolver" ] || : >"$resolver"; mount --bind ${FOLDER}/resolv.conf "$resolver"`,
    ...namespaces.map((name) => `mkdir -p ${FOLDER}/${name}; ip netns add ${name}`),
    // Announcements of link-local addresses take seconds, and would enter the forwarding tables one by one.
    ...namespaces.map(
      (name) =>
        `ip netns exec ${name} sh -c 'echo 1 >/proc/sys/net/ipv6/conf/all/disable_ipv6; echo 1 >/proc/sys/net/ipv6/conf/default/disable_ipv6'`,
    ),
    batch(MANAGER, [
      "link set lo up",
      "link add br-mgmt type bridge mcast_snooping 0",
      "link set br-mgmt address 00:1b:21:98:00:01 up",
      `address add ${MANAGER_ADDRESS}/24 dev br-mgmt`,
      `route add ${SILENT_CIDR} dev br-mgmt`,
    ]),
    ...NODES.flatMap(nodeLines),
    ...TRUNKS.flatMap((port) => [
      batch("switch-a", [
        `link add ${port} address ${macOf("switch-a", port)} type veth peer name ${port} address ${macOf("switch-b", port)} netns switch-b`,
      ]),
    ]),
    ...NODES.filter(({ isSwitch }) => isSwitch).flatMap(bridgeLines),
    ...CABLES.map(([from, to]) => plugScript(from, to)),
    "echo up",
    "exec cat >/dev/null",
  ].join("\n");
}

/** Joins two ports: their links come up, and frames pass both ways, LLDP included. */
export function plugScript(from: PortName, to: PortName): string {
  const cable = cableName(from);
  return batch(PATCH_PANEL, [
    `link add ${cable} type bridge group_fwd_mask 0x4000 mcast_snooping 0`,
    `link set ${panelPort(from)} master ${cable} up`,
    `link set ${panelPort(to)} master ${cable} up`,
    `link set ${cable} up`,
  ]);
}

/** Unplugs both ports: their links go down. */
export function unplugScript(from: PortName, to: PortName): string {
  return batch(PATCH_PANEL, [
    `link set ${panelPort(from)} nomaster down`,
    `link set ${panelPort(to)} nomaster down`,
    `link delete ${cableName(from)}`,
  ]);
}

/** Daemon config files by path. */
export function daemonFiles(labNode: LabNode, bunPath: string): Record<string, string> {
  const folder = `${FOLDER}/${labNode.name}`;
  return {
    ...(labNode.access === "none" ? {} : { [`${folder}/snmpd.conf`]: snmpdConfig(labNode) }),
    ...Object.fromEntries(
      passPersistEntries(labNode).map(({ program, argument }) => [
        `${folder}/${program}`,
        `#!/bin/sh\nexec "${bunPath}" "${import.meta.dir}/${program}.ts" ${argument}\n`,
      ]),
    ),
    ...(labNode.name === "switch-b" ? { [`${folder}/vlans.json`]: JSON.stringify(VLANS) } : {}),
    ...(labNode.lldpd === null ? {} : { [`${folder}/lldpd.conf`]: lldpdConfig(labNode) }),
  };
}

export function daemonCommand(labNode: LabNode, daemon: "snmpd" | "lldpd"): string[] {
  const folder = `${FOLDER}/${labNode.name}`;
  if (daemon === "snmpd") {
    const options = `-f -C -c ${folder}/snmpd.conf -I -smux -Lf ${folder}/snmpd.log`;
    return `env MIBS= SNMP_PERSISTENT_DIR=${folder}/state snmpd ${options}`.split(" ");
  }
  const agentx = labNode.access === "none" || labNode.name === "cdp-box" ? [] : ["-x", "-X", `unix:${folder}/agentx`];
  const description = ["-S", `lab ${labNode.name}`, "-P", "Lab"];
  const files = `-u ${folder}/lldpd.sock -O ${folder}/lldpd.conf`.split(" ");
  const interfaces = ["-I", "*,!eth0,!br0,!lo", "-C", labNode.ports[0] ?? ""];
  return ["lldpd", "-dd", ...agentx, ...(labNode.lldpd ?? []), "-k", ...description, ...interfaces, ...files];
}

function nodeLines(labNode: LabNode): string[] {
  const { name, address } = labNode;
  const patched = labNode.ports.filter((port) => !(labNode.isSwitch && TRUNKS.includes(port)));
  return [
    batch(name, ["link set lo up"]),
    ...(address === null
      ? []
      : [
          batch(name, [
            `link add eth0 address ${macOf(name, "eth0")} type veth peer name m-${name} netns ${MANAGER}`,
            "link set eth0 up",
            `address add ${address}/24 dev eth0`,
          ]),
          batch(MANAGER, [`link set m-${name} master br-mgmt up`]),
        ]),
    batch(
      name,
      patched.map(
        (port) =>
          `link add ${port} address ${macOf(name, port)} type veth peer name ${panelPort(`${name} ${port}`)} netns ${PATCH_PANEL}`,
      ),
    ),
    ...(labNode.isSwitch
      ? []
      : [
          batch(
            name,
            patched.flatMap((port) => [
              `link set ${port} up`,
              `address add ${CABLED_NETWORK}.${NODES.indexOf(labNode) + 1}/24 dev ${port}`,
            ]),
          ),
          notifyCommand(name),
        ]),
  ];
}

/** Re-applies the MAC addresses so that the interfaces send gratuitous ARP (ip-sysctl: arp_notify). */
export function announceScript(name: NodeName): string {
  return batch(
    name,
    node(name).ports.map((port) => `link set ${port} address ${macOf(name, port)}`),
  );
}

function notifyCommand(name: NodeName): string {
  return `ip netns exec ${name} sh -c 'echo 1 >/proc/sys/net/ipv4/conf/all/arp_notify'`;
}

/** IPv6 only on the management interface, without duplicate address detection. */
function bridgeLines(labNode: LabNode): string[] {
  const { name } = labNode;
  const last = labNode.address?.split(".").at(-1);
  return [
    batch(name, [
      "link add br0 type bridge ageing_time 100000 mcast_snooping 0",
      `link set br0 address ${macOf(name, "br0")} up`,
      ...labNode.ports.map((port) => `link set ${port} master br0 up`),
      // The state STP would converge to, but immediate and deterministic.
      `link set ${SILENT_TRUNK} type bridge_slave learning off flood off mcast_flood off bcast_flood off`,
      "link set eth0 addrgenmode none",
    ]),
    `ip netns exec ${name} sh -c 'echo 0 >/proc/sys/net/ipv6/conf/eth0/disable_ipv6'`,
    batch(name, [`address add fd98::${last}/64 dev eth0 nodad`]),
  ];
}

function snmpdConfig(labNode: LabNode): string {
  const { name, address, access, isSwitch, lldpd } = labNode;
  return [
    `agentAddress udp:${address}:161`,
    "dontLogTCPWrappersConnects yes",
    `sysName ${name}`,
    `sysDescr Lab ${isSwitch ? "switch" : "host"}`,
    "sysLocation Lab",
    "sysContact lab@example.net",
    "sysObjectID 1.3.6.1.4.1.8072.3.2.10",
    ...(access === "community"
      ? [`rocommunity ${COMMUNITY}`]
      : [
          `createUser ${LAB_USER.name} SHA "${LAB_USER.authPassword}" AES "${LAB_USER.privPassword}"`,
          `rouser ${LAB_USER.name} priv`,
        ]),
    ...(lldpd !== null && name !== "cdp-box" ? ["master agentx", `agentXSocket unix:${FOLDER}/${name}/agentx`] : []),
    ...passPersistEntries(labNode).map(({ oid, program }) => `pass_persist .${oid} ${FOLDER}/${name}/${program}`),
    ...(isSwitch
      ? [
          ...entityLines(name),
          ...TRUNKS.map(
            (port, index) =>
              `override .1.3.6.1.2.1.31.1.1.1.18.${FIRST_TRUNK_IF_INDEX + index} octet_str "trunk ${port}"`,
          ),
        ]
      : []),
    "",
  ].join("\n");
}

/** Parts of the MIB tree that snmpd passes to our programs. */
function passPersistEntries({
  name,
  isSwitch,
}: LabNode): Array<{ readonly oid: string; readonly program: string; readonly argument: string }> {
  if (!isSwitch) return [];
  const bridge = {
    oid: "1.3.6.1.2.1.17",
    program: "bridge-mib",
    argument: name === "switch-b" ? `${FOLDER}/${name}/vlans.json` : "",
  };
  return name === "switch-a"
    ? [bridge, { oid: "1.3.6.1.4.1.9.9.23.1.2", program: "cdp-mib", argument: `${FOLDER}/${name}/lldpd.sock` }]
    : [bridge];
}

/** A chassis (RFC 6933): entPhysicalDescr, class chassis(3), position, serial number, manufacturer, model. */
function entityLines(name: string): string[] {
  const column = (number: number, type: string, value: string | number) =>
    `override .1.3.6.1.2.1.47.1.1.1.1.${number}.1 ${type} ${value}`;
  return [
    column(2, "octet_str", "chassis"),
    column(4, "integer", 0),
    column(5, "integer", 3),
    column(6, "integer", -1),
    column(11, "octet_str", `LAB-${name.toUpperCase()}`),
    column(12, "octet_str", "Example"),
    column(13, "octet_str", "EX-5"),
  ];
}

function lldpdConfig({ name }: LabNode): string {
  return [
    "configure lldp tx-interval 1",
    "configure lldp tx-hold 100",
    `configure system hostname ${name}`,
    "configure lldp portidsubtype ifname",
    "configure system ip management pattern 10.98.0.*",
    "",
  ].join("\n");
}

function batch(namespace: string, lines: readonly string[]): string {
  return `ip -n ${namespace} -batch - <<'LINES'\n${lines.join("\n")}\nLINES`;
}

/** The patch panel's side of a port. */
function panelPort(port: PortName): string {
  const [name = "", portName = ""] = port.split(" ");
  return `${name === "switch-a" ? "a" : name === "switch-b" ? "b" : name}-${portName}`;
}

function cableName(end: PortName): string {
  return `c-${panelPort(end)}`;
}
