// Host page requests: the host with its overview, and one page of each kind of part.

import { type Read, read } from "../api/client.ts";
import type { Live } from "../api/fresh.ts";
import { oneOf } from "../api/one-of.ts";
import { type ApiResponse, useResponse } from "../api/response.ts";
import type { RowWindow } from "../components/paged-rows.ts";
import { atQuery } from "../time/at.ts";
import type {
  FaceplateResponse,
  FinalHostVersion,
  HostAddress,
  HostCounts,
  HostData,
  ListedHost,
} from "./host-data.ts";
import type { Manageable } from "./management-links.ts";

/** Refresh interval while a scan writes the parts one by one. */
const REFRESH_MS = 2_000;

/** Host with the facts about its parts that every tab shows. */
export interface ShownHost extends HostData {
  readonly counts: HostCounts;
  readonly managed: Manageable;
  /** Only the first ones of a host with more than LOCATION_ADDRESSES_MAX. */
  readonly addresses: readonly HostAddress[];
  /** Final versions of the hosts merged into it. */
  readonly mergedVersions: readonly FinalHostVersion[];
}

/** Reads a host with its part counts, and with the addresses and ports used to manage it. */
export function hostRequest(id: string): Read<ListedHost> {
  return oneOf(read("/api/v1/hosts", { query: { ids: [id], include: "overview", ...atQuery() } }));
}

/** Reads the final versions of hosts merged into the shown host. */
export function mergedHostsRequest(id: string) {
  const query = { selves: "former" as const, filter: "operation = Deleted", include_children: false, ...atQuery() };
  return read("/api/v1/hosts/{id}/history", { path: { id }, query });
}

/** Reads one page of a host's parts, or all parts during a search. */
export function addressesRequest(id: string, window: RowWindow) {
  const query = { host_id: id, order_by: "ip_address" as const, ...window, ...atQuery() };
  return read("/api/v1/ip-addresses", { query });
}

export function portsRequest(id: string, window: RowWindow) {
  const query = { host_id: id, order_by: "number" as const, ...window, ...atQuery() };
  return read("/api/v1/ports", { query });
}

export function servicesRequest(id: string, window: RowWindow) {
  return read("/api/v1/services", { query: { host_id: id, ...window, ...atQuery() } });
}

export function componentsRequest(id: string) {
  return read("/api/v1/components", { query: { host_id: id, order_by: "position", ...atQuery() } });
}

/** Refreshes after changes to the host or its parts. */
export function liveUpdates(id: string): Live {
  return { how: "refresh", host_id: id, everyMs: REFRESH_MS };
}

/**
 * Host with the data shared by all tabs.
 * @param isInFaceplate whether a faceplate follows the host's changes, so that the host is read with it
 * @returns `exists`: whether the host is known to exist at the URL's timestamp; `interfaces`: their number, 0 if unknown
 */
export function useHost(
  id: string,
  isInFaceplate: boolean,
): ApiResponse<ShownHost> & { readonly exists: boolean; readonly interfaces: number } {
  const host = useResponse(hostRequest(id), { ...liveUpdates(id), isOwnOnly: isInFaceplate });
  const exists = host.data !== undefined && !host.isEarlier;
  // Few hosts have merged hosts: the page does not wait for them, and does not request them for a deleted host.
  const mergedHosts = useResponse(exists ? mergedHostsRequest(id) : null, {
    how: "refresh",
    everyMs: REFRESH_MS,
    types: ["host"],
    // A merge ends the other host.
    operation: "Deleted",
  });
  const mergedVersions = (mergedHosts.data ?? []).filter(({ record }) => record.consolidated_into !== null);
  const data = host.data === undefined ? undefined : shownHost(host.data, mergedVersions);
  return { ...host, data, exists, interfaces: data?.counts.interfaces ?? 0 };
}

/** The host as of the later of its own response and its faceplate's. */
export function latestHost(
  response: ApiResponse<ShownHost>,
  { data: faceplate, isEarlier }: FaceplateResponse,
): ApiResponse<ShownHost> {
  const { data: host } = response;
  const record = isEarlier ? undefined : faceplate?.host_record;
  if (host === undefined || record === undefined || record.id !== host.id || record.updated_at < host.updated_at)
    return response;
  return { ...response, data: shownHost(record, host.mergedVersions) };
}

function shownHost(host: ListedHost, mergedVersions: readonly FinalHostVersion[]): ShownHost {
  const { ip_addresses: addresses = [], ports = [], counts = NO_PARTS, ...own } = host;
  return { ...own, counts, addresses, managed: { ...own, ip_addresses: addresses, ports }, mergedVersions };
}

const NO_PARTS: HostCounts = { interfaces: 0, ip_addresses: 0, ports: 0, services: 0, components: 0 };
