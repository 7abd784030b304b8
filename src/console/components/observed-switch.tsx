// Checkbox that includes learned data in a comparison, stored in the URL.

import { includesObserved } from "../api/diff.ts";
import { go, hrefHere } from "../url/location.ts";

export function ObservedSwitch() {
  return (
    <label class="observed" title="Records whose only change is when they were last seen">
      <input
        type="checkbox"
        checked={includesObserved()}
        onChange={({ currentTarget }) => go(hrefHere({ observed: currentTarget.checked ? "1" : null }), "replace")}
      />{" "}
      Include learned data (MAC tables, last seen)
    </label>
  );
}
