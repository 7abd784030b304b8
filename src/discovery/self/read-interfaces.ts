// Reader for the network interfaces in /sys/class/net (Documentation/ABI/testing/sysfs-class-net). Does not filter:
// every interface counts.

import { join } from "node:path";
import { parseMac } from "../../base/mac.ts";
import type { AdminStatus, OperStatus } from "../../resources/if-entries/vocabulary.ts";
import { IF_TYPE, interfaceType } from "./interface-type.ts";
import { listFolder, readAttribute } from "./kernel-files.ts";
import type { MachineInterface } from "./machine.ts";

/** All interfaces by `if_index`; none without /sys. Omits an interface that disappears while being read. */
export async function readInterfaces(sysRoot: string): Promise<MachineInterface[]> {
  const root = join(sysRoot, "class/net");
  const names = (await listFolder(root)) ?? [];
  const read = await Promise.all(names.map((name) => readInterface(join(root, name), name)));
  const found = read.filter((each) => each !== null);
  const byName = new Map(found.map(({ entry }) => [entry.if_name, entry]));
  return found.map((each) => ({ ...each.entry, ...stackingOf(each, byName) })).sort((a, b) => a.if_index - b.if_index);
}

interface FoundInterface {
  readonly entry: MachineInterface;
  /** Names of interfaces above and below it, in the same network namespace: links `upper_bond0` and `lower_eth0`. */
  readonly above: readonly string[];
  readonly below: readonly string[];
}

/** As SNMP agents report it: bridges are neither aggregates nor parents. */
function stackingOf(
  { entry, above, below }: FoundInterface,
  byName: ReadonlyMap<string, MachineInterface>,
): Pick<MachineInterface, "lag_if_index" | "parent_if_index"> {
  const lag = above.flatMap((name) => byName.get(name) ?? []).find((each) => each.if_type === IF_TYPE.ieee8023adLag);
  const parent = entry.if_type === IF_TYPE.l2vlan ? byName.get(below[0] ?? "") : undefined;
  return {
    ...(lag === undefined ? {} : { lag_if_index: lag.if_index }),
    ...(parent === undefined ? {} : { parent_if_index: parent.if_index }),
  };
}

/** IFF_UP of netdevice(7): administratively up. */
const IFF_UP = 0x1;

const ZERO_MAC = "00:00:00:00:00:00";

/** Values of /sys/class/net/<name>/operstate (RFC 2863 §3.1.14). */
const OPER_STATUS_BY_WORD: ReadonlyMap<string, OperStatus> = new Map([
  ["up", "Up"],
  ["down", "Down"],
  ["testing", "Testing"],
  ["unknown", "Unknown"],
  ["dormant", "Dormant"],
  ["notpresent", "NotPresent"],
  ["lowerlayerdown", "LowerLayerDown"],
]);

async function readInterface(folder: string, name: string): Promise<FoundInterface | null> {
  const entries = await listFolder(folder);
  // Not every entry in /sys/class/net is an interface: `bonding_masters` is a file.
  if (entries === null) return null;
  const [index, hardwareType, flags, operstate, address, speed, alias, uevent] = await Promise.all(
    ["ifindex", "type", "flags", "operstate", "address", "speed", "ifalias", "uevent"].map((file) =>
      readAttribute(join(folder, file)),
    ),
  );
  if (!index || !hardwareType || !flags) return null;
  const deviceType = /^DEVTYPE=(.+)$/m.exec(uevent ?? "")?.[1] ?? null;
  const linked = (prefix: string) =>
    entries.flatMap((each) => (each.startsWith(prefix) ? [each.slice(prefix.length)] : []));
  const entry: MachineInterface = {
    if_index: Number(index),
    if_name: name,
    if_descr: name,
    if_alias: alias ?? null,
    if_type: interfaceType({ hardwareType: Number(hardwareType), deviceType, entries: new Set(entries) }),
    mac_address: macAddress(address ?? ""),
    speed_bps: speedBps(speed ?? ""),
    admin_status: adminStatus(flags),
    oper_status: OPER_STATUS_BY_WORD.get(operstate ?? "") ?? "Unknown",
  };
  return { entry, above: linked("upper_"), below: linked("lower_") };
}

/** Tunnels list their 4 or 16 address bytes there, InfiniBand its 20: none is a MAC address. */
function macAddress(text: string): string | null {
  const mac = parseMac(text);
  return mac === ZERO_MAC ? null : mac;
}

/** The file is in Mbit/s. Unknown is -1, on some drivers the same as unsigned 16 or 32 bits, or 0. */
function speedBps(text: string): number | null {
  const megabits = /^\d+$/.test(text) ? Number(text) : 0;
  return megabits === 0 || megabits === 0xffff || megabits >= 0x7fffffff ? null : megabits * 1_000_000;
}

function adminStatus(flags: string): AdminStatus {
  return (Number(flags) & IFF_UP) !== 0 ? "Up" : "Down";
}
