// Precision and recall of conflict episodes: runs of scans after which a conflict is listed. An episode is right if it
// opens and closes within one scan of the expected one.

import { ratio } from "./presence.ts";

interface Episode {
  readonly key: string;
  readonly from: number;
  /** First scan after which it was no longer listed; Infinity if it still is. */
  until: number;
  /** Whether the conflict was allowed after every scan. */
  isTolerated: boolean;
}

const SLACK_SCANS = 1;

export class Episodes {
  private readonly listed: Episode[] = [];
  private readonly expected: Episode[] = [];
  private scans = 0;

  add(actual: ReadonlySet<string>, required: ReadonlySet<string>, tolerated: ReadonlySet<string>): void {
    this.advance(this.listed, actual, (key) => required.has(key) || tolerated.has(key));
    this.advance(this.expected, required, () => true);
    this.scans += 1;
  }

  get precision(): number {
    const counted = this.listed.filter((each) => matches(each, this.expected) || !each.isTolerated);
    return ratio(counted.filter((each) => matches(each, this.expected)).length, counted.length);
  }

  get recall(): number {
    return ratio(this.expected.filter((each) => matches(each, this.listed)).length, this.expected.length);
  }

  /** Wrong episodes, for the report. */
  wrong(): string[] {
    const text =
      (sign: string) =>
      ({ key, from, until }: Episode) =>
        `${sign}${key} ${from}–${until}`;
    return [
      ...this.listed.filter((each) => !matches(each, this.expected) && !each.isTolerated).map(text("+")),
      ...this.expected.filter((each) => !matches(each, this.listed)).map(text("-")),
    ];
  }

  private advance(episodes: Episode[], keys: ReadonlySet<string>, isTolerated: (key: string) => boolean): void {
    const open = new Map(
      episodes.filter(({ until }) => until === Number.POSITIVE_INFINITY).map((each) => [each.key, each]),
    );
    for (const [key, episode] of open) if (!keys.has(key)) episode.until = this.scans;
    for (const key of keys) {
      const episode = open.get(key);
      if (episode === undefined)
        episodes.push({ key, from: this.scans, until: Number.POSITIVE_INFINITY, isTolerated: isTolerated(key) });
      else episode.isTolerated &&= isTolerated(key);
    }
  }
}

function matches({ key, from, until }: Episode, others: readonly Episode[]): boolean {
  const isNear = (a: number, b: number) => a === b || Math.abs(a - b) <= SLACK_SCANS;
  return others.some((other) => other.key === key && isNear(other.from, from) && isNear(other.until, until));
}
