// UUIDs (RFC 9562): textual form, and generator of the server's ids.
// Randomness and time are passed in.

import type { Instant } from "./instant.ts";
import type { Random } from "./random.ts";

/**
 * Whether the text is a UUID in the form of RFC 9562 §4: with hyphens, in any case and version, including Nil and Max.
 */
export function isUuid(text: string): boolean {
  return UUID.test(text);
}

/**
 * Generates UUIDv7 (RFC 9562 §5.7), lower case. Within one source they strictly increase, also as text, even if `at`
 * repeats or steps back: the last millisecond is kept, and a randomly seeded 42-bit counter is incremented (§6.2 method
 * 1). On counter overflow, the millisecond moves ahead of `at` (§6.2, "Counter Rollover Handling"). 32 bits are random
 * in every id.
 */
export class UuidSource {
  private readonly random: Random;
  private timeMs: number = 0;
  private counter: number = -1;

  constructor(random: Random) {
    this.random = random;
  }

  /** `at`: the timestamp for the id. */
  next(at: Instant): string {
    if (at > this.timeMs) {
      this.timeMs = at;
      this.counter = this.drawSeed();
    } else if (this.counter === MAX_COUNTER) {
      this.timeMs += 1;
      this.counter = this.drawSeed();
    } else {
      this.counter += 1;
    }

    const time = hex(this.timeMs, 12);
    const high = hex(0x7000 + Math.floor(this.counter / 2 ** 30), 4);
    const middle = hex(0x8000 + (Math.floor(this.counter / 2 ** 16) % 2 ** 14), 4);
    const low = hex(this.counter % 2 ** 16, 4);
    const tail = this.random.bytes(4).toHex();
    return `${time.slice(0, 8)}-${time.slice(8)}-${high}-${middle}-${low}${tail}`;
  }

  private drawSeed(): number {
    return Number.parseInt(this.random.bytes(6).toHex(), 16) % (MAX_COUNTER + 1);
  }
}

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

const MAX_COUNTER = 2 ** 42 - 1;

function hex(value: number, digits: number): string {
  return value.toString(16).padStart(digits, "0");
}
