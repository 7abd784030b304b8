// Drag control for a timestamp, as fast as responses arrive. A completed drag is one entry in the browser history.

import { batch } from "@preact/signals";
import { requestsInFlight } from "../api/client.ts";
import { Throttle } from "../time/throttle.ts";
import { go, hrefHere } from "../url/location.ts";

/** Frames to wait for a page before the next request, which aborts the previous one; fewer would hide slow pages. */
const FRAMES_MAX = 120;

export class Scrub {
  private readonly parameter: "at" | "vs";
  private readonly throttle: Throttle<string | null>;
  /** URL before the drag; null while idle. */
  private start: string | null = null;

  constructor(parameter: "at" | "vs") {
    this.parameter = parameter;
    this.throttle = new Throttle<string | null>(
      (instant) => go(hrefHere({ [parameter]: instant }), "replace"),
      whenResponsesPainted,
    );
  }

  get isMoving(): boolean {
    return this.start !== null;
  }

  /** @param instant as in the URL; null for now */
  move(instant: string | null): void {
    this.start ??= hrefHere({});
    this.throttle.offer(instant);
  }

  /** Ends the drag: Back leads to its start. */
  end(): void {
    this.throttle.flush();
    const { start } = this;
    this.start = null;
    if (start === null) return;
    const destination = hrefHere({});
    this.throttle.clear();
    batch(() => {
      go(start, "replace");
      go(destination, "push");
    });
  }

  /** Returns to the start of the drag. */
  cancel(): void {
    this.throttle.clear();
    if (this.start !== null) go(this.start, "replace");
    this.start = null;
  }

  /** Dragged parameter. */
  get name(): "at" | "vs" {
    return this.parameter;
  }
}

/** Waits until the response is painted, so that each timestamp is shown for at least one frame. */
function whenResponsesPainted(ready: () => void): () => void {
  let frames = 0;
  let isPainted = false;
  let next = requestAnimationFrame(check);
  function check() {
    frames += 1;
    const isIdle = requestsInFlight() === 0;
    if (!(isIdle && isPainted) && frames < FRAMES_MAX) next = requestAnimationFrame(check);
    else ready();
    isPainted = isIdle;
  }
  return () => cancelAnimationFrame(next);
}
