// What the lab's network is: its nodes, what their daemons are told and how the kernel is brought to have it. Texts
// only; starts nothing.

import type { ServedVlan } from "./bridge-mib.ts";

export type NodeName = "switch-a" | "switch-b" | "host" | "cdp-box" | "silent";
/** `switch-a p3`. */
export type PortName = `${NodeName} ${string}`;

interface LabNode {
  readonly name: NodeName;
  /** On the management network, where its agent answers; null for who is not on it. */
  readonly address: string | null;
  /** The ports that cables go into, beside `eth0` of the management network. */
  readonly ports: readonly string[];
  readonly access: "community" | "user" | "none";
  readonly lldpd: readonly string[] | null;
  /** Whether its ports are those of a bridge `br0`. */
  readonly isSwitch: boolean;
}

export const COMMUNITY = "public";

/** The user of `host`, which knows no community: SHA and AES-128. */
export const LAB_USER = { name: "auditor", authPassword: "authpass123", privPassword: "privpass123" } as const;

/** Where netledger runs. */
export const MANAGER = "manager";
export const MANAGER_ADDRESS = "10.98.0.1";
export const LAB_CIDR = "10.98.0.0/24";
/** On the same link, and nobody there. */
export const SILENT_CIDR = "10.99.0.0/16";

/** Of those behind the switches. Nobody asks there. */
const CABLED_NETWORK = "10.98.1";

/** Names by reverse DNS are below this. */
const DOMAIN = "lab.example";

/** Where ports are joined to each other. */
const PATCH_PANEL = "patch";
const FOLDER = "/run/lab";

const SWITCH_PORTS = ["p1", "p2", "p3", "p4", "p5"];
const LLDP_ALONE: readonly string[] = [];
/** Hears CDP as well, and shows of each port whom it hears by LLDP where there is one. Speaks one protocol only. */
const LLDP_BEFORE_CDP = ["-c", "-H", "17"];
/**
 * Shows everybody that is heard on a port: CDP goes through bridges, so that is not only who is at the other end of its
 * cable.
 */
const LLDP_AND_CDP = ["-c", "-H", "3"];
/** CDPv2 without being asked, and no LLDP. */
const CDP_ALONE = ["-ccccc", "-ll"];

export const NODES: readonly LabNode[] = [
  {
    name: "switch-a",
    address: "10.98.0.11",
    ports: SWITCH_PORTS,
    access: "community",
    lldpd: LLDP_BEFORE_CDP,
    isSwitch: true,
  },
  {
    name: "switch-b",
    address: "10.98.0.12",
    ports: SWITCH_PORTS,
    access: "community",
    lldpd: LLDP_AND_CDP,
    isSwitch: true,
  },
  { name: "host", address: "10.98.0.21", ports: ["eth1"], access: "user", lldpd: LLDP_ALONE, isSwitch: false },
  { name: "cdp-box", address: "10.98.0.22", ports: ["eth1"], access: "community", lldpd: CDP_ALONE, isSwitch: false },
  { name: "silent", address: null, ports: ["eth1"], access: "none", lldpd: null, isSwitch: false },
];

/**
 * Links of the two switches that no patch panel stands between; of the second nothing but what is said on the link
 * itself goes through.
 */
export const TRUNKS: readonly string[] = ["p1", "p2"];
const TRUNK_KEPT_QUIET = "p2";
export const TRUNK_OF_FRAMES = "p1";

/** The kernel counts interfaces as they are made: lo, eth0, p3, p4, p5, and then these. */
const FIRST_TRUNK_IF_INDEX = 6;

/** At the start. The silent host's is the only sign of it. */
export const CABLES: ReadonlyArray<readonly [PortName, PortName]> = [
  ["host eth1", "switch-a p3"],
  ["cdp-box eth1", "switch-a p4"],
  ["silent eth1", "switch-b p3"],
];

