// Writer commands for records that scans saw or no longer see.

import type { CommandActor } from "../../access/actor.ts";
import { getReferenced } from "../../access/reach.ts";
import { formatInstant, parseInstant } from "../../base/instant.ts";
import type { AnyKind } from "../../db/kind.ts";
import { markLongRunning } from "../../db/writing/command.ts";
import type { WriteTransaction } from "../../db/writing/transaction.ts";
import { componentKind } from "../../resources/components/component.ts";
import { hostKind } from "../../resources/hosts/host.ts";
import { ifEntryKind } from "../../resources/if-entries/if-entry.ts";
import { ipAddressKind } from "../../resources/ip-addresses/ip-address.ts";
import { networkKind } from "../../resources/networks/network.ts";
import { portKind } from "../../resources/ports/port.ts";
import { serviceKind } from "../../resources/services/service.ts";
import { KEPT_ROW } from "../rows.ts";
import { inputOf } from "../sighting-lines.ts";
import type { AddressSighting, DeviceSighting, Recorded } from "../sightings.ts";
import { registerResponses } from "./address-claims.ts";
import { recordAddress } from "./record-address.ts";
import { recordDevice } from "./record-device.ts";
import { recordResponses } from "./record-sightings.ts";
import { type ScanInput, ScanWrite } from "./scan-write.ts";
import { SubnetAssigner } from "./subnet-assignment.ts";

/**
 * Records devices that responded to SNMP. recordAddresses writes their neighbors later, since these may be devices too.
 * @throws DomainError entity_reference_invalid if the network was deleted
 */
export function recordDevices(
  tx: WriteTransaction,
  input: ScanInput & { readonly sightings: readonly DeviceSighting[] },
  actor: CommandActor,
): Recorded {
  getReferenced(tx, networkKind, [input.network_id], "network_id", actor);
  const write = new ScanWrite(tx, input, actor);
  const subnets = new SubnetAssigner(write, input.blocks, input.are_blocks_accepting);
  for (const sighting of input.sightings) recordDevice(write, subnets, sighting);
  subnets.settle();
  return write.result();
}

/**
 * Records addresses that responded, and addresses from neighbor tables within the network's subnets.
 * @throws DomainError entity_reference_invalid if the network was deleted
 */
export function recordAddresses(
  tx: WriteTransaction,
  input: ScanInput & { readonly sightings: readonly AddressSighting[] },
  actor: CommandActor,
): Recorded {
  getReferenced(tx, networkKind, [input.network_id], "network_id", actor);
  const write = new ScanWrite(tx, input, actor);
  const subnets = new SubnetAssigner(write, input.blocks, input.are_blocks_accepting);
  recordResponses(write, input.sightings);
  registerResponses(write, input.sightings);
  for (const sighting of input.sightings) {
    const isLearned = sighting.answered.length === 0;
    const isOutside = isLearned && !subnets.contains(sighting.ip_address);
    const outcome = isOutside ? "outside" : recordAddress(write, subnets, sighting);
    const { ip_address, mac_address } = sighting;
    if (isLearned && outcome !== KEPT_ROW) write.setAside.push({ ip_address, mac_address, reason: outcome });
  }
  subnets.settle();
  return write.result();
}

/** Accepts input as bytes of sighting-lines.ts, which the main thread forwards without parsing. */
export function fromScan<Input, Result>(command: (tx: WriteTransaction, input: Input, actor: CommandActor) => Result) {
  return markLongRunning(
    (tx: WriteTransaction, input: { readonly bytes: Uint8Array }, actor: CommandActor): Result =>
      command(tx, inputOf<Input>(new TextDecoder().decode(input.bytes)), actor),
  );
}

export const AGING_KINDS: readonly AnyKind[] = [
  hostKind,
  ipAddressKind,
  ifEntryKind,
  portKind,
  serviceKind,
  componentKind,
];

/**
 * Marks records as stale that were not seen for longer than their network allows, unless they have been seen since.
 * @param input.records from findUnseen
 */
export function markStale(
  tx: WriteTransaction,
  input: ScanInput & { readonly records: ReadonlyArray<{ readonly entity: string; readonly id: string }> },
  actor: CommandActor,
): Recorded {
  const [network] = getReferenced(tx, networkKind, [input.network_id], "network_id", actor);
  const write = new ScanWrite(tx, input, actor);
  const hours = network?.stale_after_hours ?? null;
  if (hours === null) return write.result();
  for (const { entity, id } of input.records) {
    const kind = AGING_KINDS.find((each) => each.name === entity);
    const record = kind === undefined ? null : tx.find(kind, id);
    if (kind === undefined || record === null || record.stale_since !== undefined) continue;
    const lastSeen = parseInstant(tx.observedOf(id).last_seen_at ?? "");
    const staleSince = lastSeen === null ? null : lastSeen + hours * 3_600_000;
    if (staleSince === null || staleSince > tx.instant) continue;
    tx.update(kind, id, { stale_since: formatInstant(staleSince) });
    if (kind.code === hostKind.code) write.recordSeen(id, "", `not seen since ${formatInstant(lastSeen ?? 0)}`);
  }
  return { ...write.result(), hosts: [] };
}
