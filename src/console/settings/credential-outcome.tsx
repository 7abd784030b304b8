// Note about the last write to a credential. Undo does not restore secrets.

import { credentialText } from "../text/credentials.ts";
import { WriteNote } from "../writes/write-note.tsx";

export interface CredentialDone {
  readonly sentence: string;
  /** Transaction; null if nothing was written. */
  readonly sequence: number | null;
  /** Whether the write replaced a secret, which undo does not restore. */
  readonly isSecret: boolean;
}

interface CredentialOutcomeProps {
  readonly done: CredentialDone;
  onClose(): void;
  onUndone(): void;
}

export function CredentialOutcome({ done: { sentence, sequence, isSecret }, ...about }: CredentialOutcomeProps) {
  return (
    <WriteNote
      {...about}
      sentence={sequence === null ? credentialText.unchanged : sentence}
      sequence={sequence}
      undoSays={isSecret ? credentialText.undoSays : undefined}
    />
  );
}
