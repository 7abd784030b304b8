// Comparison timestamp menu: now, an earlier time, a marker, any timestamp. Sets `vs` in the URL.

import { useRef } from "preact/hooks";
import { ActionButton } from "../components/buttons.tsx";
import { at, atMs, vs } from "../time/at.ts";
import { now } from "../time/clock.ts";
import { hrefCompared } from "../time/compared.ts";
import { DAY_MS, formatLocal, urlTimestamp } from "../time/instant.ts";
import { markerParameter, markers } from "../time/markers.ts";
import { zone } from "../time/zone.ts";
import { go } from "../url/location.ts";
import { InstantField } from "./instant-field.tsx";

/** Only the most recent markers; the field accepts any marker. */
const MARKERS_MAX = 12;

export function CompareMenu() {
  const menu = useRef<HTMLDivElement>(null);
  const choose = (href: string) => {
    menu.current?.hidePopover();
    go(href);
  };
  const shown = at.value === null ? now.value : atMs.value;
  const earlierBy = (lengthMs: number) => () =>
    shown !== null && choose(hrefCompared({ vs: urlTimestamp(Math.floor(shown / 1_000) * 1_000 - lengthMs) }));
  const recentMarkers = (markers.value ?? []).toSorted((a, b) => b.ms - a.ms).slice(0, MARKERS_MAX);
  return (
    <>
      <ActionButton label="Compare…" class="compare-button" popoverTarget="compare" />
      <div ref={menu} id="compare" popover="auto" class="compare-menu">
        <h2>Compare with</h2>
        {at.value !== null && (
          // Now is the later end; the timestamp shown so far becomes the comparison timestamp.
          <ActionButton label="Now" onClick={() => choose(hrefCompared({ at: null, vs: at.value }))} />
        )}
        <ActionButton label="24 hours before" onClick={earlierBy(DAY_MS)} />
        <ActionButton label="7 days before" onClick={earlierBy(7 * DAY_MS)} />
        {recentMarkers.length > 0 && (
          <section>
            <h3>Markers</h3>
            {recentMarkers.map((marker) => (
              <button
                type="button"
                key={marker.id}
                title={formatLocal(marker.ms, zone.value)}
                onClick={() => choose(hrefCompared({ vs: markerParameter(marker) }))}
              >
                <bdi>{marker.name}</bdi>
              </button>
            ))}
          </section>
        )}
        <h3>Other time</h3>
        <InstantField
          label="Other time"
          shown={vs.value === null ? "" : vs.value}
          choose={(instant) =>
            choose(instant === null ? hrefCompared({ at: null, vs: at.value }) : hrefCompared({ vs: instant }))
          }
        />
      </div>
    </>
  );
}
