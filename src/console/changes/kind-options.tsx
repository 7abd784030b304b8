// Select options for the record kinds with changes to list.

import { entryOf, KIND_NAMES, kindWords } from "../kinds/kinds.ts";

const ASKED = KIND_NAMES.filter((kind) => entryOf(kind)?.isUnlisted !== true);

export function KindOptions() {
  return (
    <>
      <option value="">All kinds</option>
      {ASKED.map((kind) => (
        <option key={kind} value={kind}>
          {kindWords(kind)[1]}
        </option>
      ))}
    </>
  );
}
