// What the page of a host asks: itself without its parts, of which a device may have thousands, how many parts there are,
// and of each kind a page of them once its tab is shown.

import { type Answer, useAnswer } from "../api/answer.ts";
import { type Read, read } from "../api/client.ts";
import type { Live } from "../api/fresh.ts";
import { oneOf } from "../api/one-of.ts";
import type { RowWindow } from "../parts/paged-rows.ts";
import { atQuery } from "../time/at.ts";
import type { HostCounts, HostData, HostEnd } from "./host-data.ts";
import { LISTENS_FILTER, type Manageable } from "./management-links.ts";

/** While a scan writes one part after the other. */
const EVERY_MS = 2_000;

/** A host with what its page says of its parts wherever one is on it. */
export interface ShownHost extends HostData {
  readonly counts: HostCounts;
  readonly managed: Manageable;
  /** Of the hosts that have gone into it, how each ended. */
  readonly formerEnds: readonly HostEnd[];
}

/** The read of a host alone, with how many parts it has. */
export function hostOf(id: string): Read<HostData & { readonly counts?: HostCounts }> {
  return oneOf(read("/api/v1/hosts", { query: { ids: [id], include: "counts", ...atQuery() } }));
}

/** How the hosts ended that have gone into it. */
export function formersOf(id: string) {
  const query = { selves: "former" as const, filter: "operation = Deleted", include_children: false, ...atQuery() };
  return read("/api/v1/hosts/{id}/history", { path: { id }, query });
}

/** The reads of a page of its parts of a kind; of all of them where something is searched in them. */
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

/** What is written of a host makes its answers others. */
export function liveOf(id: string): Live {
  return { how: "refresh", host_id: id, everyMs: EVERY_MS };
}

/**
 * The host with what belongs to every one of its tabs, asked at once; there when all of it is, so that nothing jumps.
 * @returns `isThere`: whether the host itself is known to be there at the instant of the address
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
  // Few hosts have any: the others are not held up for it, nor is one that is gone asked.
  const formers = useAnswer(isThere ? formersOf(id) : null, { ...live, types: ["host"] });
  const parts = [addresses, listens];
  const failed = parts.find(({ problem }) => problem !== undefined);
  // The host itself is what counts: where it cannot be told, nothing else is.
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
