// NetBox as a source: sites become networks, devices and virtual machines hosts, prefixes subnets, unassigned addresses
// ranges of one.

import { nearestColor } from "../colors.ts";
import {
  type Batches,
  type ImportedField,
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
import { RemoteError } from "../json-client.ts";
import { asInteger, asObject, asText, type ForeignObject, idOf } from "../object-fields.ts";
import { idOfUrl } from "../object-ids.ts";
import { catchRefusal, catchRefusalSync } from "../or-refusal.ts";
import { PrefixMap } from "../prefix-places.ts";
import { NetboxApi, type NetboxServer } from "./netbox-api.ts";
import { NetboxCustomFields } from "./netbox-custom-fields.ts";
import { addressOf, choiceOf, tagNames } from "./netbox-fields.ts";
import { NetboxHosts } from "./netbox-hosts.ts";
import { SiteResolver } from "./site-places.ts";

/** List paths. */
const TAGS = "/api/extras/tags/";
const SITES = "/api/dcim/sites/";
const CUSTOM_FIELDS = "/api/extras/custom-fields/";
const VLANS = "/api/ipam/vlans/";
const PREFIXES = "/api/ipam/prefixes/";
const IP_ADDRESSES = "/api/ipam/ip-addresses/";

const NOT_IMPORTED = [
  "regions, groups of sites, tenants, contacts",
  "role of devices, prefixes and addresses; their status, except Container",
  "cables, circuits, power, modules, inventory items",
  "VRFs, aggregates, IP ranges, services, FHRP groups",
  "journals, images, configuration contexts; custom fields of other objects",
] as const;

/** Reads an object: a sentence if it is invalid, null to skip it. */
type ObjectReader<T> = (object: ForeignObject, origin: Origin) => Promise<T | string | null> | T | string;

export class Netbox implements ImportSource {
  readonly title: string;
  readonly reason: string;
  readonly leftOut = NOT_IMPORTED;
  private readonly api: NetboxApi;
  private readonly identity: string;
  private readonly sites: SiteResolver;
  private readonly custom: NetboxCustomFields;
  private readonly prefixes = new PrefixMap<NetworkRef>();
  /** Without any, all prefixes are of one network. */
  private hasSites = false;

  /** @throws RemoteError */
  static async open(server: NetboxServer, identity: string): Promise<Netbox> {
    const api = new NetboxApi(server, identity);
    return new Netbox(api, identity, await api.version());
  }

  private constructor(api: NetboxApi, identity: string, version: string) {
    this.api = api;
    this.identity = identity;
    this.title = `NetBox ${version}`;
    this.reason = `Import from NetBox at ${identity}`;
    this.custom = new NetboxCustomFields(api);
    this.sites = new SiteResolver(api);
  }

  derivedId(url: string, detail: string): string {
    return idOfUrl(`${url === "" ? this.identity : this.identityOfUrl(url)}#${detail}`);
  }

  tags(): Batches<ImportedTag> {
    return this.objects(TAGS, (tag, origin) => {
      const { name, color, description } = tag;
      return {
        ...origin,
        name: asText(name) ?? "",
        color: nearestColor(asText(color)),
        description: asText(description),
      };
    });
  }

  fields(): Batches<ImportedField> {
    return this.objects(CUSTOM_FIELDS, (field, origin) => this.custom.read(field, origin));
  }

  networks(): Batches<ImportedNetwork> {
    return this.objects(SITES, (site, origin) => {
      this.hasSites = true;
      return { ...origin, name: asText(site.name) ?? "", description: asText(site.description), tags: tagNames(site) };
    });
  }

  vlans(): Batches<ImportedVlan> {
    return this.objects(VLANS, async (vlan, origin) => {
      const number = asInteger(vlan.vid);
      if (number === null) return "has no vid";
      return {
        ...origin,
        network: this.placeOfSite(await this.sites.siteOf(vlan)),
        number,
        name: asText(vlan.name),
        description: asText(vlan.description),
        custom: this.custom.valuesOf(vlan, "vlan"),
      };
    });
  }

  subnets(): Batches<ImportedSubnet> {
    return this.objects(PREFIXES, async (prefix, origin) => {
      const cidr = asText(prefix.prefix);
      if (cidr === null) return "has no prefix";
      const network = this.placeOfSite(await this.sites.siteOf(prefix));
      this.prefixes.add(spaceOf(prefix), cidr, network);
      return {
        ...origin,
        network,
        cidr,
        type: (network === null && this.hasSites) || choiceOf(prefix.status) === "container" ? "Container" : null,
        name: null,
        description: asText(prefix.description),
        vlan: this.vlanName(prefix.vlan),
        tags: tagNames(prefix),
        custom: this.custom.valuesOf(prefix, "subnet"),
      };
    });
  }

  hosts() {
    return new NetboxHosts(this.api, {
      originOf: (path, object) => this.originOf(path, object),
      placeOf: async (object) => this.placeOfSite(await this.sites.siteOf(object)),
      vlanName: (value) => this.vlanName(value),
      custom: this.custom,
    }).all();
  }

  /** Addresses without a device. */
  async *ranges(): Batches<ImportedRange> {
    for await (const page of this.api.pages(IP_ADDRESSES, "&assigned_to_interface=false")) {
      yield page.flatMap((object) => {
        // Check even though the list is filtered: addresses of devices are imported with them.
        if (/interface$/.test(asText(object.assigned_object_type) ?? "")) return [];
        const origin = this.originOf(IP_ADDRESSES, object);
        return isRefused(origin) ? [origin] : [catchRefusalSync(origin.url, () => this.rangeOf(object, origin))];
      });
    }
  }

  private rangeOf(object: ForeignObject, origin: Origin): ImportedRange | Refused {
    const address = addressOf(object.address);
    if (address === null) return { url: origin.url, refused: "has no IP address with a prefix length" };
    const texts = [asText(object.dns_name), asText(object.description)].filter((text) => text !== null);
    return {
      ...origin,
      network: this.prefixes.lookup(spaceOf(object), address.ip) ?? null,
      first: address.ip,
      last: address.ip,
      prefixLength: address.prefixLength,
      purpose: "Reserved",
      description: texts.length === 0 ? null : texts.join(": "),
      tags: tagNames(object),
      custom: this.custom.valuesOf(object, "ip_range"),
    };
  }

  private async *objects<T extends object>(path: string, read: ObjectReader<T>): Batches<T> {
    for await (const page of this.api.pages(path)) {
      const batch: Array<T | Refused> = [];
      for (const object of page) {
        const origin = this.originOf(path, object);
        if (isRefused(origin)) {
          batch.push(origin);
          continue;
        }
        const wanted = await catchRefusal(origin.url, () => read(object, origin));
        if (wanted === null) continue;
        batch.push(typeof wanted === "string" ? { url: origin.url, refused: wanted } : wanted);
      }
      yield batch;
    }
  }

  private originOf(path: string, object: ForeignObject): Origin | Refused {
    const url = this.api.urlOf(path, object);
    const id = idOf(object);
    return id === null ? { url, refused: "has no id" } : { url, id: idOfUrl(this.api.identityOf(path, id)) };
  }

  private placeOfSite(site: number | null): NetworkRef {
    return site === null ? null : idOfUrl(this.api.identityOf(SITES, site));
  }

  private vlanName(value: unknown): VlanName | null {
    const vlan = asObject(value);
    const number = asInteger(vlan?.vid);
    return vlan === null || number === null
      ? null
      : { url: this.api.urlOf(VLANS, vlan), number, name: asText(vlan.name) };
  }

  /** Converts a user-visible URL to the form used for IDs. */
  private identityOfUrl(url: string): string {
    const path = url.slice(url.indexOf("/api/"));
    if (path === url) throw new RemoteError(`${url} is not a URL of this NetBox`);
    return this.identity + path;
  }
}

/** Addresses are unique within a VRF at most. */
function spaceOf(object: ForeignObject): string {
  return String(idOf(object.vrf) ?? "");
}
