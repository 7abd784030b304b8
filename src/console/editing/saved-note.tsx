// Note about a form's last write, on the page where it was made.

import { fieldTitle } from "../names/custom-fields.ts";
import { anyRecordPage } from "../names/record-page.ts";
import { WriteNote } from "../plans/write-note.tsx";
import { editText } from "../text/editing.ts";
import { hrefOf } from "../url/location.ts";
import { lastSaved, type Saved } from "./saved.ts";

const MESSAGES = { created: "Created.", updated: "Saved.", deleted: "Deleted.", restored: "Restored." } as const;

/** @param onUndone called after an undo */
export function SavedNote({ saved, onUndone }: { readonly saved: Saved; onUndone(): void }) {
  const { kind, id, operation, sequence, merged } = saved;
  const page = operation === "created" ? anyRecordPage(kind, id) : null;
  return (
    <WriteNote
      sentence={
        <>
          {sequence === null ? "No changes." : MESSAGES[operation]}{" "}
          {page !== null && <a href={hrefOf(page)}>Show it</a>}
        </>
      }
      sequence={sequence}
      onClose={() => (lastSaved.value = null)}
      onUndone={onUndone}
    >
      {merged.length > 0 && <p>{editText.merged(merged.map((field) => fieldTitle(field)))}</p>}
    </WriteNote>
  );
}
