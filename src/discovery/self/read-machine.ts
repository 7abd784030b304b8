// Takes the snapshot of the machine that the appliance runs on, from the kernel's own tables.
// I/O only: must not know the store, nor what is recorded of it.

import { createHmac } from "node:crypto";
import { machine } from "node:os";
import { join } from "node:path";
import { readDefaultInterfaces } from "./default-routes.ts";
import { inventoryAddresses } from "./inventory-addresses.ts";
import { type KernelAddresses, readKernelAddresses } from "./kernel-addresses.ts";
import { readAttribute, readTable } from "./kernel-files.ts";
import type { MachinePort, MachineSnapshot } from "./machine.ts";
import { firstEphemeralPort, servedPorts } from "./proc-net.ts";
import { readInterfaces } from "./read-interfaces.ts";

/** Where to look; the defaults are this machine. */
interface ReadMachineOptions {
  procRoot?: string;
  sysRoot?: string;
  etcRoot?: string;
  readAddresses?: () => KernelAddresses;
}

/**
 * The machine as it is now. What a kernel or container does not have is null or empty; a table that is there and cannot
 * be read is an Error, never an empty list. Two snapshots of an unchanged machine are equal.
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
  const { addresses, isWhole } = readAddresses();
  return {
    hostname,
    machine_id: machineId,
    interfaces,
    addresses: inventoryAddresses(addresses),
    default_interfaces: defaultInterfaces,
    has_all_addresses: isWhole,
    ports,
    sys_descr: sysDescr,
    manufacturer: product.manufacturer,
    model: product.model,
    serial_number: product.serialNumber,
  };
}

/** Names our use of the machine id. Changing it makes every machine look like another one. */
const MACHINE_ID_PURPOSE = "8d4b6c5ef0a94a1c9f1b3a7ce2d50c64";

async function readHostname(procRoot: string, etcRoot: string): Promise<string> {
  const kernelName = await readAttribute(join(procRoot, "sys/kernel/hostname"));
  // What the kernel says before anybody named it.
  if (kernelName !== null && kernelName !== "(none)") return kernelName;
  return (await readAttribute(join(etcRoot, "hostname"))) ?? "localhost";
}

/**
 * As sd_id128_get_machine_app_specific(3): HMAC-SHA256 of our purpose with the machine's id as the key, cut to a
 * version 4 UUID.
 */
async function readMachineId(etcRoot: string): Promise<string | null> {
  const machineId = await readAttribute(join(etcRoot, "machine-id"));
  // Besides an id it can be empty or `uninitialized`.
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
  // Kernels before 6.1 do not have `arch`.
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

/** DMI (SMBIOS type 1), or the device tree of boards that have no DMI. */
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

/** What makers leave in fields that they did not fill, in lower case and without dots. */
const PLACEHOLDERS: ReadonlySet<string> = new Set([
  "to be filled by oem",
  "not specified",
  "not available",
  "not applicable",
  "not present",
  "none",
  "null",
  "n/a",
  "na",
  "unknown",
  "default",
  "default string",
  "empty",
  "oem",
  "invalid",
  "system manufacturer",
  "system product name",
  "system serial number",
  "product name",
  "serial number",
]);

/** Null for placeholders, for one character repeated (`0000`, `xxxx`, `....`) and for counted digits (`0123456789`). */
function meaningfulText(raw: string | null): string | null {
  // Device tree strings end with a NUL.
  const text = (raw ?? "").replace(/\p{Cc}+/gu, " ").trim();
  const isFiller =
    /^(.)\1*$/.test(text) || /^0?123456789?0?$/.test(text) || PLACEHOLDERS.has(text.toLowerCase().replaceAll(".", ""));
  return text === "" || isFiller ? null : text;
}
