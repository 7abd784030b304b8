// Buffer of recent log lines in memory, bounded in number and size; lost with the process.

/** Severities, lowest first. */
export const LOG_LEVELS = ["info", "warn", "error"] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];

export interface LogLine {
  /** Consecutive number since the start, from 1. */
  readonly sequence: number;
  /** Time of the write, in wire format. */
  readonly at: string;
  readonly level: LogLevel;
  readonly event: string;
  /** The complete line as written. */
  readonly text: string;
}

/** Maximum number of lines, and of characters in all of them. */
export const MAX_LINES = 1_000;
const MAX_CHARACTERS = 1_000_000;

/** Position of a reader that follows the log. */
interface LinePosition {
  /** Number of the last line read. */
  readonly after: number;
  /** The mark returned with it; absent for the current one. */
  readonly mark?: string | undefined;
}

/** Some lines and their position. */
export interface LinePage {
  /** Oldest first. */
  readonly lines: readonly LogLine[];
  /** The next page starts after this line. */
  readonly after: number;
  /** Time of the very first line: distinguishes one start from another. Empty before the first line. */
  readonly mark: string;
  /** Number of dropped lines between the requested position and the first remaining one, matching or not. */
  readonly dropped: number;
  /** Whether the requested position belongs to an earlier start. */
  readonly isRestarted: boolean;
  /** Whether more matching lines are available now. */
  readonly hasMore: boolean;
}

export class RecentLines {
  private lines: LogLine[] = [];
  /** Index of the first kept line in `lines`; earlier ones are removed in batches. */
  private first = 0;
  private characters = 0;
  private newest = 0;
  private mark = "";
  private readonly newestByLevel = new Map<LogLevel, string>();

  /** Time of the newest line of a level, even if dropped; null for none. */
  lastAt(level: LogLevel): string | null {
    return this.newestByLevel.get(level) ?? null;
  }

  add(line: Omit<LogLine, "sequence">): void {
    this.newest += 1;
    this.newestByLevel.set(line.level, line.at);
    if (this.newest === 1) this.mark = line.at;
    this.lines.push({ sequence: this.newest, ...line });
    this.characters += line.text.length;
    // The newest line is never dropped, regardless of its length.
    while (
      this.lines.length - this.first > MAX_LINES ||
      (this.characters > MAX_CHARACTERS && this.first < this.lines.length - 1)
    ) {
      this.characters -= (this.lines[this.first] as LogLine).text.length;
      this.first += 1;
    }
    if (this.first >= MAX_LINES) {
      this.lines = this.lines.slice(this.first);
      this.first = 0;
    }
  }

  /** The last matching lines, up to a limit. */
  last(limit: number, accepts: (line: LogLine) => boolean): LinePage {
    const found: LogLine[] = [];
    for (let index = this.lines.length - 1; index >= this.first && found.length < limit; index -= 1) {
      const line = this.lines[index] as LogLine;
      if (accepts(line)) found.push(line);
    }
    const { newest: after, mark } = this;
    return { lines: found.reverse(), after, mark, dropped: 0, isRestarted: false, hasMore: false };
  }

  /**
   * The next matching lines after a position, up to a limit; starts at the first line if the position is from another
   * start.
   */
  next(limit: number, from: LinePosition, accepts: (line: LogLine) => boolean): LinePage {
    // A request before the first line got an empty mark and belongs to this start.
    const isFromOtherStart = from.mark !== undefined && from.mark !== "" && from.mark !== this.mark;
    const isRestarted = isFromOtherStart || from.after > this.newest;
    const after = isRestarted ? 0 : from.after;
    const removed = this.newest - (this.lines.length - this.first);
    const matching = this.lines.slice(this.first + Math.max(0, after - removed)).filter(accepts);
    const lines = matching.slice(0, limit);
    const hasMore = matching.length > limit;
    return {
      lines,
      // Skips non-matching lines as well.
      after: hasMore ? (lines.at(-1) as LogLine).sequence : this.newest,
      mark: this.mark,
      dropped: Math.max(0, removed - after),
      isRestarted,
      hasMore,
    };
  }
}

/** Filter for a minimum severity. */
export function isAtLeast(minimum: LogLevel): (line: Pick<LogLine, "level">) => boolean {
  const from = LOG_LEVELS.indexOf(minimum);
  return ({ level }) => LOG_LEVELS.indexOf(level) >= from;
}
