// Note about the last write to a credential, with undo. Undo does not restore secrets.

import { useState } from "preact/hooks";
import { Told } from "../forms/done-note.tsx";
import { may } from "../session/me.ts";
import { credentialText } from "../text/credentials.ts";
import { planText } from "../text/editing.ts";
import { hrefOf } from "../url/location.ts";
import { PlannedWrite } from "../writes/planned-write.tsx";
import { revertPlan } from "../writes/plans.ts";

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

export function CredentialOutcome({
  done: { sentence, sequence, isSecret },
  onClose,
  onUndone,
}: CredentialOutcomeProps) {
  const [isUndoing, setUndoing] = useState(false);
  if (isUndoing && sequence !== null)
    return (
      <PlannedWrite
        title={planText.undo}
        verb={planText.undoVerb}
        {...(isSecret ? { says: credentialText.undoSays } : {})}
        run={(sending) => revertPlan(sequence, sending)}
        onEnd={onClose}
        onDone={onUndone}
      />
    );
  return (
    <Told onClose={onClose}>
      <p>
        {sequence === null ? credentialText.unchanged : sentence}{" "}
        {sequence !== null && <a href={hrefOf(`/changes/${sequence}`)}>{credentialText.transaction(sequence)}</a>}{" "}
        {sequence !== null && may("revertTransaction") && (
          <button type="button" onClick={() => setUndoing(true)}>
            {credentialText.undo}
          </button>
        )}
      </p>
    </Told>
  );
}
