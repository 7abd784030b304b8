// Filter field of a list with its error, and other controls next to it.

import type { ComponentChildren } from "preact";
import type { Refusal } from "../api/refusal.ts";
import { hrefHere } from "../url/location.ts";
import { FilterField } from "./filter-field.tsx";

interface FilterToolsProps {
  /** Kind of the listed records. */
  readonly kind: string;
  readonly filter: string;
  readonly example: string;
  /** Error of the list, shown here if the filter caused it. */
  readonly problem: Refusal | undefined;
  readonly children?: ComponentChildren;
}

export function FilterTools({ problem, children, ...field }: FilterToolsProps) {
  return (
    <div class="list-tools">
      <FilterField {...field} problem={isFilterProblem(problem) ? problem : undefined} />
      {children}
    </div>
  );
}

/** @param kinds plural noun, such as `scans` */
export function NoMatches({ kinds }: { readonly kinds: string }) {
  return (
    <p>
      No {kinds} match this filter. <a href={hrefHere({ filter: null })}>Remove the filter</a>
    </p>
  );
}

/** Whether the API rejected the filter. */
export function isFilterProblem(problem: Refusal | undefined): boolean {
  return problem?.issues.some(({ path }) => path === "/filter") === true;
}
