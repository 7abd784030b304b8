// Discovery requests: start a scan, cancel it, check an address. Idempotency keys make retries safe.

import { api, type DataOf, done } from "../api/client.ts";
import { reasonHeader } from "../forms/reason.ts";
import type { KeyHeader } from "../forms/sending.ts";

type Scan = DataOf<"/api/v1/discovery/scans/{id}">;

/** Parameters of a scan. */
export interface ScanOrder extends Pick<Scan, "network_id" | "kind" | "commit" | "allow_large"> {
  /** Null for the network's subnets. */
  readonly targets: readonly string[] | null;
}

/** @throws Refusal */
export function startScan({ targets, ...order }: ScanOrder, reason: string, header: KeyHeader): Promise<Scan> {
  return done(
    api.POST("/api/v1/discovery/scans", {
      params: { header },
      headers: reasonHeader(reason),
      body: { ...order, targets: targets === null ? null : [...targets] },
    }),
  );
}

/** @throws Refusal */
export function endScan(id: string): Promise<Scan> {
  return done(api.POST("/api/v1/discovery/scans/{id}/cancel", { params: { path: { id } } }));
}

/** Checks reachability without sending secrets. @param id id of the address record @throws Refusal */
export function checkAddress(id: string, header: KeyHeader): Promise<Scan> {
  const params = { path: { id }, header };
  return done(api.POST("/api/v1/ip-addresses/{id}/check", { params, body: { kind: "sweep" } }));
}
