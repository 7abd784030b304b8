// Inventory of an appliance after scans, read through its API by the owner.

import { expect } from "bun:test";
import type { TestAppliance } from "../appliance/appliance.ts";
import type { JsonRecord } from "../appliance/factories.ts";

/** Lists of the inventory of an appliance that may be replaced between tests. */
export function inventoryOf({ owner }: Pick<TestAppliance, "owner">) {
  const get = async (path: string): Promise<any> => {
    const response = await owner.get(path);
    expect(response.body).toMatchObject({ success: true });
    return response.data;
  };
  const hosts = (): Promise<JsonRecord[]> => get("hosts?order_by=name");
  return {
    get,
    hosts,
    entries: (): Promise<JsonRecord[]> => get("if-entries?order_by=if_index"),
    /** Each host's name, or another field of it, and its addresses: `sw-1 10.0.0.2 10.0.0.9`. */
    holders: async (field = "name"): Promise<string[]> =>
      (await hosts()).map((host) => [host[field], ...addressesOf(host)].join(" ")),
  };
}

/** Addresses of a host, sorted as texts. */
export function addressesOf(host: JsonRecord | undefined): string[] {
  return host?.ip_addresses.map(({ ip_address }: JsonRecord) => ip_address).sort();
}
