// Menu of comparison instants: now, an earlier time, a marker, any instant. Sets `vs` in the address.

import { useRef } from "preact/hooks";
import { at, atMs, vs } from "../time/at.ts";
import { now } from "../time/clock.ts";
import { hrefCompared } from "../time/compared.ts";
import { addressInstant, formatLocal } from "../time/instant.ts";
import { markerAddress, markers } from "../time/markers.ts";
import { zone } from "../time/zone.ts";
import { go } from "../url/location.ts";
import { InstantField } from "./instant-field.tsx";

const DAY_MS = 86_400_000;
/** Most recent markers; the field accepts any marker. */
const MARKERS_MAX = 12;

export function CompareMenu() {
  const menu = useRef<HTMLDivElement>(null);
  const choose = (href: string) => {
    menu.current?.hidePopover();
    go(href);
  };
  const shown = at.value === null ? now.value : atMs.value;
  const before = (lengthMs: number) => () =>
    shown !== null && choose(hrefCompared({ vs: addressInstant(Math.floor(shown / 1_000) * 1_000 - lengthMs) }));
  const named = (markers.value ?? []).toSorted((a, b) => b.ms - a.ms).slice(0, MARKERS_MAX);
  return (
    <>
      <button type="button" class="compare-button" popoverTarget="compare">
        Compare…
      </button>
      <div ref={menu} id="compare" popover="auto" class="compare-menu">
        <h2>Compare with</h2>
        {at.value !== null && (
          // Now is the later end; the instant shown so far becomes the comparison instant.
          <button type="button" onClick={() => choose(hrefCompared({ at: null, vs: at.value }))}>
            Now
          </button>
        )}
        <button type="button" onClick={before(DAY_MS)}>
          24 hours before
        </button>
        <button type="button" onClick={before(7 * DAY_MS)}>
          7 days before
        </button>
        {named.length > 0 && (
          <section>
            <h3>Markers</h3>
            {named.map((marker) => (
              <button
                type="button"
                key={marker.id}
                title={formatLocal(marker.ms, zone.value)}
                onClick={() => choose(hrefCompared({ vs: markerAddress(marker) }))}
              >
                <bdi>{marker.name}</bdi>
              </button>
            ))}
          </section>
        )}
        <h3>Another instant</h3>
        <InstantField
          label="Another instant"
          shown={vs.value === null ? "" : vs.value}
          choose={(instant) =>
            choose(instant === null ? hrefCompared({ at: null, vs: at.value }) : hrefCompared({ vs: instant }))
          }
        />
      </div>
    </>
  );
}
