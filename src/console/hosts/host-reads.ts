// Requests of the host page: the host without its parts, of which a device may have thousands, the part counts, and one
// page of each kind when its tab is open.

import { type Answer, useAnswer } from "../api/answer.ts";
import { type Read, read } from "../api/client.ts";
import type { Live } from "../api/fresh.ts";
import { oneOf } from "../api/one-of.ts";
import type { RowWindow } from "../parts/paged-rows.ts";
import { atQuery } from "../time/at.ts";
import type { HostCounts, HostData, HostEnd } from "./host-data.ts";
import { LISTENS_FILTER, type Manageable } from "./management-links.ts";

/** Refresh interval while a scan writes the parts one by one. */
const EVERY_MS = 2_000;

/** A host with the facts about its parts that every tab shows. */
export interface ShownHost extends HostData {
  readonly counts: HostCounts;
  readonly managed: Manageable;
  /** Final versions of the hosts merged into it. */
  readonly formerEnds: readonly HostEnd[];
}

/** Reads a host without its parts, and the part counts. */
export function hostOf(id: string): Read<HostData & { readonly counts?: HostCounts }> {
  return oneOf(read("/api/v1/hosts", { query: { ids: [id], include: "counts", ...atQuery() } }));
}

/** Reads the final versions of hosts merged into this one. */
export function formersOf(id: string) {
  const query = { selves: "former" as const, filter: "operation = Deleted", include_children: false, ...atQuery() };
  return read("/api/v1/hosts/{id}/history", { path: { id }, query });
}

/** Reads one page of a host's parts; all of them during a search. */
export function addressesOf(id: string, window: RowWindow) {
  const query = { host_id: id, order_by: "ip_address" as const, ...window, ...atQuery() };
  return read("/api/v1/ip-addresses", { query });
}

export function portsOf(id: string, window: RowWindow) {
  const query = { host_id: id, order_by: "number" as const, ...window, ...atQuery() };
  return read("/api/v1/ports", { query });
}

export function servicesOf(id: string, window: RowWindow) {
  return read("/api/v1/services", { query: { host_id: id, ...window, ...atQuery() } });
}

/** Refreshes after changes to the host or its parts. */
export function liveOf(id: string): Live {
  return { how: "refresh", host_id: id, everyMs: EVERY_MS };
}

/**
 * Host with the data shared by all tabs, requested in parallel and returned once complete, so that nothing jumps.
 * @returns `isThere`: whether the host is known to exist at the URL's timestamp
 */
export function useHost(id: string): Answer<ShownHost> & { readonly isThere: boolean } {
  const live = liveOf(id);
  const host = useAnswer(hostOf(id), live);
  const query = { host_id: id, limit: 1, ...atQuery() };
  const addresses = useAnswer(read("/api/v1/ip-addresses", { query }), { ...live, types: ["ip_address"] });
  const listens = useAnswer(read("/api/v1/ports", { query: { ...query, ...LISTENS_FILTER } }), {
    ...live,
    types: ["port"],
  });
  const isThere = host.data !== undefined && !host.isEarlier;
  // Few hosts have any, so the page does not wait for them, nor requests them for a deleted host.
  const formers = useAnswer(isThere ? formersOf(id) : null, { ...live, types: ["host"] });
  const parts = [addresses, listens];
  const failed = parts.find(({ problem }) => problem !== undefined);
  // An error of the host itself takes precedence.
  const problem = host.problem ?? failed?.problem;
  const again = () => {
    host.again();
    for (const each of parts) if (each.problem !== undefined) each.again();
  };
  const { data } = host;
  if (data?.counts === undefined || parts.some((part) => part.data === undefined))
    return { ...host, data: undefined, problem, again, isThere };
  const managed = { ...data, ip_addresses: addresses.data ?? [], ports: listens.data ?? [] };
  const formerEnds = (formers.data ?? []).filter(({ record }) => record.consolidated_into !== null);
  return { ...host, data: { ...data, counts: data.counts, managed, formerEnds }, problem, again, isThere };
}
