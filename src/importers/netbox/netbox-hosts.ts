// NetBox devices and virtual machines with their interfaces and addresses, streamed in small batches to bound memory.

import {
  type Batches,
  type ImportedAddress,
  type ImportedHost,
  type ImportedInterface,
  isRefused,
  type NetworkRef,
  type Origin,
  type Refused,
  type VlanName,
} from "../imported-objects.ts";
import { asInteger, asObject, asText, type ForeignObject, idOf, listOf, nameOf } from "../object-fields.ts";
import { idOfUrl } from "../object-ids.ts";
import { catchRefusal, catchRefusalSync } from "../or-refusal.ts";
import type { ImportKind } from "../plan.ts";
import { ifTypeOf } from "./interface-types.ts";
import type { NetboxApi } from "./netbox-api.ts";
import type { NetboxCustomFields } from "./netbox-custom-fields.ts";
import { addressOf, choiceOf, tagNames } from "./netbox-fields.ts";

/** Devices whose parts are requested together. */
const DEVICES_PER_BATCH = 50;
/** Maximum parts per device: no host has more. The rest is refused. */
const PARTS_MAX = 10_000;
/**
 * Base of generated ifIndexes (plus the NetBox ID), in a range that devices rarely use: NetBox does not know their own.
 */
const IF_INDEX_BASE = 2 ** 30;
const IP_ADDRESSES = "/api/ipam/ip-addresses/";

export interface NetboxContext {
  originOf(path: string, object: ForeignObject): Origin | Refused;
  placeOf(object: ForeignObject): Promise<NetworkRef>;
  vlanName(value: unknown): VlanName | null;
  readonly custom: NetboxCustomFields;
}

/** A class of machines: list path, and the owner field of its parts. */
interface Machines {
  readonly path: string;
  readonly interfaces: string;
  readonly owner: "device" | "virtual_machine";
}

const DEVICES: Machines = { path: "/api/dcim/devices/", interfaces: "/api/dcim/interfaces/", owner: "device" };
const VIRTUAL_MACHINES: Machines = {
  path: "/api/virtualization/virtual-machines/",
  interfaces: "/api/virtualization/interfaces/",
  owner: "virtual_machine",
};

/** A list of machine parts. */
interface Parts {
  readonly path: string;
  readonly kind: ImportKind;
  readonly ownerOf: (part: ForeignObject) => number | null;
  /** Reason why a part cannot be imported. */
  readonly problemOf: (part: ForeignObject) => string | null;
}

export class NetboxHosts {
  private readonly api: NetboxApi;
  private readonly context: NetboxContext;

  constructor(api: NetboxApi, context: NetboxContext) {
    this.api = api;
    this.context = context;
  }

  /** @throws RemoteError */
  async *all(): Batches<ImportedHost> {
    for (const machines of [DEVICES, VIRTUAL_MACHINES]) {
      for await (const page of this.api.pages(machines.path, "&exclude=config_context", DEVICES_PER_BATCH))
        yield await this.batch(machines, page);
    }
  }

  private async batch(machines: Machines, page: readonly ForeignObject[]): Promise<Array<ImportedHost | Refused>> {
    const ids = page.flatMap((machine) => idOf(machine) ?? []);
    const refused: Refused[] = [];
    const interfaces = await this.partsOf(machines, ids, refused, {
      path: machines.interfaces,
      kind: "interfaces",
      ownerOf: (each) => idOf(each[machines.owner]),
      problemOf: () => null,
    });
    const addresses = await this.partsOf(machines, ids, refused, {
      path: IP_ADDRESSES,
      kind: "addresses",
      ownerOf: (each) => idOf(asObject(each.assigned_object)?.[machines.owner]),
      problemOf: (each) => (addressOf(each.address) === null ? "has no IP address with a prefix length" : null),
    });
    const hosts: Array<ImportedHost | Refused> = [];
    for (const machine of page) {
      const id = idOf(machine) ?? 0;
      hosts.push(
        await catchRefusal(this.api.urlOf(machines.path, machine), () =>
          this.hostOf(machines, machine, interfaces.get(id) ?? [], addresses.get(id) ?? [], refused),
        ),
      );
    }
    return [...refused, ...hosts];
  }

  /** Interfaces or addresses by their machine. */
  private async partsOf(
    machines: Machines,
    ids: readonly number[],
    refused: Refused[],
    { path, kind, ownerOf, problemOf }: Parts,
  ): Promise<Map<number, ForeignObject[]>> {
    const parts = new Map<number, ForeignObject[]>(ids.map((id) => [id, []]));
    if (ids.length === 0) return parts;
    const query = ids.map((id) => `&${machines.owner}_id=${id}`).join("");
    for await (const page of this.api.boundedPages(path, query)) {
      for (const part of page) {
        const list = parts.get(ownerOf(part) ?? 0);
        if (list === undefined) continue;
        const full = list.length < PARTS_MAX ? null : `its host has ${PARTS_MAX} of them already`;
        const problem = idOf(part) === null ? "has no id" : (problemOf(part) ?? full);
        if (problem === null) list.push(part);
        else refused.push({ url: this.api.urlOf(path, part), refused: problem, kind });
      }
    }
    return parts;
  }

