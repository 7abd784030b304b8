// Ends TCP ports, with their services, once their host refuses connections at each address where they responded.
// Silence ends nothing, since a filter may hide a port. The addresses are stored outside the ledger.

import { integer, sqliteTable, text } from "drizzle-orm/sqlite-core";
import { ownValue } from "../../base/fields.ts";
import { KeyedRows } from "../../db/keyed-row.ts";
import { withChecksum } from "../../db/row-checksum.ts";
import type { WriteTransaction } from "../../db/writing/transaction.ts";
import { bindingKind } from "../../resources/bindings/binding.ts";
import type { HostRecord } from "../../resources/hosts/host.ts";
import { type PortRecord, portKind } from "../../resources/ports/port.ts";
import { serviceKind } from "../../resources/services/service.ts";
import type { AddressSighting } from "../sightings.ts";
import { isUserEdited, setStale } from "./protected-records.ts";
import type { ScanWrite } from "./scan-write.ts";
import { selfHost } from "./self-host.ts";

const openPorts = sqliteTable("discovery_open_ports", {
  host_n: integer().primaryKey(),
  ports: text().notNull(),
  checksum: integer().notNull(),
});
const openPortRows = new KeyedRows(openPorts, ["host_n"]);

/** Addresses where a port responded, by number; a missing port counts as open at each address of the host. */
type Places = Readonly<Record<string, readonly string[]>>;

/**
 * Ends the host's ports that are refused, and stores where the others responded. Call after recordOpenPorts.
 * @param addresses of the host
 */
export function endRefusedPorts(
  write: ScanWrite,
  host: HostRecord,
  { ip_address: address, ports: { open, refused = [] } = { asked: [], open: [] } }: AddressSighting,
  addresses: Iterable<string>,
): void {
  const { tx } = write;
  const present = new Set(addresses);
  if (!present.has(address) || (refused.length === 0 && (open.length === 0 || present.size === 1))) return;
  const [isOpen, isRefused] = [new Set(open.map(({ number }) => number)), new Set(refused)];
  const before = placesOf(tx, host.id);
  const places = { ...before };
  for (const port of tx.children(portKind, "host_n", host.id)) {
    const { number, protocol } = port;
    if (protocol !== "Tcp" || !(isOpen.has(number) || isRefused.has(number))) continue;
    const isNew = tx.recordN(port.id) === null && ownValue(places, `${number}`) === undefined;
    const known = ownValue(places, `${number}`)?.filter((each) => present.has(each)) ?? [];
    const answeredAt = known.length > 0 || isNew ? known : [...present];
    const others = answeredAt.filter((each) => each !== address);
    if (isOpen.has(number)) {
      if (others.length === answeredAt.length && present.size > 1) places[number] = [...answeredAt, address];
    } else if (others.length === answeredAt.length) continue;
    else if (others.length > 0) places[number] = others;
    else if (endPort(write, host, port, address)) delete places[number];
  }
  rememberPlaces(tx, host.id, before, places);
}

/** @returns false if the port is kept because a user edited it, or left for another command */
function endPort(write: ScanWrite, host: HostRecord, port: PortRecord, address: string): boolean {
  const { tx } = write;
  const bindings = tx.children(bindingKind, "host_n", host.id);
  const isOnlyHere = (serviceId: string) =>
    bindings.every((each) => each.service_id !== serviceId || each.port_id === port.id);
  const serviceIds = new Set(bindings.filter((each) => each.port_id === port.id).map((each) => each.service_id));
  const services = [...serviceIds].flatMap((id) => tx.find(serviceKind, id) ?? []);
  const closing = services.filter(({ id }) => isOnlyHere(id));
  // The appliance reads its own ports from its kernel.
  if (!write.mayEnd() || selfHost(tx, host.network_id)?.id === host.id) return false;
  if (isUserEdited(tx, portKind, port) || services.some((each) => isUserEdited(tx, serviceKind, each))) {
    setStale(tx, portKind, port);
    for (const service of closing) setStale(tx, serviceKind, service);
    return false;
  }
  const reason = `${address} refuses connections to port ${port.number}`;
  for (const service of closing) write.close(serviceKind, service, `${service.name} of ${host.name}`, reason);
  write.close(portKind, port, `${port.number}/${port.protocol} of ${host.name}`, reason);
  return true;
}

/** State of a transaction, which a dry run keeps open across commands. */
const CHANGED = new WeakMap<WriteTransaction, Map<string, Places>>();

function placesOf(tx: WriteTransaction, hostId: string): Places {
  const changed = CHANGED.get(tx)?.get(hostId);
  if (changed !== undefined) return changed;
  const row = openPortRows.find(tx.db, tx.recordN(hostId) ?? 0);
  try {
    const stored: unknown = JSON.parse(row?.ports ?? "{}");
    const entries = typeof stored === "object" && stored !== null ? Object.entries(stored) : [];
    return Object.fromEntries(entries.filter(([, addresses]) => Array.isArray(addresses)));
  } catch {
    return {};
  }
}

function rememberPlaces(tx: WriteTransaction, hostId: string, before: Places, now: Places): void {
  if (Bun.deepEquals(before, now)) return;
  const changed = CHANGED.get(tx) ?? new Map<string, Places>();
  CHANGED.set(tx, changed.set(hostId, now));
  tx.runAfterWrite(() => {
    const host_n = tx.recordN(hostId);
    if (host_n !== null) openPortRows.upsert(tx.db, withChecksum(openPorts, { host_n, ports: JSON.stringify(now) }));
  });
}
