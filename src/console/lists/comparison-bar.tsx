// Counts of differences between two timestamps, and the choice of rows: all, all differences, or one change type.

import { ObservedSwitch } from "../parts/observed-switch.tsx";
import { comparisonText } from "../text/compare.ts";
import { hrefHere, parameter } from "../url/location.ts";
import type { Change, ChangeCounts } from "./compared-reads.ts";

const CHANGES: readonly Change[] = ["added", "removed", "changed"];

/** Choice of rows in the URL; null for all rows. */
export function shownOfComparison(): "differences" | Change | null {
  const only = parameter("only");
  if (only === "differences") return only;
  return CHANGES.find((each) => each === only) ?? null;
}

export function ComparisonBar({ counts }: { readonly counts: ChangeCounts | undefined }) {
  const shown = shownOfComparison();
  const total = counts === undefined ? undefined : counts.added + counts.removed + counts.changed;
  return (
    <nav class="comparison" aria-label={comparisonText.shown}>
      <Choice only={null} shown={shown} words={comparisonText.all} />
      <Choice only="differences" shown={shown} words={comparisonText.differences(total)} />
      {CHANGES.map((change) => (
        <Choice
          key={change}
          only={change}
          shown={shown}
          words={comparisonText.only[change](counts?.[change])}
          sign={change}
        />
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
