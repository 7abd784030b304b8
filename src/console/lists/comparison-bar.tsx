// Difference counts between two timestamps, and the choice of rows: all, all differences, or one change type.

import type { ComponentChildren } from "preact";
import { LinkButton } from "../components/buttons.tsx";
import { ObservedSwitch } from "../components/observed-switch.tsx";
import { type Change, type ChangeCounts, totalOf } from "../history/change-counts.ts";
import { capital } from "../kinds/kinds.ts";
import { counted, groupedDigits } from "../text/digits.ts";
import { hrefHere, parameter } from "../url/location.ts";
import type { RowChoice } from "./compared-reads.ts";

const CHANGES: readonly Change[] = ["added", "removed", "changed"];

/** Choice of rows from the URL. */
export function comparisonFilter(): RowChoice {
  const only = parameter("only");
  return only === "differences" ? only : (CHANGES.find((change) => change === only) ?? null);
}

export function ComparisonBar({ counts }: { readonly counts: ChangeCounts | undefined }) {
  return (
    <nav class="comparison" aria-label="Rows shown">
      <Choice only={null} text="All rows" />
      <Choice only="differences" text={counts ? counted(totalOf(counts), "differs", "differ") : "Differences"} />
      {CHANGES.map((change) => {
        const text = counts ? `${groupedDigits(counts[change])} ${change}` : capital(change);
        return <Choice key={change} only={change} text={<span class={`sign ${change}`}>{text}</span>} />;
      })}
      <ObservedSwitch />
    </nav>
  );
}

function Choice({ only, text }: { readonly only: RowChoice; readonly text: ComponentChildren }) {
  const isShown = only === comparisonFilter();
  return <LinkButton href={hrefHere({ only })} label={text} aria-current={isShown ? "true" : undefined} />;
}
