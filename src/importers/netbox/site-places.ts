// Site lookup for NetBox objects: set directly, by a scope (NetBox 4.2), or by its location, group or cluster.

import { asInteger, asText, type ForeignObject, idOf } from "../object-fields.ts";
import type { NetboxApi } from "./netbox-api.ts";

/** Lists of objects with a site, and the field that refers to them. */
const LISTS = {
  location: "/api/dcim/locations/",
  group: "/api/ipam/vlan-groups/",
  cluster: "/api/virtualization/clusters/",
} as const;
type ListKind = keyof typeof LISTS;

export class SiteResolver {
  private readonly api: NetboxApi;
  private readonly lists = new Map<ListKind, Promise<Map<number, number | null>>>();

  constructor(api: NetboxApi) {
    this.api = api;
  }

  /** @returns the site ID; null if none, and for a region or site group @throws RemoteError */
  async siteOf(object: ForeignObject): Promise<number | null> {
    const site = idOf(object.site);
    if (site !== null) return site;
    const scopeId = asInteger(object.scope_id) ?? idOf(object.scope);
    const scopeType = asText(object.scope_type);
    if (scopeId !== null && scopeType === "dcim.site") return scopeId;
    if (scopeId !== null && scopeType === "dcim.location") return this.siteFromList("location", scopeId);
    for (const kind of ["group", "cluster"] as const) {
      const id = idOf(object[kind]);
      const found = id === null ? null : await this.siteFromList(kind, id);
      if (found !== null) return found;
    }
    return null;
  }

  private async siteFromList(kind: ListKind, id: number): Promise<number | null> {
    let list = this.lists.get(kind);
    if (list === undefined) {
      list = this.read(kind);
      this.lists.set(kind, list);
    }
    return (await list).get(id) ?? null;
  }

  /** Listed objects have their own site or scope: nested groups are not followed. */
  private async read(kind: ListKind): Promise<Map<number, number | null>> {
    const sites = new Map<number, number | null>();
    for await (const page of this.api.boundedPages(LISTS[kind])) {
      for (const object of page) {
        const id = idOf(object);
        const { site, scope_type, scope_id, scope } = object;
        if (id !== null)
          sites.set(id, await this.siteOf(kind === "location" ? { site } : { site, scope_type, scope_id, scope }));
      }
    }
    return sites;
  }
}
