// New hosts of a scan, and those that must not become any: what a person has deleted does not come back by itself.

import type { SourceRecord } from "../../resources/source.ts";
import { hostKind, type HostRecord } from "../../resources/hosts/host.ts";
import { ignoredKind, type IgnoredRecord } from "../../resources/ignored/ignored.ts";
import { likeness, ENOUGH, isBare } from "./identity.ts";
import type { ScanWrite } from "./scan-write.ts";
import { isOwnAddress, nameSign, serialSign, type Signs } from "./signs.ts";

type Described = Partial<Record<"hostname" | "sys_name" | "sys_descr" | "sys_object_id" | "sys_location" | "sys_contact" | "chassis_id" | "manufacturer" | "model" | "serial_number", string | null | undefined>>;

export function newHost(write: ScanWrite, fields: Described & { readonly name: string; readonly source: SourceRecord }): HostRecord {
  const { name, source, ...told } = fields;
  const host = write.found(hostKind, {
    name,
    hostname: told.hostname ?? null,
    description: null,
    hidden: false,
    network_id: write.networkId,
    tags: [],
    source,
    virtualization: null,
    sys_name: told.sys_name ?? null,
    sys_descr: told.sys_descr ?? null,
    sys_object_id: told.sys_object_id ?? null,
    sys_location: told.sys_location ?? null,
    sys_contact: told.sys_contact ?? null,
    chassis_id: told.chassis_id ?? null,
    manufacturer: told.manufacturer ?? null,
    model: told.model ?? null,
    serial_number: told.serial_number ?? null,
    management_url: null,
  });
  if (host === null) throw new Error("hosts: no host is ignored by its name");
  return host;
}

/**
 * Whether what was seen is a host that a person has deleted. Says so in the outcome.
 * @param label what people call it
 */
export function ignoredHost(write: ScanWrite, seen: Signs, address: string, label: string): boolean {
  const ignored = ignoredHosts(write).find(({ signs }) => isSameAsDeleted(seen, signs));
  if (ignored === undefined) return false;
  write.tell({ type: "Ignored", entity: hostKind.name, id: ignored.record.id, label: label === address ? address : `${label} (${address})`, reason: "a person has deleted it; it comes back when it is taken off the ignored ones" });
  return true;
}

/** As for the living, but an address alone is enough where the other side has no more: it was deleted for being there. */
function isSameAsDeleted(seen: Signs, deleted: Signs): boolean {
  if (likeness(seen, deleted).score >= ENOUGH) return true;
  const isThere = [...seen.addresses].some((address) => deleted.addresses.has(address));
  return isThere && (isBare(seen) || isBare(deleted));
}

interface IgnoredHost {
  readonly record: IgnoredRecord;
  readonly signs: Signs;
}

/** Read once for each write, however many sightings it is about. */
const READ = new WeakMap<ScanWrite, readonly IgnoredHost[]>();

function ignoredHosts(write: ScanWrite): readonly IgnoredHost[] {
  const known = READ.get(write);
  if (known !== undefined) return known;
  const records = write.tx.children(ignoredKind, "network_n", write.networkId).filter((record) => record.entity === hostKind.name);
  const read = records.map((record) => ({ record, signs: signsOfTexts(record.signs) }));
  READ.set(write, read);
  return read;
}

/** The signs that were written down when a host was deleted: `mac:00:1b:21:aa:bb:cc`. */
export function signsOfTexts(texts: readonly string[]): Signs {
  const of = (name: string) => texts.filter((text) => text.startsWith(`${name}:`)).map((text) => text.slice(name.length + 1));
  return {
    serialNumber: serialSign(of("serial")[0]),
    chassisId: of("chassis")[0] ?? null,
    macs: new Set(of("mac")),
    sysName: nameSign(of("name")[0]),
    addresses: new Set(of("ip").filter(isOwnAddress)),
  };
}
