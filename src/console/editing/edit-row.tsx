// In a row of a table, the way to edit its record on this page.

import type { EditedKind } from "../kinds/kinds.ts";
import { editText } from "../text/editing.ts";
import { hrefEditing, mayWrite } from "./edit-place.tsx";

interface EditRowProps {
  readonly kind: EditedKind;
  readonly id: string;
  /** What the record is called. */
  readonly name: string;
}

export function EditRow({ kind, id, name }: EditRowProps) {
  if (!mayWrite(kind, "update")) return null;
  return (
    <a class="edit-row" href={hrefEditing(kind, id)} aria-label={editText.title(name)}>
      {editText.edit}
    </a>
  );
}
