// Writer command that ends expired records. Records that a user edited or placed on the map become stale instead.

import type { CommandActor } from "../../access/actor.ts";
import { getReferenced } from "../../access/reach.ts";
import { formatInstant, parseInstant } from "../../base/instant.ts";
import type { AnyKind, Kind, RecordBase } from "../../db/kind.ts";
import type { WriteTransaction } from "../../db/writing/transaction.ts";
import { bindingKind } from "../../resources/bindings/binding.ts";
import type { Discoverable } from "../../resources/discovered.ts";
import { type HostRecord, hostKind } from "../../resources/hosts/host.ts";
import { type IpAddressRecord, ipAddressKind } from "../../resources/ip-addresses/ip-address.ts";
import { networkKind } from "../../resources/networks/network.ts";
import { portKind } from "../../resources/ports/port.ts";
import { serviceKind } from "../../resources/services/service.ts";
import type { Recorded } from "../sightings.ts";
import { COVERING_SCANS_MIN } from "./covering-scans.ts";
import { hasInterfaces, hasReported } from "./device-hosts.ts";
import type { Expired } from "./expired.ts";
import { looksDerived, renameDerived } from "./host-names.ts";
import { isUserEdited } from "./protected-records.ts";
import { expireSightings } from "./record-sightings.ts";
import { type ScanInput, ScanWrite } from "./scan-write.ts";
import { selfHost } from "./self-host.ts";

/** Parts that end with their host. */
const PARTS: readonly AnyKind[] = [ipAddressKind, portKind, serviceKind, bindingKind];

/**
 * Ends expired records and sightings, unless they have been seen since. Hosts that ever responded to SNMP become stale.
 * @param input.records hosts before addresses
 * @param input.sightings numbers of sightings
 * @throws DomainError entity_reference_invalid if the network was deleted
 */
export function expireUnseen(
  tx: WriteTransaction,
  input: ScanInput & { readonly records: readonly Expired[]; readonly sightings: readonly number[] },
  actor: CommandActor,
): Recorded {
  getReferenced(tx, networkKind, [input.network_id], "network_id", actor);
  const write = new ScanWrite(tx, input, actor);
  const ownHost = selfHost(tx, input.network_id)?.id;
  let isCutOff = false;
  for (const expired of input.records) {
    const isHost = expired.entity === hostKind.name;
    const host = isHost ? tx.find(hostKind, expired.id) : null;
    const address = isHost ? null : tx.find(ipAddressKind, expired.id);
    if (tx.observedOf(expired.id).last_seen_at !== expired.last_seen_at) continue;
    if (host !== null && host.id !== ownHost && !expireHost(write, host, expired)) isCutOff = true;
    if (address !== null && address.host_id !== ownHost && !expireAddress(write, address, expired)) isCutOff = true;
    // Otherwise an address would end before its host, which is left for the next command.
    if (isCutOff) break;
  }
  if (input.sightings.length > 0) expireSightings(write, input.sightings);
  return { ...write.result(), hosts: [], ...(isCutOff ? { is_cut_off: true } : {}) };
}

/** @returns false if the record is left for another command */
function expireHost(write: ScanWrite, host: HostRecord, expired: Expired): boolean {
  const { tx } = write;
  const parts = PARTS.flatMap((kind) => tx.children(kind, "host_n", host.id).map((record) => ({ kind, record })));
  const hasAnswered = hasReported(tx, host.id) || hasInterfaces(tx, host.id) || host.sys_object_id !== null;
  const isKept =
    hasAnswered ||
    host.source.type === "Manual" ||
    isUserEdited(tx, hostKind, host) ||
    parts.some(({ kind, record }) => isUserEdited(tx, kind, record));
  if (isKept) {
    markStale(write, hostKind, host, expired);
    return true;
  }
  if (!write.mayEnd(parts.length + 1)) return false;
  write.close(hostKind, host, host.name, reasonOf(expired));
  return true;
}

/** @returns false if the record is left for another command */
function expireAddress(write: ScanWrite, address: IpAddressRecord, expired: Expired): boolean {
  const { tx } = write;
  const host = tx.get(hostKind, address.host_id);
  if (isUserEdited(tx, ipAddressKind, address)) {
    markStale(write, ipAddressKind, address, expired);
    return true;
  }
  if (!write.mayEnd()) return false;
  write.close(ipAddressKind, address, `${address.ip_address} of ${host.name}`, reasonOf(expired));
  write.index.forget(host.id);
  const others = tx.children(ipAddressKind, "host_n", host.id);
  if (looksDerived(host)) renameDerived(write, host, new Map(others.map((each) => [each.ip_address, each])));
  return true;
}

function markStale<R extends RecordBase & Discoverable>(
  { tx }: ScanWrite,
  kind: Kind<R>,
  record: R,
  { last_seen_at, hours }: Expired,
): void {
  if (record.stale_since !== undefined) return;
  const stale_since = formatInstant((parseInstant(last_seen_at) ?? tx.instant) + hours * 3_600_000);
  tx.update<RecordBase, object>(kind as unknown as Kind<RecordBase>, record.id, { stale_since });
}

function reasonOf({ last_seen_at, hours }: Expired): string {
  return `not seen since ${last_seen_at}: expired after ${hours} hours and ${COVERING_SCANS_MIN} scans that did not find it`;
}
