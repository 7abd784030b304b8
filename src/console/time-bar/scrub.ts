// Moving an instant while one looks: the page follows as fast as it is answered, and when the move ends, the browser's
// history has one entry more, however far one went.

import { batch } from "@preact/signals";
import { requestsInFlight } from "../api/client.ts";
import { Pace } from "../time/pace.ts";
import { go, hrefHere } from "../url/location.ts";

/**
 * Frames that an instant is waited for before the next is asked for. The next one takes the request of the last back:
 * with less patience, one who drags would see nothing of a page that is slow.
 */
const FRAMES_MAX = 120;

export class Scrub {
  private readonly parameter: "at" | "vs";
  private readonly pace: Pace<string | null>;
  /** The address from before; null while nothing moves. */
  private start: string | null = null;

  constructor(parameter: "at" | "vs") {
    this.parameter = parameter;
    this.pace = new Pace<string | null>((instant) => go(hrefHere({ [parameter]: instant }), "replace"), whenAnswered);
  }

  get isMoving(): boolean {
    return this.start !== null;
  }

  /** @param instant as the address has it; null for now */
  move(instant: string | null): void {
    this.start ??= hrefHere({});
    this.pace.offer(instant);
  }

  /** The move is over: the way back leads to where it began. */
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

  /** Goes back to where it began. */
  cancel(): void {
    this.pace.clear();
    if (this.start !== null) go(this.start, "replace");
    this.start = null;
  }

  /** What is moved. */
  get name(): "at" | "vs" {
    return this.parameter;
  }
}

/** Once what was answered has been painted, too: an instant is shown for a frame at least. */
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
