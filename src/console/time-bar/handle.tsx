// Handle on the track: a keyboard slider with a label at its timestamp.

import type { ComponentChildren } from "preact";
import { timeText } from "../text/time.ts";
import { now } from "../time/clock.ts";
import { formatAge, formatLocal, urlTimestamp } from "../time/instant.ts";
import { positionOf, type TimeWindow } from "../time/window.ts";
import { zone } from "../time/zone.ts";
import type { Scrub } from "./scrub.ts";

interface HandleProps {
  readonly window: TimeWindow;
  /** Milliseconds since 1970; null for now. */
  readonly ms: number | null;
  readonly label: string;
  readonly scrub: Scrub;
  readonly handle?: (element: HTMLElement | null) => void;
  readonly children?: ComponentChildren;
}

/** Buckets per Page Up or Page Down. */
const PAGE_BUCKETS = 12;

export function Handle({ window, ms, label, scrub, handle, children }: HandleProps) {
  const shown = ms ?? now.value;
  const position = positionOf(shown, window);
  const moveTo = (target: number) => scrub.move(target >= now.peek() ? null : urlTimestamp(Math.round(target)));
  const press = (event: KeyboardEvent) => {
    if (event.key === "Escape" && scrub.isMoving) scrub.cancel();
    else {
      const target = targetOf(event.key, shown, window);
      if (target === null || event.ctrlKey || event.metaKey || event.altKey) return;
      moveTo(target);
    }
    event.preventDefault();
  };
  return (
    <div
      id={scrub.name === "at" ? "shown-instant" : undefined}
      ref={handle ?? null}
      class={position < 0 || position > 1 ? "handle is-outside" : "handle"}
      style={{ insetInlineStart: `${Math.min(1, Math.max(0, position)) * 100}%` }}
      role="slider"
      tabIndex={0}
      aria-label={label}
      aria-valuemin={Math.round(window.from)}
      aria-valuemax={Math.round(window.to)}
      aria-valuenow={Math.round(Math.min(window.to, Math.max(window.from, shown)))}
      aria-valuetext={ms === null ? timeText.now : `${formatLocal(ms, zone.value)}, ${formatAge(ms, now.value)}`}
      onKeyDown={press}
      onKeyUp={() => scrub.end()}
      onBlur={() => scrub.end()}
    >
      {children}
    </div>
  );
}

/** Target of a key, always a bucket boundary; null for keys that do nothing. */
function targetOf(key: string, ms: number, { from, to, bucketMs }: TimeWindow): number | null {
  const earlier = (buckets: number) => Math.ceil(ms / bucketMs - buckets) * bucketMs;
  const later = (buckets: number) => Math.floor(ms / bucketMs + buckets) * bucketMs;
  if (key === "ArrowLeft" || key === "ArrowDown") return earlier(1);
  if (key === "ArrowRight" || key === "ArrowUp") return later(1);
  if (key === "PageDown") return earlier(PAGE_BUCKETS);
  if (key === "PageUp") return later(PAGE_BUCKETS);
  if (key === "Home") return from;
  return key === "End" ? to : null;
}
