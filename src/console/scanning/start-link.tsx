// The way to the first map, from wherever an inventory is empty: for whoever may go all of it. Its address is always of
// now.

import { may } from "../session/me.ts";
import { navigationText } from "../text/navigation.ts";
import { isPast } from "../time/at.ts";
import { hrefOf } from "../url/location.ts";

/** Whether one may look at this machine, give credentials and scan. */
export function mayStart(): boolean {
  return may("discoverSelf") && may("createCredential") && may("createScan");
}

export function startHref(): string {
  return hrefOf("/start", { at: null });
}

/** Nothing for those who may not, and in the past. */
export function StartLink({ isPrimary = false }: { readonly isPrimary?: boolean }) {
  if (isPast.value || !mayStart()) return null;
  return (
    <a class={isPrimary ? "button primary" : "button"} href={startHref()}>
      {navigationText.start}
    </a>
  );
}
