// phpIPAM as a source: sections become networks, devices hosts with the addresses that refer to them, other addresses
// ranges of one.

import { nearestColor } from "../colors.ts";
import {
  type Batches,
  type ImportedAddress,
  type ImportedField,
  type ImportedHost,
  type ImportedNetwork,
  type ImportedRange,
  type ImportedSubnet,
  type ImportedTag,
  type ImportedVlan,
  type ImportSource,
  isRefused,
  type NetworkRef,
  type Origin,
  type Refused,
  type VlanName,
} from "../imported-objects.ts";
import { asText, type ForeignObject } from "../object-fields.ts";
import { idOfUrl } from "../object-ids.ts";
import { catchRefusal, catchRefusalSync } from "../or-refusal.ts";
import { PrefixMap } from "../prefix-places.ts";
import { PhpipamApi, type PhpipamServer } from "./phpipam-api.ts";
import { PhpipamCustomFields } from "./phpipam-custom-fields.ts";

const NOT_IMPORTED = [
  "customers, racks, circuits, nameservers, permissions",
  "L2 domains, VRFs, folders, NAT",
  "owner, note and MAC address of addresses that no device has",
  "types and SNMP settings of devices",
  "requests, the log of changes; custom fields of sections",
] as const;

/** Devices per batch. */
const DEVICES_PER_BATCH = 25;

/** A subnet as referenced by other objects. */
interface KnownSubnet {
  readonly network: NetworkRef;
  readonly prefixLength: number;
}

export class Phpipam implements ImportSource {
  readonly title = "phpIPAM";
  readonly reason: string;
  readonly leftOut = NOT_IMPORTED;
  private readonly api: PhpipamApi;
  private readonly identity: string;
  private readonly sections: readonly ForeignObject[];
  private readonly subnetsById = new Map<number, KnownSubnet>();
  private readonly prefixes = new PrefixMap<KnownSubnet>();
  private readonly vlansById = new Map<number, VlanName>();
  private readonly tagNames = new Map<number, string>();
  private readonly deviceIds = new Set<number>();
  private readonly custom: PhpipamCustomFields;

  /** @throws RemoteError if the server is not phpIPAM or rejects the token */
  static async open(server: PhpipamServer, identity: string): Promise<Phpipam> {
    const api = new PhpipamApi(server, identity);
    return new Phpipam(api, identity, await api.list("/sections/"));
  }

  private constructor(api: PhpipamApi, identity: string, sections: readonly ForeignObject[]) {
    this.api = api;
    this.identity = identity;
    this.sections = sections;
    this.custom = new PhpipamCustomFields(api);
    this.reason = `Import from phpIPAM at ${identity}`;
  }

  derivedId(url: string, detail: string): string {
    const path = url === "" ? "" : url.slice(this.api.urlOf("").length);
    return idOfUrl(`${this.identity}${path}#${detail}`);
  }

  async *tags(): Batches<ImportedTag> {
    const tags = await this.api.list("/tools/tags/");
    yield this.convertRows("/tools/tags/", tags, (tag, origin) => {
      const name = asText(tag.type) ?? "";
      this.tagNames.set(wholeNumber(tag.id) ?? 0, name);
      return [{ ...origin, name, color: nearestColor(asText(tag.bgcolor)), description: null }];
    });
  }

  async *fields(): Batches<ImportedField> {
    yield await this.custom.read();
  }

  async *networks(): Batches<ImportedNetwork> {
    yield this.convertRows("/sections/", this.sections, (section, origin) => [
      { ...origin, name: asText(section.name) ?? "", description: asText(section.description), tags: [] },
    ]);
  }

