// Edit button in a table row. Opens the form on the same page.

import type { EditedKind } from "../kinds/kinds.ts";
import { editText } from "../text/editing.ts";
import { hrefEditing, mayWrite } from "./edit-place.tsx";

interface EditRowProps {
  readonly kind: EditedKind;
  readonly id: string;
  /** Name of the record. */
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
