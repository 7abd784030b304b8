// Pages of one record of each kind, for tests of their states. No assertions.

import type { Client } from "../appliance/client.ts";
import { type FilledNetwork, fillNetwork } from "./networks.ts";

/** Path of a page, pattern of its record's request, and title. */
export type RecordPage = readonly [path: string, api: string, title: string];

/** For a missing record only its history is requested; the browser reports that without a URL. */
export const MISSING_RECORD = /^404 for \S+\/history\?|status of 404/;

/** Fills a network through the API. @returns the pages of a host, an interface, a subnet and a VLAN */
export async function fillRecordPages(client: Client, networkId: string): Promise<readonly RecordPage[]> {
  const filled: FilledNetwork = await fillNetwork(client, networkId);
  return [
    [`/hosts/${filled.switchId}`, `**/api/v1/hosts?ids=${filled.switchId}*`, "access-1"],
    [`/interfaces/${filled.flapped.id}`, `**/api/v1/if-entries?ids=${filled.flapped.id}*`, "Gi1/0/7"],
    [`/subnets/${filled.subnet.id}`, `**/api/v1/subnets?ids=${filled.subnet.id}*`, "10.2.3.0/28"],
    [`/vlans/${filled.vlan.id}`, `**/api/v1/vlans?ids=${filled.vlan.id}*`, "VLAN 20"],
  ];
}

/** API failures that a record page explains. */
export const FAILURES = [
  [500, "internal_error", "Something went wrong here."],
  [403, "auth_permission_denied", "This takes the role Admin."],
  [503, "shutting_down", "The appliance is being restarted."],
] as const;

/** Id of the failed request. */
export const FAILED_REQUEST = "req-4711";

/** Error response of a mocked route. */
export function failureResponse([status, code, error]: readonly [status: number, code: string, error: string]) {
  return {
    status,
    headers: { "x-request-id": FAILED_REQUEST },
    json: { success: false, code, error, params: {}, meta: {} },
  };
}
