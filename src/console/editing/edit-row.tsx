// Edit link in a table row, which opens the form on the same page.

import { editText } from "../text/editing.ts";
import { hrefEditing, mayWrite, type OwnRecord } from "./edit-slot.tsx";

export function EditRow({ kind, id, name }: OwnRecord) {
  if (!mayWrite(kind, "update")) return null;
  return (
    <a class="edit-row" href={hrefEditing(kind, id)} aria-label={editText.title(name)}>
      {editText.edit}
    </a>
  );
}
