// Switch for observation-only changes in a comparison, stored in the URL.

import { isObservedTold } from "../api/diff.ts";
import { comparisonText } from "../text/compare.ts";
import { go, hrefHere } from "../url/location.ts";

export function ObservedSwitch() {
  return (
    <label class="observed" title={comparisonText.observedMeans}>
      <input
        type="checkbox"
        checked={isObservedTold()}
        onChange={({ currentTarget }) => go(hrefHere({ observed: currentTarget.checked ? "1" : null }), "replace")}
      />{" "}
      {comparisonText.observed}
    </label>
  );
}
