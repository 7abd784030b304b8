// Dialog state of a page: the open dialog, and the note about the last one. A URL parameter opens the dialog for a new
// record.

import { useState } from "preact/hooks";
import { NEW } from "../editing/edit-slot.tsx";
import { go, hrefHere, parameter } from "../url/location.ts";

/** Events of an open dialog. */
export interface DialogEvents<Outcome = string> {
  onEnd(): void;
  onDone(outcome: Outcome): void;
}

interface Dialog<Request, Outcome> {
  readonly isNew: boolean;
  readonly requested: Request | null;
  readonly outcome: Outcome | null;
  openNew(): void;
  /** Opens a dialog, and closes the note. */
  request(next: Request): void;
  /** Closes the dialog. */
  end(): void;
  /** Closes the dialog and shows a note. */
  finish(outcome: Outcome): void;
  /** Closes the note. */
  close(): void;
}

/** @param onDone called after `finish` @param newKind API name of the kind that the user may create now: `api_key` */
export function useDialog<Request, Outcome = string>(
  onDone?: () => void,
  newKind: string | null = null,
): Dialog<Request, Outcome> {
  const [requested, setRequested] = useState<Request | null>(null);
  const [outcome, setOutcome] = useState<Outcome | null>(null);
  const isNew = newKind !== null && parameter(NEW) === newKind;
  const end = () => {
    if (isNew) go(hrefHere({ [NEW]: null }), "replace");
    setRequested(null);
  };
  return {
    isNew,
    requested,
    outcome,
    openNew: () => {
      setRequested(null);
      setOutcome(null);
      go(hrefHere({ [NEW]: newKind }));
    },
    request: (next) => {
      end();
      setOutcome(null);
      setRequested(next);
    },
    end,
    finish: (result) => {
      end();
      setOutcome(result);
      onDone?.();
    },
    close: () => setOutcome(null),
  };
}
