// Link from an empty inventory to the first-run wizard, for users with all permissions it needs. Always leads to the
// present.

import { may } from "../session/me.ts";
import { isPast } from "../time/at.ts";
import { hrefOf } from "../url/location.ts";

/** Whether the user may read this machine, create credentials and scan. */
export function mayStart(): boolean {
  return may("discoverSelf") && may("createCredential") && may("createScan");
}

export function startHref(): string {
  return hrefOf("/start", { at: null });
}

/** Shows nothing without permission or in the past. */
export function StartLink({ isPrimary = false }: { readonly isPrimary?: boolean }) {
  if (isPast.value || !mayStart()) return null;
  return (
    <a class={isPrimary ? "button primary" : "button"} href={startHref()}>
      Get started
    </a>
  );
}
