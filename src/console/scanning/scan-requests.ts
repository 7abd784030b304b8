// Discovery requests: start a scan, cancel it, check an address. Idempotency keys make retries safe.

import { api, type DataOf, unwrap } from "../api/client.ts";
import { reasonHeader } from "../forms/reason.ts";
import type { KeyHeader } from "../forms/use-write.ts";

type Scan = DataOf<"/api/v1/discovery/scans/{id}">;

/** Parameters of a scan. */
export interface ScanParameters extends Pick<Scan, "network_id" | "kind" | "commit" | "allow_large"> {
  /** Null for the network's subnets. */
  readonly targets: readonly string[] | null;
}

/** @throws Refusal */
export function startScan({ targets, ...others }: ScanParameters, reason: string, header: KeyHeader): Promise<Scan> {
  return unwrap(
    api.POST("/api/v1/discovery/scans", {
      params: { header },
      headers: reasonHeader(reason),
      body: { ...others, targets: targets === null ? null : [...targets] },
    }),
  );
}

/** @throws Refusal */
export function cancelScan(id: string): Promise<Scan> {
  return unwrap(api.POST("/api/v1/discovery/scans/{id}/cancel", { params: { path: { id } } }));
}

/** Checks reachability without sending secrets. @param id id of the address record @throws Refusal */
export function checkAddress(id: string, header: KeyHeader): Promise<Scan> {
  const params = { path: { id }, header };
  return unwrap(api.POST("/api/v1/ip-addresses/{id}/check", { params, body: { kind: "sweep" } }));
}
