// `<option>` elements for the record kinds whose changes are listed.

import { entryOf, KIND_NAMES, kindWords } from "../kinds/kinds.ts";

const KINDS = KIND_NAMES.filter((kind) => entryOf(kind)?.isUnlisted !== true);

export function KindOptions() {
  return (
    <>
      <option value="">All kinds</option>
      {KINDS.map((kind) => (
        <option key={kind} value={kind}>
          {kindWords(kind)[1]}
        </option>
      ))}
    </>
  );
}
