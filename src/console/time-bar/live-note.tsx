// Live status of the page, and a note on new data to load. Unobtrusive: causes no layout shift.

import { acceptOffers, offered } from "../api/fresh.ts";
import { liveState } from "../api/live.ts";
import { isStaleLong } from "../api/stale.ts";
import { useKeys } from "../components/keys.ts";
import { counted } from "../text/digits.ts";
import { at } from "../time/at.ts";
import { now } from "../time/clock.ts";
import { formatLocal } from "../time/instant.ts";
import { zone } from "../time/zone.ts";
import { focusHandle } from "./focus.ts";

const KEYS = [
  {
    key: ".",
    meaning: "Show new changes",
    press: () => {
      if (offered.peek() === null) return false;
      acceptOffers();
      return true;
    },
  },
];

/** @param isReadOnly a backup, which never changes */
export function LiveNote({ isReadOnly }: { readonly isReadOnly: boolean }) {
  useKeys(KEYS);
  if (at.value !== null || liveState.value === "off" || isReadOnly) return null;
  const offer = offered.value;
  return (
    <>
      <span class="live-state">
        {isStaleLong.value ? "loading…" : liveState.value === "following" ? "live" : "offline – reconnecting…"}
      </span>
      {offer !== null && (
        <span class="live-note">
          {counted(offer.count, "change", "changes")} since {sinceText(offer.sinceMs)}
          <button type="button" onClick={show}>
            show <kbd>.</kbd>
          </button>
        </span>
      )}
    </>
  );
}

function show(): void {
  acceptOffers();
  focusHandle();
}

/** Without the date if today. */
function sinceText(ms: number): string {
  const text = formatLocal(ms, zone.value, "minute");
  return text.slice(0, 10) === formatLocal(now.value, zone.value, "day") ? text.slice(11) : text;
}
