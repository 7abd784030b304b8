// Random events among few IPv4 and IPv6 addresses, for models of address queries. No assertions.

import type { Client } from "../appliance/client.ts";
import type { Wire } from "../appliance/factories.ts";
import type { SeededRandom } from "../injected/seeded-random.ts";

/** Creates, changes and deletes subnets, hosts with addresses, and ranges, among few addresses of both versions. */
export class AddressScene {
  private readonly owner: Client;
  private readonly random: SeededRandom;
  private readonly networkIds: readonly string[];

  constructor(owner: Client, random: SeededRandom, networkIds: readonly string[]) {
    this.owner = owner;
    this.random = random;
    this.networkIds = networkIds;
  }

  /** One write; a refused one writes nothing. */
  async happen(): Promise<void> {
    const { owner, random } = this;
    const network_id = this.networkIds[random.integer(this.networkIds.length)] as string;
    const isSix = random.integer(3) === 0;
    const address = (n: number) => (isSix ? `2001:db8::${n.toString(16)}` : `10.0.${n >> 8}.${n & 255}`);
    const anyOf = async (path: string) => {
      const { data } = await owner.get(`${path}?limit=0`);
      return data[random.integer(data.length)] as Wire | undefined;
    };
    const at = random.integer(512);
    switch (random.integer(8)) {
      case 0:
      case 1: {
        const bits = random.integer(10);
        const cidr = `${address((at >> bits) << bits)}/${(isSix ? 128 : 32) - bits}`;
        await owner.post("subnets", { network_id, cidr });
        return;
      }
      case 2:
      case 3: {
        const ip_addresses = [at, random.integer(512), at ^ 1].map((n) => ({ ip_address: address(n) }));
        await owner.post("hosts", { network_id, name: "host", ip_addresses });
        return;
      }
      case 4: {
        const purpose = ["Dhcp", "Reserved", "Static", "Gateway"][random.integer(4)];
        const last = Math.min(511, at + random.integer(60));
        await owner.post("ip-ranges", { network_id, first: address(at), last: address(last), purpose });
        return;
      }
      case 5: {
        const path = ["ip-ranges", "hosts", "ip-addresses"][random.integer(3)] as string;
        await owner.delete(`${path}/${(await anyOf(path))?.id}`);
        return;
      }
      case 6: {
        const found = await anyOf("ip-addresses");
        await owner.put(`ip-addresses/${found?.id}`, { ip_address: address(at) });
        return;
      }
      default: {
        const found = await anyOf("subnets");
        if (random.integer(3) === 0) await owner.delete(`subnets/${found?.id}?cascade=true`);
      }
    }
  }

  async all(): Promise<Record<"subnets" | "addresses" | "ranges", Wire[]>> {
    const all = async (path: string) => (await this.owner.get(`${path}?limit=0`)).data as Wire[];
    return { subnets: await all("subnets"), addresses: await all("ip-addresses"), ranges: await all("ip-ranges") };
  }
}

/** Index of an address among those of its version. */
export function placeOf(address: string): number {
  if (address.includes(":")) return Number.parseInt(address.slice("2001:db8::".length) || "0", 16);
  const [, , high = 0, low = 0] = address.split(".").map(Number);
  return high * 256 + low;
}

/** Address of an index and version. */
export function addressOf(place: number, isSix: boolean): string {
  if (!isSix) return `10.0.${place >> 8}.${place & 255}`;
  return place === 0 ? "2001:db8::" : `2001:db8::${place.toString(16)}`;
}

/** A subnet with the records of its network and IP version, each as a list of indexes. */
export interface Spread {
  readonly id: string;
  readonly networkId: string;
  readonly cidr: string;
  readonly isSix: boolean;
  readonly places: readonly number[];
  /** Other subnets nested in it. */
  readonly within: ReadonlyArray<{ readonly record: Wire; readonly places: readonly number[] }>;
  readonly ranges: readonly Wire[];
  readonly addresses: readonly Wire[];
}

/** Past records by subnet, as plain lists of indexes. */
export function spreadOf({ subnets, addresses, ranges }: Awaited<ReturnType<AddressScene["all"]>>): Spread[] {
  const placesOf = (cidr: string) => {
    const [base = "", length = ""] = cidr.split("/");
    const size = 2 ** ((base.includes(":") ? 128 : 32) - Number(length));
    return Array.from({ length: size }, (_, n) => placeOf(base) + n);
  };
  return subnets.map(({ id, network_id, cidr }) => {
    const isSix = cidr.includes(":");
    const places = placesOf(cidr);
    const isHere = (record: Wire, text: string) => record.network_id === network_id && text.includes(":") === isSix;
    return {
      id,
      networkId: network_id,
      cidr,
      isSix,
      places,
      within: subnets
        .filter((other) => isHere(other, other.cidr) && other.id !== id)
        .map((record) => ({ record, places: placesOf(record.cidr) }))
        .filter((other) => other.places.length < places.length && places.includes(other.places[0] as number)),
      ranges: ranges.filter((range) => isHere(range, range.first)),
      addresses: addresses.filter((address) => isHere(address, address.ip_address)),
    };
  });
}

/** Indexes that an allocation may return, ascending. */
export function freePlaces(subnet: Spread): number[] {
  return subnet.places.filter((place) => isUntouched(subnet, place) && !isNobodys(subnet, place));
}

/** Network address, and in IPv4 the broadcast address, except for the two longest prefixes. */
export function isNobodys({ places, isSix }: Spread, place: number): boolean {
  return places.length > 2 && (place === places[0] || (!isSix && place === places.at(-1)));
}

function isUntouched({ within, ranges, addresses }: Spread, place: number): boolean {
  return (
    !within.some((other) => other.places.includes(place)) &&
    !ranges.some(({ first, last }) => placeOf(first) <= place && place <= placeOf(last)) &&
    !addresses.some(({ ip_address }) => placeOf(ip_address) === place)
  );
}

interface SpreadPrefix {
  readonly text: string;
  readonly places: readonly number[];
}

/** All prefixes of a length within a subnet. */
export function cidrsOf({ places, isSix }: Spread, length: number): SpreadPrefix[] {
  const size = 2 ** ((isSix ? 128 : 32) - length);
  return places
    .filter((_, n) => n % size === 0)
    .map((place) => ({
      text: `${addressOf(place, isSix)}/${length}`,
      places: Array.from({ length: size }, (_, n) => place + n),
    }));
}

export function prefixIsFree(subnet: Spread, { places }: SpreadPrefix): boolean {
  const isSingle = places.length === 1;
  return places.every((place) => isUntouched(subnet, place) && !(isSingle && isNobodys(subnet, place)));
}
