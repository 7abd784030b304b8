// Address of the scan form, with all known parameters, so that it can be shared and reloaded.

import { hrefOf } from "../url/location.ts";

/** Parameters of the scan form. */
export const ASK = {
  isOpen: "ask",
  network: "of",
  kind: "kind",
  targets: "targets",
  isDry: "dry",
  isLarge: "large",
  reason: "why",
} as const;

interface Asked {
  readonly networkId?: string | undefined;
  readonly kind?: string;
  /** Absent for the network's subnets. */
  readonly targets?: readonly string[] | null;
}

/** Always in the present: the past cannot be scanned. */
export function scanHref({ networkId, kind, targets }: Asked): string {
  return hrefOf("/discovery", {
    at: null,
    [ASK.isOpen]: "yes",
    [ASK.network]: networkId,
    [ASK.kind]: kind,
    [ASK.targets]: targets?.join(" "),
  });
}
