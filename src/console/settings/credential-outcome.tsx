// Note about the last write to a credential. Undo does not restore secrets.

import { WriteNote } from "../plans/write-note.tsx";
import { credentialText } from "../text/credentials.ts";

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

export function CredentialOutcome({ done: { sentence, sequence, isSecret }, ...rest }: CredentialOutcomeProps) {
  return (
    <WriteNote
      {...rest}
      sentence={sequence === null ? credentialText.unchanged : sentence}
      sequence={sequence}
      undoWarning={isSecret ? credentialText.undoWarning : undefined}
    />
  );
}
