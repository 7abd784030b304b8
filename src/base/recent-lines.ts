// The lines that a log has written lately, in memory: bounded in number and in size, and gone with the process.

/** How much a line matters, least first. */
export const LOG_LEVELS = ["info", "warn", "error"] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];

export interface LogLine {
  /** Its number since the start, from 1, without gaps. */
  readonly sequence: number;
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

/** Where a reader stands who follows the log. */
interface LinePosition {
  /** The number of the last line that was read. */
  readonly after: number;
  /** The mark that came with it; absent for whatever there is now. */
  readonly mark?: string | undefined;
}

/** Some lines, and where they stand among all. */
export interface LinePage {
  /** Oldest first. */
  readonly lines: readonly LogLine[];
  /** The next page begins after this line. */
  readonly after: number;
  /** When the first line of all was written: tells one start from another. Empty before there is one. */
  readonly mark: string;
  /** Lines between the position asked for and the first that is kept, whatever they said. */
  readonly dropped: number;
  /** Whether the position asked for is one of an earlier start. */
  readonly isRestarted: boolean;
  /** Whether more of the lines asked for are there now. */
  readonly hasMore: boolean;
}

export class RecentLines {
  private lines: LogLine[] = [];
  /** Of `lines`, the first that is still kept: what is before it goes when there is much of it. */
  private first = 0;
  private characters = 0;
  private newest = 0;
  private mark = "";
  private readonly newestOf = new Map<LogLevel, string>();

  /** When the newest line of a level was written, kept or not; null where there was none. */
  lastAt(level: LogLevel): string | null {
    return this.newestOf.get(level) ?? null;
  }

  add(line: Omit<LogLine, "sequence">): void {
    this.newest += 1;
    this.newestOf.set(line.level, line.at);
    if (this.newest === 1) this.mark = line.at;
    this.lines.push({ sequence: this.newest, ...line });
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

  /** The last so many that are wanted. */
  last(limit: number, isWanted: (line: LogLine) => boolean): LinePage {
    const found: LogLine[] = [];
    for (let at = this.lines.length - 1; at >= this.first && found.length < limit; at -= 1) {
      const line = this.lines[at] as LogLine;
      if (isWanted(line)) found.push(line);
    }
    const { newest: after, mark } = this;
    return { lines: found.reverse(), after, mark, dropped: 0, isRestarted: false, hasMore: false };
  }

  /** The first so many after a position that are wanted; from the first one on where the position is of another start. */
  next(limit: number, from: LinePosition, isWanted: (line: LogLine) => boolean): LinePage {
    // Who asked before the first line stands before it.
    const isOfAnother = from.mark !== undefined && from.mark !== "" && from.mark !== this.mark;
    const isRestarted = isOfAnother || from.after > this.newest;
    const after = isRestarted ? 0 : from.after;
    const kept = this.newest - (this.lines.length - this.first);
    const wanted = this.lines.slice(this.first + Math.max(0, after - kept)).filter(isWanted);
    const lines = wanted.slice(0, limit);
    const hasMore = wanted.length > limit;
    return {
      lines,
      // What was not wanted is passed as well.
      after: hasMore ? (lines.at(-1) as LogLine).sequence : this.newest,
      mark: this.mark,
      dropped: Math.max(0, kept - after),
      isRestarted,
      hasMore,
    };
  }
}

/** Whether a line matters at least so much. */
export function isAtLeast(least: LogLevel): (line: Pick<LogLine, "level">) => boolean {
  const from = LOG_LEVELS.indexOf(least);
  return ({ level }) => LOG_LEVELS.indexOf(level) >= from;
}
