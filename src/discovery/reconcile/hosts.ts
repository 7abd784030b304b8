// New hosts of a scan, and those that must not become any: what a person has deleted does not come back by itself.

import type { SourceRecord } from "../../resources/source.ts";
import { hostKind, type HostRecord } from "../../resources/hosts/host.ts";
import type { IgnoredRecord } from "../../resources/ignored/ignored.ts";
import { subnetKind } from "../../resources/subnets/subnet.ts";
import { likeness, ENOUGH, isBare } from "./identity.ts";
import type { ScanWrite } from "./scan-write.ts";
import { isOwnAddress, nameSign, serialSign, type Signs } from "./signs.ts";
import type { SubnetPlacer } from "./subnet-placer.ts";

type Described = Partial<
  Record<
    | "hostname"
    | "sys_name"
    | "sys_descr"
    | "sys_object_id"
    | "sys_location"
    | "sys_contact"
    | "chassis_id"
    | "manufacturer"
    | "model"
    | "serial_number",
    string | null | undefined
  >
>;

export function newHost(
  write: ScanWrite,
  fields: Described & { readonly name: string; readonly source: SourceRecord },
): HostRecord {
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
    asset_tag: null,
  });
  if (host === null) throw new Error("hosts: no host is ignored by its name");
  return host;
}

/**
 * Whether what was seen is a host that a person has deleted. Says so in the outcome.
 * @param label what people call it
 */
export function ignoredHost(write: ScanWrite, seen: Signs, address: string, label: string): boolean {
  const ignored = ignoredHosts(write)
    .sharing(seen)
    .find(({ signs }) => isSameAsDeleted(seen, signs));
  if (ignored === undefined) return false;
  write.tell({
    type: "Ignored",
    entity: hostKind.name,
    id: ignored.record.id,
    label: label === address ? address : `${label} (${address})`,
    reason: "a person has deleted it; it comes back when it is taken off the ignored ones",
  });
  return true;
}

/**
 * Whether nothing of what was seen may be written, since it is in subnets that a person has deleted: a host without an address would not be
 * known again. Says so in the outcome.
 * @param addresses all that it has
 */
export function isUnwanted(
  write: ScanWrite,
  subnets: SubnetPlacer,
  label: string,
  addresses: Iterable<string>,
): boolean {
  let ignored: IgnoredRecord | null = null;
  for (const address of addresses) {
    ignored = subnets.unwanted(address);
    if (ignored === null) return false;
  }
  if (ignored === null) return false;
  write.tell({
    type: "Ignored",
    entity: subnetKind.name,
    id: ignored.id,
    label,
    reason: `a person has deleted its subnet ${ignored.label}; it comes back when that is taken off the ignored ones`,
  });
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

/** The hosts that people have deleted, by their signs: there may be thousands, and each is seen again by every sweep. */
class IgnoredHosts {
  private readonly bySign = new Map<string, IgnoredHost[]>();

  constructor(records: readonly IgnoredRecord[]) {
    for (const record of records) {
      const host = { record, signs: signsOfTexts(record.signs) };
      for (const sign of keysOf(host.signs)) {
        const others = this.bySign.get(sign);
        if (others === undefined) this.bySign.set(sign, [host]);
        else others.push(host);
      }
    }
  }

  /** Those that have a sign in common with what was seen: only they can be the same. */
  sharing(seen: Signs): IgnoredHost[] {
    return [...new Set([...keysOf(seen)].flatMap((sign) => this.bySign.get(sign) ?? []))];
  }
}

function* keysOf({ serialNumber, chassisId, macs, sysName, addresses }: Signs): Generator<string> {
  if (serialNumber !== null) yield `serial/${serialNumber}`;
  if (chassisId !== null) yield `chassis/${chassisId}`;
  if (sysName !== null) yield `name/${sysName}`;
  for (const mac of macs) yield `mac/${mac}`;
  for (const address of addresses) yield `address/${address}`;
}

/** Read once for each write, however many sightings it is about. */
const READ = new WeakMap<ScanWrite, IgnoredHosts>();

function ignoredHosts(write: ScanWrite): IgnoredHosts {
  const known = READ.get(write);
  if (known !== undefined) return known;
  const read = new IgnoredHosts(write.ignoredOf("host"));
  READ.set(write, read);
  return read;
}

/** The signs that were written down when a host was deleted: `mac:00:1b:21:aa:bb:cc`. */
export function signsOfTexts(texts: readonly string[]): Signs {
  const of = (name: string) =>
    texts.filter((text) => text.startsWith(`${name}:`)).map((text) => text.slice(name.length + 1));
  return {
    serialNumber: serialSign(of("serial")[0]),
    chassisId: of("chassis")[0] ?? null,
    macs: new Set(of("mac")),
    sysName: nameSign(of("name")[0]),
    addresses: new Set(of("ip").filter(isOwnAddress)),
  };
}
