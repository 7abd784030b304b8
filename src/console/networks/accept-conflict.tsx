// Controls to accept a conflict with a reason, and to reopen it.

import { useState } from "preact/hooks";
import { LIMITS } from "#limits";
import { api, type DataOf, unwrap } from "../api/client.ts";
import { ActionButton, SubmitButton } from "../components/buttons.tsx";
import { Problem } from "../components/problem.tsx";
import { useWrite } from "../forms/use-write.ts";
import { may } from "../session/me.ts";
import { isPast } from "../time/at.ts";

type Conflict = DataOf<"/api/v1/conflicts">[number];

export function AcceptConflict({ conflict, onDone }: { readonly conflict: Conflict; onDone(): void }) {
  const { type, value, fingerprint, acceptance } = conflict;
  const [reason, setReason] = useState<string | null>(null);
  const { isBusy, problem, send } = useWrite();
  if (isPast.value || !may(acceptance === null ? "acceptConflict" : "withdrawConflictAcceptance")) return null;
  const finish = () => {
    setReason(null);
    onDone();
  };
  if (acceptance !== null)
    return (
      <>
        {problem !== null && <Problem problem={problem} />}
        <ActionButton
          label="Reopen"
          disabled={isBusy}
          aria-label={`Reopen: ${value}`}
          onClick={() =>
            void send(acceptance.id, async (header) => {
              const params = { path: { id: acceptance.id }, header };
              await unwrap(api.DELETE("/api/v1/conflicts/acceptances/{id}", { params }));
              finish();
            })
          }
        />
      </>
    );
  if (reason === null)
    return <ActionButton label="Accept" aria-label={`Accept: ${value}`} onClick={() => setReason("")} />;
  const accept = (event: SubmitEvent) => {
    event.preventDefault();
    const body = { type, value, fingerprint, reason: reason.trim() === "" ? null : reason };
    void send(body, async (header) => {
      await unwrap(api.POST("/api/v1/conflicts/acceptances", { params: { header }, body }));
      finish();
    });
  };
  return (
    <form onSubmit={accept}>
      {problem !== null && <Problem problem={problem} />}
      <input
        // biome-ignore lint/a11y/noAutofocus: this field replaces the focused button
        autoFocus
        type="text"
        maxLength={LIMITS.acceptConflict.reason.maxLength}
        aria-label="Reason for accepting"
        placeholder="Reason for accepting"
        value={reason}
        onInput={(event) => setReason(event.currentTarget.value)}
      />{" "}
      <SubmitButton label="Accept" disabled={isBusy} /> <ActionButton label="Cancel" onClick={() => setReason(null)} />
    </form>
  );
}
