// The kinds of records whose changes can be asked for, as the options of a choice.

import { entryOf, KIND_NAMES, kindWords } from "../kinds/kinds.ts";
import { changesText } from "../text/changes.ts";

const ASKED = KIND_NAMES.filter((kind) => entryOf(kind)?.isUnlisted !== true);

export function KindOptions() {
  return (
    <>
      <option value="">{changesText.allKinds}</option>
      {ASKED.map((kind) => (
        <option key={kind} value={kind}>
          {kindWords(kind)[1]}
        </option>
      ))}
    </>
  );
}
