// The lines that a log has written lately, in memory: bounded in number and in size, and gone with the process.

/** How much a line matters, least first. */
export const LOG_LEVELS = ["info", "warn", "error"] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];

export interface LogLine {
  /** When it was written, as on the wire. */
  readonly at: string;
  readonly level: LogLevel;
  readonly event: string;
  /** All of it, as it was written. */
  readonly text: string;
}

/** Lines kept at most, and characters of all of them. */
export const LINES_KEPT = 1_000;
const CHARACTERS_KEPT = 1_000_000;

export class RecentLines {
  private lines: LogLine[] = [];
  /** Of `lines`, the first that is still kept: what is before it goes when there is much of it. */
  private first = 0;
  private characters = 0;

  add(line: LogLine): void {
    this.lines.push(line);
    this.characters += line.text.length;
    // The newest is kept however long it is.
    while (
      this.lines.length - this.first > LINES_KEPT ||
      (this.characters > CHARACTERS_KEPT && this.first < this.lines.length - 1)
    ) {
      this.characters -= (this.lines[this.first] as LogLine).text.length;
      this.first += 1;
    }
    if (this.first >= LINES_KEPT) {
      this.lines = this.lines.slice(this.first);
      this.first = 0;
    }
  }

  /** The last so many that matter at least so much, oldest first. */
  last(limit: number, least: LogLevel): LogLine[] {
    const found: LogLine[] = [];
    const from = LOG_LEVELS.indexOf(least);
    for (let at = this.lines.length - 1; at >= this.first && found.length < limit; at -= 1) {
      const line = this.lines[at] as LogLine;
      if (LOG_LEVELS.indexOf(line.level) >= from) found.push(line);
    }
    return found.reverse();
  }
}
