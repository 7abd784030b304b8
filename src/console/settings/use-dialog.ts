// State of a page's dialogs: the open one, and the note about the last that was completed. The one for a new record is
// in the URL, as on other pages: the palette links to it, and it survives a reload.

import { useState } from "preact/hooks";
import { NEW } from "../editing/edit-place.tsx";
import { go, hrefHere, parameter } from "../url/location.ts";

interface Dialog<Asked, Told> {
  readonly isNew: boolean;
  readonly asked: Asked | null;
  readonly told: Told | null;
  openNew(): void;
  /** Opens a dialog, and closes the note. */
  ask(what: Asked): void;
  /** Closes the dialog. */
  end(): void;
  /** The same, with a note. */
  finish(told: Told): void;
  /** Closes the note. */
  close(): void;
}

/**
 * @param onDone called after `finish`
 * @param newKind API name of the kind that the user may create now: `api_key`
 */
export function useDialog<Asked, Told = string>(
  onDone?: () => void,
  newKind: string | null = null,
): Dialog<Asked, Told> {
  const [asked, setAsked] = useState<Asked | null>(null);
  const [told, setTold] = useState<Told | null>(null);
  const isNew = newKind !== null && parameter(NEW) === newKind;
  const end = () => {
    if (isNew) go(hrefHere({ [NEW]: null }), "replace");
    setAsked(null);
  };
  return {
    isNew,
    asked,
    told,
    openNew: () => {
      setAsked(null);
      setTold(null);
      go(hrefHere({ [NEW]: newKind }));
    },
    ask: (what) => {
      end();
      setTold(null);
      setAsked(what);
    },
    end,
    finish: (done) => {
      end();
      setTold(done);
      onDone?.();
    },
    close: () => setTold(null),
  };
}
