// Handle on the track: a keyboard slider with a label at its instant.

import type { ComponentChildren } from "preact";
import { timeText } from "../text/time.ts";
import { now } from "../time/clock.ts";
import { addressInstant, formatAge, formatLocal } from "../time/instant.ts";
import { placeOf, type TimeWindow } from "../time/window.ts";
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
const PAGE_PARTS = 12;

export function Handle({ window, ms, label, scrub, handle, children }: HandleProps) {
  const shown = ms ?? now.value;
  const place = placeOf(shown, window);
  const moveTo = (target: number) => scrub.move(target >= now.peek() ? null : addressInstant(Math.round(target)));
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
      class={place < 0 || place > 1 ? "handle is-outside" : "handle"}
      style={{ insetInlineStart: `${Math.min(1, Math.max(0, place)) * 100}%` }}
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

/** Target of a key, always a bucket boundary; null for keys without effect. */
function targetOf(key: string, ms: number, { from, to, bucketMs }: TimeWindow): number | null {
  const earlier = (parts: number) => Math.ceil(ms / bucketMs - parts) * bucketMs;
  const later = (parts: number) => Math.floor(ms / bucketMs + parts) * bucketMs;
  switch (key) {
    case "ArrowLeft":
    case "ArrowDown":
      return earlier(1);
    case "ArrowRight":
    case "ArrowUp":
      return later(1);
    case "PageDown":
      return earlier(PAGE_PARTS);
    case "PageUp":
      return later(PAGE_PARTS);
    case "Home":
      return from;
    case "End":
      return to;
    default:
      return null;
  }
}