/** Only switch-b speaks of VLANs. */
const VLANS: readonly ServedVlan[] = [
  { number: 1, name: "default", tagged: [], untagged: ["p1", "p2", "p3"] },
  { number: 20, name: "voice", tagged: ["p1", "p2"], untagged: ["p4"] },
  { number: 30, name: "cameras", tagged: ["p1"], untagged: ["p5"] },
];

export function node(name: NodeName): LabNode {
  return NODES.find((each) => each.name === name) as LabNode;
}

/** Each interface has an address of its own that is the same in every lab; `br0` that of the node. */
export function macOf(name: NodeName, port: string): string {
  const number = NODES.findIndex((each) => each.name === name) + 1;
  const place = port === "br0" ? 0xb0 : port === "eth0" ? 0xe0 : Number(port.slice(-1));
  return `00:1b:21:98:0${number}:${place.toString(16).padStart(2, "0")}`;
}

/** What reverse DNS says in the lab: the host name of an address; null for an address without one. */
export function hostnameAt(address: string): string | null {
  const name = address === MANAGER_ADDRESS ? MANAGER : NODES.find((each) => each.address === address)?.name;
  return name === undefined ? null : `${name}.${DOMAIN}`;
}

/**
 * A script that makes the network in namespaces that nobody else sees, says `up`, and ends, and with it all that runs
 * there, when its standard input does.
 */
export function networkScript(): string {
  const namespaces = [MANAGER, PATCH_PANEL, ...NODES.map(({ name }) => name)];
  return [
    "set -e",
    "mount -t tmpfs tmpfs /run",
    `mkdir -p /run/netns /run/lldpd ${FOLDER}`,
    // The resolver of whoever asks is ours, whichever this machine has, and wherever the file lies.
    `echo nameserver ${MANAGER_ADDRESS} >${FOLDER}/resolv.conf; resolver=$(readlink -m /etc/resolv.conf); mkdir -p "$(dirname "$resolver")"; [ -e "$resolver" ] || : >"$resolver"; mount --bind ${FOLDER}/resolv.conf "$resolver"`,
    ...namespaces.map((name) => `mkdir -p ${FOLDER}/${name}; ip netns add ${name}`),
    // Addresses that interfaces give themselves are announced for seconds, and would come into the forwarding tables
    // one by one.
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
    ...CABLES.map(([one, other]) => plugScript(one, other)),
    "echo up",
    "exec cat >/dev/null",
  ].join("\n");
}

/** Joins two ports: their links come up, and what one sends the other gets, LLDP included. */
export function plugScript(one: PortName, other: PortName): string {
  const cable = cableName(one);
  return batch(PATCH_PANEL, [
    `link add ${cable} type bridge group_fwd_mask 0x4000 mcast_snooping 0`,
    `link set ${socket(one)} master ${cable} up`,
    `link set ${socket(other)} master ${cable} up`,
    `link set ${cable} up`,
  ]);
}

/** Takes the cable out of both ports: their links go down. */
export function unplugScript(one: PortName, other: PortName): string {
  return batch(PATCH_PANEL, [
    `link set ${socket(one)} nomaster down`,
    `link set ${socket(other)} nomaster down`,
    `link delete ${cableName(one)}`,
  ]);
}

/** The daemons' files, by their paths. */
export function daemonFiles(each: LabNode, bunPath: string): Record<string, string> {
  const folder = `${FOLDER}/${each.name}`;
  return {
    ...(each.access === "none" ? {} : { [`${folder}/snmpd.conf`]: snmpdConfig(each) }),
    ...Object.fromEntries(
      passedTo(each).map(({ program, argument }) => [
        `${folder}/${program}`,
        `#!/bin/sh\nexec "${bunPath}" "${import.meta.dir}/${program}.ts" ${argument}\n`,
      ]),
    ),
    ...(each.name === "switch-b" ? { [`${folder}/vlans.json`]: JSON.stringify(VLANS) } : {}),
    ...(each.lldpd === null ? {} : { [`${folder}/lldpd.conf`]: lldpdConfig(each) }),
  };
}

