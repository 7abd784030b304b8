// Switch for observation-only changes in a comparison, stored in the URL.

import { isObservedTold } from "../api/diff.ts";
import { go, hrefHere } from "../url/location.ts";

export function ObservedSwitch() {
  return (
    <label class="observed" title="Records that were only seen or missed: no other field changed">
      <input
        type="checkbox"
        checked={isObservedTold()}
        onChange={({ currentTarget }) => go(hrefHere({ observed: currentTarget.checked ? "1" : null }), "replace")}
      />{" "}
      Include learned data (MAC tables, last seen)
    </label>
  );
}
