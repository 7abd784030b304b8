// URL of the scan form, with all known parameters, so that it can be shared and reloaded.

import { hrefOf } from "../url/location.ts";

/** URL parameters of the scan form. */
export const SCAN_PARAMETERS = {
  isOpen: "ask",
  network: "of",
  kind: "kind",
  targets: "targets",
  isDryRun: "dry",
  isLarge: "large",
  reason: "why",
} as const;

interface ScanLinkOptions {
  readonly networkId?: string | undefined;
  readonly kind?: string;
  /** Absent for the network's subnets. */
  readonly targets?: readonly string[] | null;
}

/** Always leads to now: the past cannot be scanned. */
export function scanHref({ networkId, kind, targets }: ScanLinkOptions): string {
  return hrefOf("/discovery", {
    at: null,
    [SCAN_PARAMETERS.isOpen]: "yes",
    [SCAN_PARAMETERS.network]: networkId,
    [SCAN_PARAMETERS.kind]: kind,
    [SCAN_PARAMETERS.targets]: targets?.join(" "),
  });
}
