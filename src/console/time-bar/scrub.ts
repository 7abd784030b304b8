// Dragging of an instant. The page follows as fast as answers arrive; a completed drag adds one entry to the browser
// history.

import { batch } from "@preact/signals";
import { requestsInFlight } from "../api/client.ts";
import { Pace } from "../time/pace.ts";
import { go, hrefHere } from "../url/location.ts";

/**
 * Frames to wait for a page before the next request, which aborts the previous one. With a lower limit, dragging would
 * show nothing of a slow page.
 */
const FRAMES_MAX = 120;

export class Scrub {
  private readonly parameter: "at" | "vs";
  private readonly pace: Pace<string | null>;
  /** Address before the drag; null while idle. */
  private start: string | null = null;

  constructor(parameter: "at" | "vs") {
    this.parameter = parameter;
    this.pace = new Pace<string | null>((instant) => go(hrefHere({ [parameter]: instant }), "replace"), whenAnswered);
  }

  get isMoving(): boolean {
    return this.start !== null;
  }

  /** @param instant as in the address; null for now */
  move(instant: string | null): void {
    this.start ??= hrefHere({});
    this.pace.offer(instant);
  }

  /** Ends the drag: Back leads to its start. */
  end(): void {
    this.pace.flush();
    const { start } = this;
    this.start = null;
    if (start === null) return;
    const reached = hrefHere({});
    this.pace.clear();
    batch(() => {
      go(start, "replace");
      go(reached, "push");
    });
  }

  /** Returns to the start of the drag. */
  cancel(): void {
    this.pace.clear();
    if (this.start !== null) go(this.start, "replace");
    this.start = null;
  }

  /** Dragged parameter. */
  get name(): "at" | "vs" {
    return this.parameter;
  }
}

/** Waits until the answer is painted, so that each instant is shown for at least one frame. */
function whenAnswered(ready: () => void): () => void {
  let frames = 0;
  let isPainted = false;
  let next = requestAnimationFrame(look);
  function look() {
    frames += 1;
    const isAnswered = requestsInFlight() === 0;
    if (!(isAnswered && isPainted) && frames < FRAMES_MAX) next = requestAnimationFrame(look);
    else ready();
    isPainted = isAnswered;
  }
  return () => cancelAnimationFrame(next);
}
