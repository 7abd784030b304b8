// Selection of an interface entry's address, its `ip_address_id`. Pure.

import { parseIp } from "../../base/ip.ts";
import { isOwnAddress } from "./signs.ts";

interface StoredAddress {
  readonly id: string;
  readonly ip_address: string;
}

/** Addresses that a device reports, with their records. */
export class ReportedPlaces<Address extends StoredAddress> {
  private readonly byInterface: ReadonlyMap<number, readonly Address[]>;
  private readonly interfaceOf: ReadonlyMap<string, number>;
  private readonly mayHave: (addressId: string) => boolean;

  /**
   * @param places each address with its ifIndex, ordered by address
   * @param mayHave true if the host may have an unreported address: the read was partial, or another report has it
   */
  constructor(
    places: ReadonlyArray<readonly [ifIndex: number, address: Address]>,
    mayHave: (addressId: string) => boolean,
  ) {
    const byInterface = Map.groupBy(places, ([ifIndex]) => ifIndex);
    this.byInterface = new Map([...byInterface].map(([ifIndex, own]) => [ifIndex, own.map(([, address]) => address)]));
    this.interfaceOf = new Map(places.map(([ifIndex, { id }]) => [id, ifIndex]));
    this.mayHave = mayHave;
  }

  /**
   * Selects the address of an entry: the first global IPv4 address of its interface, else the first global IPv6
   * address, else the first one (link-local, loopback). Keeps the current one while the interface has no better one.
   * @param currentId the entry's address
   * @returns undefined to keep the current one; null if it moved to another interface, and this one has no address
   */
  addressIdOf(ifIndex: number, currentId: string | undefined): string | null | undefined {
    const at = currentId === undefined ? undefined : this.interfaceOf.get(currentId);
    if (currentId !== undefined && at === undefined && this.mayHave(currentId)) return undefined;
    const own = this.byInterface.get(ifIndex) ?? [];
    const rank = Math.min(...own.map(rankOf));
    const best = own.filter((address) => rankOf(address) === rank);
    const chosen = best.find(({ id }) => id === currentId) ?? best[0];
    return chosen?.id ?? (at === undefined ? undefined : null);
  }
}

function rankOf({ ip_address }: StoredAddress): number {
  return isOwnAddress(ip_address) ? (parseIp(ip_address)?.version ?? 6) : 10;
}