export function daemonCommand(each: LabNode, daemon: "snmpd" | "lldpd"): string[] {
  const folder = `${FOLDER}/${each.name}`;
  if (daemon === "snmpd")
    return [
      "env",
      "MIBS=",
      `SNMP_PERSISTENT_DIR=${folder}/kept`,
      "snmpd",
      "-f",
      "-C",
      "-c",
      `${folder}/snmpd.conf`,
      "-I",
      "-smux",
      "-Lf",
      `${folder}/snmpd.log`,
    ];
  const agentx = each.access === "none" || each.name === "cdp-box" ? [] : ["-x", "-X", `unix:${folder}/agentx`];
  const [first] = each.ports;
  return [
    "lldpd",
    "-dd",
    ...agentx,
    ...(each.lldpd ?? []),
    "-k",
    "-S",
    `${each.name} of the lab`,
    "-P",
    "Lab",
    "-I",
    "*,!eth0,!br0,!lo",
    "-C",
    first ?? "",
    "-u",
    `${folder}/lldpd.sock`,
    "-O",
    `${folder}/lldpd.conf`,
  ];
}

function nodeLines(each: LabNode): string[] {
  const { name, address } = each;
  const patched = each.ports.filter((port) => !(each.isSwitch && TRUNKS.includes(port)));
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
          `link add ${port} address ${macOf(name, port)} type veth peer name ${socket(`${name} ${port}`)} netns ${PATCH_PANEL}`,
      ),
    ),
    ...(each.isSwitch
      ? []
      : [
          batch(
            name,
            patched.flatMap((port) => [
              `link set ${port} up`,
              `address add ${CABLED_NETWORK}.${NODES.indexOf(each) + 1}/24 dev ${port}`,
            ]),
          ),
          notifying(name),
        ]),
  ];
}

/** An interface that is given its address (once more) says so to everybody on its link (ip-sysctl: arp_notify). */
export function speakScript(name: NodeName): string {
  return batch(
    name,
    node(name).ports.map((port) => `link set ${port} address ${macOf(name, port)}`),
  );
}

function notifying(name: NodeName): string {
  return `ip netns exec ${name} sh -c 'echo 1 >/proc/sys/net/ipv4/conf/all/arp_notify'`;
}

/** An address of version 6 on the management interface alone, without its being asked for first. */
function bridgeLines(each: LabNode): string[] {
  const { name } = each;
  const last = each.address?.split(".").at(-1);
  return [
    batch(name, [
      "link add br0 type bridge ageing_time 100000 mcast_snooping 0",
      `link set br0 address ${macOf(name, "br0")} up`,
      ...each.ports.map((port) => `link set ${port} master br0 up`),
      // What spanning tree would do, at once and in the same way every time.
      `link set ${TRUNK_KEPT_QUIET} type bridge_slave learning off flood off mcast_flood off bcast_flood off`,
      "link set eth0 addrgenmode none",
    ]),
    `ip netns exec ${name} sh -c 'echo 0 >/proc/sys/net/ipv6/conf/eth0/disable_ipv6'`,
    batch(name, [`address add fd98::${last}/64 dev eth0 nodad`]),
  ];
}

function snmpdConfig(each: LabNode): string {
  const { name, address, access, isSwitch, lldpd } = each;
  return [
    `agentAddress udp:${address}:161`,
    "dontLogTCPWrappersConnects yes",
    `sysName ${name}`,
    `sysDescr ${isSwitch ? "A switch" : "A machine"} of the lab`,
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
    ...passedTo(each).map(({ oid, program }) => `pass_persist .${oid} ${FOLDER}/${name}/${program}`),
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

/** What snmpd has a program of ours answer. */
function passedTo({
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

/** A chassis (RFC 6933): descr, class chassis(3), position, serial number, maker, model. */
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
function socket(port: PortName): string {
  const [name = "", own = ""] = port.split(" ");
  return `${name === "switch-a" ? "a" : name === "switch-b" ? "b" : name}-${own}`;
}

function cableName(end: PortName): string {
  return `c-${socket(end)}`;
}
