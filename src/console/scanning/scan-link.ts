// The address at which a scan is asked for: with all that is said of it already, so that it can be sent and reloaded.

import { hrefOf } from "../url/location.ts";

/** The parameters of the page of scans that say what is to be scanned. */
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
  /** Left out for the network's subnets. */
  readonly targets?: readonly string[] | null;
}

/** Always of now: the past is not scanned. */
export function scanHref({ networkId, kind, targets }: Asked): string {
  return hrefOf("/discovery", {
    at: null,
    [ASK.isOpen]: "yes",
    [ASK.network]: networkId,
    [ASK.kind]: kind,
    [ASK.targets]: targets?.join(" "),
  });
}
