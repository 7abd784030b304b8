// What makes the past unmistakable: the instant in words, on every page, with the way back.

import { useKeys } from "../parts/keys.ts";
import { When } from "../parts/when.tsx";
import { timeText } from "../text/time.ts";
import { at, atMs, showAt } from "../time/at.ts";
import { formatUtc } from "../time/instant.ts";
import { hrefHere } from "../url/location.ts";

const KEYS = [
  {
    key: "t",
    meaning: timeText.backToNow,
    press: () => {
      if (at.peek() === null) return false;
      showAt(null);
      return true;
    },
  },
];

export function PastBand() {
  useKeys(KEYS);
  if (at.value === null) return null;
  return (
    <div class="past-band" role="status">
      <span>
        {timeText.asOf} {atMs.value === null ? named(at.value) : <When instant={formatUtc(atMs.value)} as="both" />}
      </span>
      <a href={hrefHere({ at: null })}>
        {timeText.backToNow} <kbd>t</kbd>
      </a>
    </div>
  );
}

function named(text: string): string {
  return text.startsWith("marker:") ? timeText.marker(text.slice("marker:".length)) : timeText.notAnInstant(text);
}