  private async hostOf(
    machines: Machines,
    machine: ForeignObject,
    interfaces: readonly ForeignObject[],
    addresses: readonly ForeignObject[],
    refused: Refused[],
  ): Promise<ImportedHost | Refused> {
    const origin = this.context.originOf(machines.path, machine);
    if ("refused" in origin) return origin;
    const type = asObject(machine.device_type);
    const names = new Map(interfaces.map((each) => [idOf(each), each] as const));
    const primary = new Set([idOf(machine.primary_ip4), idOf(machine.primary_ip6), idOf(machine.primary_ip)]);
    const primaryAddress = addresses.find((each) => primary.has(idOf(each) ?? -1) && asText(each.dns_name) !== null);
    return {
      ...origin,
      network: await this.context.placeOf(machine),
      // A NetBox device may have no name.
      name: asText(machine.name) ?? asText(machine.display) ?? `${machines.owner} ${idOf(machine)}`,
      hostname: asText(primaryAddress?.dns_name),
      description: asText(machine.description),
      manufacturer: nameOf(type?.manufacturer),
      model: asText(type?.model),
      serial_number: asText(machine.serial),
      asset_tag: asText(machine.asset_tag),
      sys_location: locationOf(machine),
      tags: tagNames(machine),
      custom: this.context.custom.valuesOf(machine, "host"),
      interfaces: this.convertParts(machines.interfaces, "interfaces", interfaces, refused, (each) =>
        this.interfaceOf(machines, each),
      ),
      addresses: this.convertParts(IP_ADDRESSES, "addresses", addresses, refused, (each) =>
        this.addressOfHost(machines, origin, each, names),
      ),
    };
  }

  /** Converts parts; a failing part is refused, and its host is imported without it. */
  private convertParts<Part extends object>(
    path: string,
    kind: ImportKind,
    parts: readonly ForeignObject[],
    refused: Refused[],
    convert: (part: ForeignObject) => Part | null,
  ): Part[] {
    return parts.flatMap((part) => {
      const converted = catchRefusalSync(this.api.urlOf(path, part), () => convert(part));
      if (converted === null) return [];
      if (!isRefused(converted)) return [converted];
      refused.push({ ...converted, kind });
      return [];
    });
  }

  private interfaceOf(machines: Machines, object: ForeignObject): ImportedInterface | null {
    const origin = this.context.originOf(machines.interfaces, object);
    if ("refused" in origin) return null;
    const speedKbps = asInteger(object.speed);
    const vlans = listOf(object.tagged_vlans).flatMap((vlan) => this.context.vlanName(vlan) ?? []);
    return {
      ...origin,
      if_index: IF_INDEX_BASE + ((idOf(object) ?? 0) % IF_INDEX_BASE),
      name: asText(object.name) ?? "",
      alias: asText(object.description),
      if_type: ifTypeOf(choiceOf(object.type)),
      speed_bps: speedKbps === null ? null : speedKbps * 1_000,
      admin_status: object.enabled === false ? "Down" : "Up",
      mac_address: macOf(object),
      custom: this.context.custom.valuesOf(object, "if_entry"),
      native_vlan: this.context.vlanName(object.untagged_vlan),
      vlans,
    };
  }

  private addressOfHost(
    machines: Machines,
    host: Origin,
    object: ForeignObject,
    interfaces: ReadonlyMap<number | null, ForeignObject>,
  ): ImportedAddress | null {
    const origin = this.context.originOf(IP_ADDRESSES, object);
    const address = addressOf(object.address);
    if ("refused" in origin || address === null) return null;
    const interfaceId = asInteger(object.assigned_object_id) ?? idOf(object.assigned_object);
    const port = interfaces.get(interfaceId) ?? asObject(object.assigned_object);
    return {
      url: origin.url,
      // A moved address becomes a different record on another host.
      id: idOfUrl(`${origin.id} ${host.id}`),
      ip_address: address.ip,
      prefixLength: address.prefixLength,
      name: asText(object.dns_name) ?? asText(port?.name),
      mac_address: port === null ? null : macOf(port),
      interfaceId: interfaceId === null ? null : idOfUrl(this.api.identityOf(machines.interfaces, interfaceId)),
    };
  }
}

/** Since NetBox 4.2, an interface may have several, one of them primary. */
function macOf(object: ForeignObject): string | null {
  return asText(object.mac_address) ?? asText(asObject(object.primary_mac_address)?.mac_address);
}

/** Location, rack and height unit as text. */
function locationOf(machine: ForeignObject): string | null {
  const rack = nameOf(machine.rack);
  const unit = typeof machine.position === "number" ? machine.position : null;
  const words = [
    nameOf(machine.location),
    rack === null ? null : `rack ${rack}`,
    unit === null ? null : `U${unit}`,
  ].filter((word) => word !== null);
  return words.length === 0 ? null : words.join(", ");
}
