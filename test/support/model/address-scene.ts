// Random writes over a small pool of IPv4 and IPv6 addresses, for models of address queries. No assertions.

import type { Client } from "../appliance/client.ts";
import type { JsonRecord } from "../appliance/factories.ts";
import type { SeededRandom } from "../injected/seeded-random.ts";

/** Creates, changes and deletes subnets, hosts with addresses, and ranges, over a small pool of addresses. */
export class AddressScene {
  private readonly owner: Client;
  private readonly random: SeededRandom;
  private readonly networkIds: readonly string[];

  constructor(owner: Client, random: SeededRandom, networkIds: readonly string[]) {
    this.owner = owner;
    this.random = random;
    this.networkIds = networkIds;
  }

  /** Attempts one random write, which may be refused. */
  async mutate(): Promise<void> {
    const { owner, random } = this;
    const network_id = this.networkIds[random.integer(this.networkIds.length)] as string;
    const isIpv6 = random.integer(3) === 0;
    const address = (n: number) => (isIpv6 ? `2001:db8::${n.toString(16)}` : `10.0.${n >> 8}.${n & 255}`);
    const randomRecord = async (path: string) => {
      const { data } = await owner.get(`${path}?limit=0`);
      return data[random.integer(data.length)] as JsonRecord | undefined;
    };
    const start = random.integer(512);
    switch (random.integer(8)) {
      case 0:
      case 1: {
        const bits = random.integer(10);
        const cidr = `${address((start >> bits) << bits)}/${(isIpv6 ? 128 : 32) - bits}`;
        await owner.post("subnets", { network_id, cidr });
        return;
      }
      case 2:
      case 3: {
        const ip_addresses = [start, random.integer(512), start ^ 1].map((n) => ({ ip_address: address(n) }));
        await owner.post("hosts", { network_id, name: "host", ip_addresses });
        return;
      }
      case 4: {
        const purpose = ["Dhcp", "Reserved", "Static", "Gateway"][random.integer(4)];
        const last = Math.min(511, start + random.integer(60));
        await owner.post("ip-ranges", { network_id, first: address(start), last: address(last), purpose });
        return;
      }
      case 5: {
        const path = ["ip-ranges", "hosts", "ip-addresses"][random.integer(3)] as string;
        await owner.delete(`${path}/${(await randomRecord(path))?.id}`);
        return;
      }
      case 6: {
        const found = await randomRecord("ip-addresses");
        await owner.put(`ip-addresses/${found?.id}`, { ip_address: address(start) });
        return;
      }
      default: {
        const found = await randomRecord("subnets");
        if (random.integer(3) === 0) await owner.delete(`subnets/${found?.id}?cascade=true`);
      }
    }
  }

  async list(): Promise<Record<"subnets" | "addresses" | "ranges", JsonRecord[]>> {
    const list = async (path: string) => (await this.owner.get(`${path}?limit=0`)).data as JsonRecord[];
    return { subnets: await list("subnets"), addresses: await list("ip-addresses"), ranges: await list("ip-ranges") };
  }
}

/** Index of an address within its address family. */
export function addressIndex(address: string): number {
  if (address.includes(":")) return Number.parseInt(address.slice("2001:db8::".length) || "0", 16);
  const [, , high = 0, low = 0] = address.split(".").map(Number);
  return high * 256 + low;
}

/** Address with an index: the inverse of addressIndex. */
export function addressOf(index: number, isIpv6: boolean): string {
  if (!isIpv6) return `10.0.${index >> 8}.${index & 255}`;
  return index === 0 ? "2001:db8::" : `2001:db8::${index.toString(16)}`;
}

/** A subnet with the records of its network and IP version, each as a list of indexes. */
export interface SubnetView {
  readonly id: string;
  readonly networkId: string;
  readonly cidr: string;
  readonly isIpv6: boolean;
  readonly indexes: readonly number[];
  /** Other subnets nested in it. */
  readonly nested: ReadonlyArray<{ readonly record: JsonRecord; readonly indexes: readonly number[] }>;
  readonly ranges: readonly JsonRecord[];
  readonly addresses: readonly JsonRecord[];
}

/** Records by subnet, with addresses as plain lists of indexes. */
export function subnetViews({ subnets, addresses, ranges }: Awaited<ReturnType<AddressScene["list"]>>): SubnetView[] {
  const indexesOf = (cidr: string) => {
    const [base = "", length = ""] = cidr.split("/");
    const size = 2 ** ((base.includes(":") ? 128 : 32) - Number(length));
    return Array.from({ length: size }, (_, n) => addressIndex(base) + n);
  };
  return subnets.map(({ id, network_id, cidr }) => {
    const isIpv6 = cidr.includes(":");
    const indexes = indexesOf(cidr);
    const isInScope = (record: JsonRecord, text: string) =>
      record.network_id === network_id && text.includes(":") === isIpv6;
    return {
      id,
      networkId: network_id,
      cidr,
      isIpv6,
      indexes,
      nested: subnets
        .filter((other) => isInScope(other, other.cidr) && other.id !== id)
        .map((record) => ({ record, indexes: indexesOf(record.cidr) }))
        .filter((other) => other.indexes.length < indexes.length && indexes.includes(other.indexes[0] as number)),
      ranges: ranges.filter((range) => isInScope(range, range.first)),
      addresses: addresses.filter((address) => isInScope(address, address.ip_address)),
    };
  });
}

/** Indexes that an allocation may return, ascending. */
export function freeIndexes(subnet: SubnetView): number[] {
  return subnet.indexes.filter((index) => isUnused(subnet, index) && !isReserved(subnet, index));
}

/** Whether an address is the network address or, in IPv4, the broadcast address; never in the two longest prefixes. */
export function isReserved({ indexes, isIpv6 }: SubnetView, index: number): boolean {
  return indexes.length > 2 && (index === indexes[0] || (!isIpv6 && index === indexes.at(-1)));
}

function isUnused({ nested, ranges, addresses }: SubnetView, index: number): boolean {
  return (
    !nested.some((other) => other.indexes.includes(index)) &&
    !ranges.some(({ first, last }) => addressIndex(first) <= index && index <= addressIndex(last)) &&
    !addresses.some(({ ip_address }) => addressIndex(ip_address) === index)
  );
}

interface IndexedPrefix {
  readonly text: string;
  readonly indexes: readonly number[];
}

/** All prefixes of a length within a subnet. */
export function cidrsOf({ indexes, isIpv6 }: SubnetView, length: number): IndexedPrefix[] {
  const size = 2 ** ((isIpv6 ? 128 : 32) - length);
  return indexes
    .filter((_, n) => n % size === 0)
    .map((index) => ({
      text: `${addressOf(index, isIpv6)}/${length}`,
      indexes: Array.from({ length: size }, (_, n) => index + n),
    }));
}

export function isPrefixFree(subnet: SubnetView, { indexes }: IndexedPrefix): boolean {
  const isSingle = indexes.length === 1;
  return indexes.every((index) => isUnused(subnet, index) && !(isSingle && isReserved(subnet, index)));
}
