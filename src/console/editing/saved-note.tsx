// Note about the last write of a form, on the page where it was made.

import { fieldTitle } from "../names/custom-fields.ts";
import { anyRecordPage } from "../names/record-page.ts";
import { editText } from "../text/editing.ts";
import { hrefOf } from "../url/location.ts";
import { WriteNote } from "../writes/write-note.tsx";
import { lastSaved, type Saved } from "./saved.ts";

interface SavedNoteProps {
  readonly saved: Saved;
  /** Called after undo. */
  onUndone(): void;
}

const SAID = {
  created: "Created.",
  updated: "Saved.",
  deleted: "Deleted.",
  restored: "Brought back.",
} as const;

export function SavedNote({ saved: { kind, id, operation, sequence, merged }, onUndone }: SavedNoteProps) {
  const page = operation === "created" ? anyRecordPage(kind, id) : null;
  return (
    <WriteNote
      sentence={
        <>
          {sequence === null ? "Nothing is changed yet." : SAID[operation]}{" "}
          {page !== null && <a href={hrefOf(page)}>Show it</a>}
        </>
      }
      sequence={sequence}
      onClose={() => {
        lastSaved.value = null;
      }}
      onUndone={onUndone}
    >
      {merged.length > 0 && <p>{editText.merged(merged.map((each) => fieldTitle(each)))}</p>}
    </WriteNote>
  );
}