  /** In each section whose subnets use the VLAN; in the default network if none do. */
  async *vlans(): Batches<ImportedVlan> {
    const networks = new Map<number, Set<NetworkRef>>();
    for (const section of this.sections) {
      for (const subnet of await this.subnetsOf(section)) {
        const id = wholeNumber(subnet.vlanId) ?? 0;
        if (id > 0) networks.set(id, (networks.get(id) ?? new Set()).add(this.placeOf(section)));
      }
    }
    const vlans = await this.api.list("/vlan/");
    const withIds = vlans.map((vlan) => ({ ...vlan, id: wholeNumber(vlan.vlanId) ?? vlan.id }));
    yield this.convertRows("/vlan/", withIds, (vlan, { url }): Array<ImportedVlan | Refused> => {
      const id = wholeNumber(vlan.id) ?? 0;
      const number = wholeNumber(vlan.number);
      if (number === null) return [{ url, refused: "has no number" }];
      const name = asText(vlan.name);
      this.vlansById.set(id, { url, number, name });
      return [...(networks.get(id) ?? [null])].map((network) => ({
        url,
        id: idOfUrl(`${this.api.identityOf(`/vlan/${id}/`)}#${network ?? ""}`),
        network,
        number,
        name,
        description: asText(vlan.description),
        custom: this.custom.valuesOf(vlan, "vlan"),
      }));
    });
  }

  async *subnets(): Batches<ImportedSubnet> {
    for (const section of this.sections) {
      const network = this.placeOf(section);
      const subnets = await this.subnetsOf(section);
      const subnetRows = subnets.filter((subnet) => !flagOf(subnet.isFolder));
      yield this.convertRows("/subnets/", subnetRows, (subnet, origin): ImportedSubnet[] => {
        const prefixLength = wholeNumber(subnet.mask);
        const cidr = `${asText(subnet.subnet) ?? ""}/${prefixLength ?? ""}`;
        if (prefixLength !== null) {
          this.subnetsById.set(wholeNumber(subnet.id) ?? 0, { network, prefixLength });
          this.prefixes.add("", cidr, { network, prefixLength });
        }
        return [
          {
            ...origin,
            network,
            cidr,
            type: null,
            // phpIPAM's description serves as the subnet's name.
            name: asText(subnet.description),
            description: null,
            vlan: this.vlansById.get(wholeNumber(subnet.vlanId) ?? 0) ?? null,
            tags: [],
            custom: this.custom.valuesOf(subnet, "subnet"),
          },
        ];
      });
    }
  }

  async *hosts(): Batches<ImportedHost> {
    const listed = await this.api.list("/tools/locations/");
    const locations = new Map(listed.map(({ id, name }) => [wholeNumber(id), asText(name)]));
    const devices = await this.api.list("/devices/");
    for (const device of devices) this.deviceIds.add(wholeNumber(device.id) ?? 0);
    for (let start = 0; start < devices.length; start += DEVICES_PER_BATCH) {
      const batch: Array<ImportedHost | Refused> = [];
      for (const device of devices.slice(start, start + DEVICES_PER_BATCH)) {
        const origin = this.originOf("/devices/", device);
        if (isRefused(origin)) batch.push(origin);
        else batch.push(await catchRefusal(origin.url, () => this.hostOf(device, origin, locations)));
      }
      yield batch;
    }
  }

  /** Addresses without a device, subnet by subnet. */
  async *ranges(): Batches<ImportedRange> {
    for (const [id, subnet] of this.subnetsById) {
      const addresses = await this.api.list(`/subnets/${id}/addresses/`);
      // Before 1.3, the field was named switch. 0 if none.
      const unassigned = addresses.filter(
        (address) => !this.deviceIds.has(wholeNumber(address.deviceId) ?? wholeNumber(address.switch) ?? 0),
      );
      yield this.convertRows("/addresses/", unassigned, (address, origin): ImportedRange[] => {
        const ip = asText(address.ip) ?? "";
        const texts = [asText(address.hostname), asText(address.description)].filter((text) => text !== null);
        const tag = this.tagNames.get(wholeNumber(address.tag) ?? 0);
        return [
          {
            ...origin,
            network: subnet.network,
            first: ip,
            last: ip,
            prefixLength: subnet.prefixLength,
            purpose: flagOf(address.is_gateway) ? "Gateway" : "Reserved",
            description: texts.length === 0 ? null : texts.join(": "),
            tags: tag === undefined ? [] : [tag],
            custom: this.custom.valuesOf(address, "ip_range"),
          },
        ];
      });
    }
  }

