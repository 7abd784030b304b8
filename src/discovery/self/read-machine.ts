// Snapshot reader for the machine that runs the appliance, from kernel tables. I/O only; independent of the store and
// the recorded fields.

import { createHmac } from "node:crypto";
import { machine } from "node:os";
import { join } from "node:path";
import { parseIpv6RouteTable, parseRouteTable } from "../kernel/proc-tables.ts";
import { inventoryAddresses } from "./inventory-addresses.ts";
import { type KernelAddresses, readKernelAddresses } from "./kernel-addresses.ts";
import { readAttribute, readTable } from "./kernel-files.ts";
import type { MachinePort, MachineSnapshot } from "./machine.ts";
import { firstEphemeralPort, servedPorts } from "./proc-net.ts";
import { readInterfaces } from "./read-interfaces.ts";

/** Root directories; default: this machine. */
interface ReadMachineOptions {
  procRoot?: string;
  sysRoot?: string;
  etcRoot?: string;
  readAddresses?: () => KernelAddresses;
}

/**
 * Reads the current state. Data that a kernel or container lacks is null or empty; a table that exists but cannot be
 * read is an Error, never an empty list. Two snapshots of an unchanged machine are equal.
 */
export async function readMachine(options: ReadMachineOptions = {}): Promise<MachineSnapshot> {
  const { procRoot = "/proc", sysRoot = "/sys", etcRoot = "/etc", readAddresses = readKernelAddresses } = options;
  const [hostname, machineId, interfaces, ports, defaultInterfaces, sysDescr, product] = await Promise.all([
    readHostname(procRoot, etcRoot),
    readMachineId(etcRoot),
    readInterfaces(sysRoot),
    readPorts(procRoot),
    readDefaultInterfaces(procRoot),
    readSysDescr(procRoot),
    readProduct(sysRoot),
  ]);
  const { addresses, isComplete } = readAddresses();
  return {
    hostname,
    machine_id: machineId,
    interfaces,
    addresses: inventoryAddresses(addresses),
    default_interfaces: defaultInterfaces,
    has_all_addresses: isComplete,
    ports,
    sys_descr: sysDescr,
    manufacturer: product.manufacturer,
    model: product.model,
    serial_number: product.serialNumber,
  };
}

/** Our application ID for the machine ID. Changing it makes every machine look new. */
const MACHINE_ID_PURPOSE = "8d4b6c5ef0a94a1c9f1b3a7ce2d50c64";

async function readHostname(procRoot: string, etcRoot: string): Promise<string> {
  const kernelName = await readAttribute(join(procRoot, "sys/kernel/hostname"));
  // The kernel's value before a name is set.
  if (kernelName !== null && kernelName !== "(none)") return kernelName;
  return (await readAttribute(join(etcRoot, "hostname"))) ?? "localhost";
}

/**
 * Same as sd_id128_get_machine_app_specific(3): HMAC-SHA256 of our application ID with the machine ID as the key,
 * truncated to a version 4 UUID.
 */
async function readMachineId(etcRoot: string): Promise<string | null> {
  const machineId = await readAttribute(join(etcRoot, "machine-id"));
  // The file may also be empty or contain `uninitialized`.
  if (machineId === null || !/^[0-9a-f]{32}$/.test(machineId)) return null;
  const bytes = createHmac("sha256", Buffer.from(machineId, "hex"))
    .update(Buffer.from(MACHINE_ID_PURPOSE, "hex"))
    .digest()
    .subarray(0, 16);
  bytes[6] = ((bytes[6] ?? 0) & 0x0f) | 0x40;
  bytes[8] = ((bytes[8] ?? 0) & 0x3f) | 0x80;
  return bytes.toString("hex").replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, "$1-$2-$3-$4-$5");
}

async function readPorts(procRoot: string): Promise<MachinePort[]> {
  const table = (name: string) => readTable(join(procRoot, "net", name));
  const [tcp, tcp6, udp, udp6, range] = await Promise.all([
    table("tcp"),
    table("tcp6"),
    table("udp"),
    table("udp6"),
    readAttribute(join(procRoot, "sys/net/ipv4/ip_local_port_range")),
  ]);
  return servedPorts({ tcp, tcp6, udp, udp6 }, firstEphemeralPort(range));
}

async function readSysDescr(procRoot: string): Promise<string | null> {
  const kernel = (name: string) => readAttribute(join(procRoot, "sys/kernel", name));
  // Kernels before 6.1 lack `arch`.
  const [ostype, release, version, arch] = await Promise.all([
    kernel("ostype"),
    kernel("osrelease"),
    kernel("version"),
    kernel("arch"),
  ]);
  if (ostype === null || release === null) return null;
  return [ostype, release, version, arch ?? machine()].filter((part) => part !== null).join(" ");
}

interface Product {
  manufacturer: string | null;
  model: string | null;
  serialNumber: string | null;
}

/** DMI (SMBIOS type 1), or the device tree on boards without DMI. */
async function readProduct(sysRoot: string): Promise<Product> {
  const productText = async (path: string) => meaningfulText(await readAttribute(join(sysRoot, path)));
  const [manufacturer, model, serialNumber, boardModel, boardSerialNumber] = await Promise.all([
    productText("class/dmi/id/sys_vendor"),
    productText("class/dmi/id/product_name"),
    productText("class/dmi/id/product_serial"),
    productText("firmware/devicetree/base/model"),
    productText("firmware/devicetree/base/serial-number"),
  ]);
  return { manufacturer, model: model ?? boardModel, serialNumber: serialNumber ?? boardSerialNumber };
}

/** Placeholders that manufacturers leave in unfilled fields, in lower case and without dots. */
const PLACEHOLDERS: ReadonlySet<string> = new Set(
  `to be filled by oem, not specified, not available, not applicable, not present, none, null, n/a, na, unknown,
    default, default string, empty, oem, invalid, system manufacturer, system product name, system serial number,
    product name, serial number`.split(/,\s+/),
);

/** Null for placeholders, a repeated character (`0000`, `xxxx`, `....`) and counted digits (`0123456789`). */
function meaningfulText(raw: string | null): string | null {
  // Device tree strings end in NUL.
  const text = (raw ?? "").replace(/\p{Cc}+/gu, " ").trim();
  const isFiller =
    /^(.)\1*$/.test(text) || /^0?123456789?0?$/.test(text) || PLACEHOLDERS.has(text.toLowerCase().replaceAll(".", ""));
  return text === "" || isFiller ? null : text;
}

/** Interface names of default routes, sorted and without duplicates; skips routes that reject. */
async function readDefaultInterfaces(procRoot: string): Promise<string[]> {
  const [four, six] = await Promise.all([
    readTable(join(procRoot, "net/route")),
    readTable(join(procRoot, "net/ipv6_route")),
  ]);
  const routes = [...parseRouteTable(four), ...parseIpv6RouteTable(six).routes];
  const names = routes
    .filter(({ cidr, isRefused }) => cidr.prefixLength === 0 && !isRefused)
    .map((each) => each.ifName);
  return [...new Set(names)].sort();
}
