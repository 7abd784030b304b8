// Counts of differences between two timestamps, and the choice of rows: all, all differences, or one change type.

import { ObservedSwitch } from "../parts/observed-switch.tsx";
import { counted, groupedDigits } from "../text/digits.ts";
import { hrefHere, parameter } from "../url/location.ts";
import type { Change, ChangeCounts } from "./compared-reads.ts";

const CHANGES: readonly Change[] = ["added", "removed", "changed"];

/** Choice of rows in the URL; null for all rows. */
export function shownOfComparison(): "differences" | Change | null {
  const only = parameter("only");
  if (only === "differences") return only;
  return CHANGES.find((each) => each === only) ?? null;
}

const ONLY = {
  added: (count: number | undefined) => (count === undefined ? "Added" : `${groupedDigits(count)} added`),
  removed: (count: number | undefined) => (count === undefined ? "Removed" : `${groupedDigits(count)} removed`),
  changed: (count: number | undefined) => (count === undefined ? "Changed" : `${groupedDigits(count)} changed`),
};

export function ComparisonBar({ counts }: { readonly counts: ChangeCounts | undefined }) {
  const shown = shownOfComparison();
  const total = counts === undefined ? undefined : counts.added + counts.removed + counts.changed;
  return (
    <nav class="comparison" aria-label="What is shown of the comparison">
      <Choice only={null} shown={shown} words="All rows" />
      <Choice
        only="differences"
        shown={shown}
        words={total === undefined ? "What differs" : counted(total, "differs", "differ")}
      />
      {CHANGES.map((change) => (
        <Choice key={change} only={change} shown={shown} words={ONLY[change](counts?.[change])} sign={change} />
      ))}
      <ObservedSwitch />
    </nav>
  );
}

interface ChoiceProps {
  readonly only: "differences" | Change | null;
  readonly shown: "differences" | Change | null;
  readonly words: string;
  readonly sign?: Change;
}

function Choice({ only, shown, words, sign }: ChoiceProps) {
  return (
    <a class="button" href={hrefHere({ only })} aria-current={only === shown ? "true" : undefined}>
      {sign === undefined ? words : <span class={`sign ${sign}`}>{words}</span>}
    </a>
  );
}