  private async hostOf(
    device: ForeignObject,
    origin: Origin,
    locations: ReadonlyMap<number | null, string | null>,
  ): Promise<ImportedHost> {
    const rows = await this.api.list(`/devices/${wholeNumber(device.id)}/addresses/`);
    const addresses = rows.map((row) => this.addressOfHost(row, origin));
    const deviceAddress = asText(device.ip_addr);
    if (deviceAddress !== null && !addresses.some(({ ip_address }) => ip_address === deviceAddress))
      addresses.push({
        url: origin.url,
        id: idOfUrl(`${origin.id} ${deviceAddress}`),
        ip_address: deviceAddress,
        prefixLength: this.prefixes.lookup("", deviceAddress)?.prefixLength ?? null,
        name: null,
        mac_address: null,
        interfaceId: null,
      });
    return {
      ...origin,
      network: this.networkOfDevice(device, deviceAddress, rows),
      name: asText(device.hostname) ?? deviceAddress ?? `device ${wholeNumber(device.id)}`,
      hostname: asText(device.hostname),
      description: asText(device.description),
      manufacturer: asText(device.vendor),
      model: asText(device.model),
      serial_number: asText(device.serial),
      asset_tag: null,
      sys_location: locations.get(wholeNumber(device.location)) ?? null,
      tags: [],
      custom: this.custom.valuesOf(device, "host"),
      interfaces: [],
      addresses,
    };
  }

  private addressOfHost(row: ForeignObject, host: Origin): ImportedAddress {
    const id = wholeNumber(row.id);
    return {
      url: this.api.urlOf(`/addresses/${id}/`),
      // A moved address becomes a different record on another host.
      id: idOfUrl(`${this.api.identityOf(`/addresses/${id}/`)} ${host.id}`),
      // An invalid address is passed on unchanged, to be refused.
      ip_address: (asText(row.ip) ?? "").slice(0, 200),
      prefixLength: this.subnetOf(row)?.prefixLength ?? null,
      name: asText(row.hostname) ?? asText(row.port),
      mac_address: asText(row.mac),
      interfaceId: null,
    };
  }

  /** A host is in one network but may be shown in several sections: its address decides. */
  private networkOfDevice(
    device: ForeignObject,
    deviceAddress: string | null,
    addresses: readonly ForeignObject[],
  ): NetworkRef {
    const containing = deviceAddress === null ? undefined : this.prefixes.lookup("", deviceAddress);
    const subnet = containing ?? addresses.map((row) => this.subnetOf(row)).find((known) => known !== undefined);
    if (subnet !== undefined) return subnet.network;
    const ids = (asText(device.sections) ?? "").split(";").map(wholeNumber);
    const section = this.sections.find(({ id }) => ids.includes(wholeNumber(id)));
    return section === undefined ? null : this.placeOf(section);
  }

  private subnetOf(address: ForeignObject): KnownSubnet | undefined {
    return this.subnetsById.get(wholeNumber(address.subnetId) ?? 0);
  }

  private subnetsOf(section: ForeignObject): Promise<readonly ForeignObject[]> {
    const id = wholeNumber(section.id);
    return id === null ? Promise.resolve([]) : this.api.list(`/sections/${id}/subnets/`);
  }

  private placeOf(section: ForeignObject): NetworkRef {
    return idOfUrl(this.api.identityOf(`/sections/${wholeNumber(section.id)}/`));
  }

  /** Converts the rows of a list; refuses a row without an ID or one that fails. */
  private convertRows<T>(
    path: string,
    rows: readonly ForeignObject[],
    convert: (row: ForeignObject, origin: Origin) => ReadonlyArray<T | Refused>,
  ): Array<T | Refused> {
    return rows.flatMap((row) => {
      const origin = this.originOf(path, row);
      return isRefused(origin) ? origin : catchRefusalSync(origin.url, () => convert(row, origin));
    });
  }

  private originOf(path: string, object: ForeignObject): Origin | Refused {
    const id = wholeNumber(object.id);
    if (id === null) return { url: this.api.urlOf(path), refused: "has no id" };
    return { url: this.api.urlOf(`${path}${id}/`), id: idOfUrl(this.api.identityOf(`${path}${id}/`)) };
  }
}

/** A non-negative integer, also as text: `"22"`; null for anything else. */
function wholeNumber(value: unknown): number | null {
  const number = typeof value === "string" && /^\d{1,15}$/.test(value) ? Number(value) : value;
  return Number.isSafeInteger(number) && (number as number) >= 0 ? (number as number) : null;
}

/** True for `"1"`, 1 and true. */
function flagOf(value: unknown): boolean {
  return value === true || wholeNumber(value) === 1;
}
