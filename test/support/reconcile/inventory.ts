// Inventory of an appliance as scans left it, read through its API by the owner.

import { expect } from "bun:test";
import type { TestAppliance } from "../appliance/appliance.ts";
import type { Wire } from "../appliance/factories.ts";

/** Lists of the inventory of an appliance that may be renewed between the tests. */
export function inventoryOf({ owner }: Pick<TestAppliance, "owner">) {
  const get = async (path: string): Promise<any> => {
    const answer = await owner.get(path);
    expect(answer.body).toMatchObject({ success: true });
    return answer.data;
  };
  const hosts = (): Promise<Wire[]> => get("hosts?order_by=name");
  return {
    get,
    hosts,
    entries: (): Promise<Wire[]> => get("if-entries?order_by=if_index"),
    /** Each host's name, or another field of it, and its addresses: `sw-1 10.0.0.2 10.0.0.9`. */
    holders: async (field = "name"): Promise<string[]> =>
      (await hosts()).map((each) => [each[field], ...addressesOf(each)].join(" ")),
  };
}

/** Addresses of a host, in the order of their texts. */
export function addressesOf(host: Wire | undefined): string[] {
  return host?.ip_addresses.map((each: Wire) => each.ip_address).sort();
}
