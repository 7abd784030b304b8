// Conflict in a field changed by two users: the original value, the other user's and one's own.

import { Value } from "../values/value.tsx";
import type { Clash } from "./edits.ts";
import { sentValue } from "./field.ts";

interface FieldClashProps {
  readonly clash: Clash;
  onChoose(whose: "mine" | "theirs"): void;
}

export function FieldClash({ clash: { field, was, theirs, mine }, onChoose }: FieldClashProps) {
  const rows = [
    ["It was", was],
    ["They made it", theirs],
    ["You made it", mine],
  ] as const;
  return (
    <div class="edit-clash" role="alert">
      <p>Others changed this while you edited.</p>
      <dl class="facts">
        {rows.map(([name, typed]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>
              <Value field={field.name} value={sentValue(field, typed)} at={null} />
            </dd>
          </div>
        ))}
      </dl>
      <button type="button" onClick={() => onChoose("theirs")}>
        Take theirs
      </button>{" "}
      <button type="button" onClick={() => onChoose("mine")}>
        Keep mine
      </button>
    </div>
  );
}
