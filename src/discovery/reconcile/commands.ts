// The writer's commands for what scans saw, and no longer see.

import type { CommandActor } from "../../access/actor.ts";
import { getReferenced } from "../../access/reach.ts";
import { formatInstant, parseInstant } from "../../base/instant.ts";
import type { AnyKind } from "../../db/kind.ts";
import { takingLong } from "../../db/writing/command.ts";
import type { WriteTransaction } from "../../db/writing/transaction.ts";
import { hostKind } from "../../resources/hosts/host.ts";
import { ifEntryKind } from "../../resources/if-entries/if-entry.ts";
import { ipAddressKind } from "../../resources/ip-addresses/ip-address.ts";
import { networkKind } from "../../resources/networks/network.ts";
import { portKind } from "../../resources/ports/port.ts";
import { serviceKind } from "../../resources/services/service.ts";
import { KEPT_ROW } from "../rows.ts";
import type { AddressSighting, DeviceSighting, Recorded } from "../sightings.ts";
import { recordAddress } from "./record-address.ts";
import { recordDevice } from "./record-device.ts";
import { type ScanInput, ScanWrite } from "./scan-write.ts";
import { SubnetPlacer } from "./subnet-placer.ts";

/**
 * Devices that answered SNMP. Their neighbors are written later, by recordAddresses: they may be other devices.
 * @throws DomainError entity_reference_invalid for a network that is gone
 */
export function recordDevices(
  tx: WriteTransaction,
  input: ScanInput & { readonly sightings: readonly DeviceSighting[] },
  actor: CommandActor,
): Recorded {
  getReferenced(tx, networkKind, [input.network_id], "network_id", actor);
  const write = new ScanWrite(tx, input, actor);
  const subnets = new SubnetPlacer(write, input.blocks, input.are_blocks_accepting);
  for (const sighting of input.sightings) recordDevice(write, subnets, sighting);
  return write.result();
}

/**
 * Addresses that answered, and overheard ones in the network's subnets.
 * @throws DomainError entity_reference_invalid for a network that is gone
 */
export function recordAddresses(
  tx: WriteTransaction,
  input: ScanInput & { readonly sightings: readonly AddressSighting[] },
  actor: CommandActor,
): Recorded {
  getReferenced(tx, networkKind, [input.network_id], "network_id", actor);
  const write = new ScanWrite(tx, input, actor);
  const subnets = new SubnetPlacer(write, input.blocks, input.are_blocks_accepting);
  for (const sighting of input.sightings) {
    const isHearsay = sighting.answered.length === 0;
    const isOutside = isHearsay && !subnets.contains(sighting.ip_address);
    const fate = isOutside ? "outside" : recordAddress(write, subnets, sighting);
    if (isHearsay && fate !== KEPT_ROW) write.setAside.push({ ip_address: sighting.ip_address, reason: fate });
  }
  return write.result();
}

/** For input as JSON bytes, which the answering thread passes on unread. */
export function fromScan<Input, Result>(command: (tx: WriteTransaction, input: Input, actor: CommandActor) => Result) {
  return takingLong(
    (tx: WriteTransaction, input: { readonly bytes: Uint8Array }, actor: CommandActor): Result =>
      command(tx, JSON.parse(new TextDecoder().decode(input.bytes)) as Input, actor),
  );
}

export const PERISHABLE: readonly AnyKind[] = [hostKind, ipAddressKind, ifEntryKind, portKind, serviceKind];

/**
 * Marks records unseen for longer than their network allows as stale, unless seen meanwhile.
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
    const kind = PERISHABLE.find((each) => each.name === entity);
    const record = kind === undefined ? null : tx.find(kind, id);
    if (kind === undefined || record === null || record.stale_since !== undefined) continue;
    const lastSeen = parseInstant(tx.observedOf(id).last_seen_at ?? "");
    const staleSince = lastSeen === null ? null : lastSeen + hours * 3_600_000;
    if (staleSince === null || staleSince > tx.instant) continue;
    tx.update(kind, id, { stale_since: formatInstant(staleSince) });
    if (kind.code === hostKind.code) write.sawHost(id, "", `not seen since ${formatInstant(lastSeen ?? 0)}`);
  }
  return { ...write.result(), hosts: [] };
}
