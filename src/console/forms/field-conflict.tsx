// Conflict in a field that someone else changed too: the original value, theirs, and the user's own.

import { ActionButton } from "../components/buttons.tsx";
import { Fact } from "../components/facts.tsx";
import { Value } from "../field-values/value.tsx";
import type { Conflict } from "./edits.ts";
import { sentValue } from "./field.ts";

interface FieldConflictProps {
  readonly conflict: Conflict;
  onChoose(choice: "mine" | "theirs"): void;
}

export function FieldConflict({ conflict: { field, was, theirs, mine }, onChoose }: FieldConflictProps) {
  return (
    <div class="edit-conflict" role="alert">
      <p>Others changed this field while you were editing.</p>
      <dl class="facts">
        {Object.entries({ Original: was, Theirs: theirs, Yours: mine }).map(([name, typed]) => (
          <Fact key={name} name={name}>
            <Value field={field.name} value={sentValue(field, typed)} at={null} />
          </Fact>
        ))}
      </dl>
      <ActionButton label="Use theirs" onClick={() => onChoose("theirs")} />{" "}
      <ActionButton label="Keep mine" onClick={() => onChoose("mine")} />
    </div>
  );
}
