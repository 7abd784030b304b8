// Conflict in a field changed by two users: the original value, the other user's and one's own.

import { editText } from "../text/editing.ts";
import { Value } from "../values/value.tsx";
import type { Clash } from "./edits.ts";
import { sentValue } from "./field.ts";

interface FieldClashProps {
  readonly clash: Clash;
  onChoose(whose: "mine" | "theirs"): void;
}

export function FieldClash({ clash: { field, was, theirs, mine }, onChoose }: FieldClashProps) {
  const rows = [
    [editText.was, was],
    [editText.theirs, theirs],
    [editText.mine, mine],
  ] as const;
  return (
    <div class="edit-clash" role="alert">
      <p>{editText.clash}</p>
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
        {editText.takeTheirs}
      </button>{" "}
      <button type="button" onClick={() => onChoose("mine")}>
        {editText.keepMine}
      </button>
    </div>
  );
}
