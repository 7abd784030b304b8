// Former devices: hosts that ended, by their last name or addresses, and devices without a known MAC address.

import type { Instant } from "../../base/instant.ts";
import type { Reader } from "../../db/reading/reader.ts";
import { exactTerm } from "../../db/search-text.ts";
import { hostKind } from "../../resources/hosts/host.ts";
import { ipAddressKind } from "../../resources/ip-addresses/ip-address.ts";
import { macsSeenAt } from "../../resources/sightings.ts";
import { hostMacs, type LastPlaces } from "../last-place.ts";
import type { Visibility } from "../records-at.ts";
import type { Candidate } from "./locate-schema.ts";
import { matchingName, nameQuery } from "./names.ts";

/** A device whose host ended. */
interface FormerDevice {
  readonly networkId: string;
  readonly macs: readonly string[];
}

/** Ended hosts with this name, most recently ended first; exact matches precede prefix matches. */
export function formerHosts(
  reader: Reader,
  places: LastPlaces,
  name: string,
  visibility: Visibility,
): readonly FormerDevice[] {
  const query = nameQuery(name, (text) => text);
  const found = query === null ? [] : [...places.ended(hostKind, query)];
  const matching = found.flatMap(({ n, record, died }) => {
    const match = matchingName(record, name);
    const macs = () => hostMacs(reader, n, died - 1, visibility);
    return match === null ? [] : [{ isExact: match.isExact, networkId: record.network_id, macs }];
  });
  const exact = matching.filter(({ isExact }) => isExact);
  return (exact.length > 0 ? exact : matching).map(({ networkId, macs }) => ({ networkId, macs: macs() }));
}

/** A live host, by its last addresses. */
export function formerSelf(
  reader: Reader,
  { host, network_id: networkId }: Pick<Candidate, "host" | "network_id">,
  sequence: number,
  visibility: Visibility,
): readonly FormerDevice[] {
  const n = host === null ? null : reader.recordN(host.id);
  return n === null ? [] : [{ networkId, macs: hostMacs(reader, n, sequence, visibility) }];
}

/** Devices seen at an IP address, most recently seen first; then those with the address when their record ended. */
export function formerHolders(
  reader: Reader,
  places: LastPlaces,
  address: string,
  visibility: Visibility,
  at: Instant | null,
): readonly FormerDevice[] {
  const seen = macsSeenAt(reader.db, visibility, address, at).map(({ networkId, mac }) => ({
    networkId,
    macs: [mac],
  }));
  const ended = [...places.ended(ipAddressKind, exactTerm(address))].flatMap(({ record }) =>
    record.ip_address === address && record.mac_address !== null
      ? [{ networkId: record.network_id, macs: [record.mac_address] }]
      : [],
  );
  return [...seen, ...ended];
}
