// Acceptance of a conflict with a reason, and its withdrawal.

import { useState } from "preact/hooks";
import { LIMITS } from "#limits";
import { api, done } from "../api/client.ts";
import { useSending } from "../forms/sending.ts";
import { Problem } from "../parts/problem.tsx";
import { may } from "../session/me.ts";
import { isPast } from "../time/at.ts";

interface AcceptConflictProps {
  readonly conflict: {
    readonly type: "Address" | "Mac" | "Subnet";
    readonly value: string;
    readonly fingerprint: string;
    readonly acceptance: { readonly id: string } | null;
  };
  onDone(): void;
}

export function AcceptConflict({ conflict: { type, value, fingerprint, acceptance }, onDone }: AcceptConflictProps) {
  const [reason, setReason] = useState<string | null>(null);
  const { isBusy, problem, send } = useSending();
  if (isPast.value || !may(acceptance === null ? "acceptConflict" : "withdrawConflictAcceptance")) return null;
  const end = () => {
    setReason(null);
    onDone();
  };
  if (acceptance !== null)
    return (
      <>
        {problem !== null && <Problem problem={problem} />}
        <button
          type="button"
          disabled={isBusy}
          aria-label={`Withdraw: ${value}`}
          onClick={() =>
            void send(acceptance.id, async (header) => {
              const params = { path: { id: acceptance.id }, header };
              await done(api.DELETE("/api/v1/conflicts/acceptances/{id}", { params }));
              end();
            })
          }
        >
          Withdraw
        </button>
      </>
    );
  if (reason === null)
    return (
      <button type="button" aria-label={`Accept: ${value}`} onClick={() => setReason("")}>
        Accept
      </button>
    );
  const accept = (event: SubmitEvent) => {
    event.preventDefault();
    const body = { type, value, fingerprint, reason: reason.trim() === "" ? null : reason };
    void send(body, async (header) => {
      await done(api.POST("/api/v1/conflicts/acceptances", { params: { header }, body }));
      end();
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
        aria-label="Reason to accept it"
        placeholder="Reason to accept it"
        value={reason}
        onInput={(event) => setReason(event.currentTarget.value)}
      />{" "}
      <button type="submit" class="primary" disabled={isBusy}>
        Accept
      </button>{" "}
      <button type="button" onClick={() => setReason(null)}>
        Cancel
      </button>
    </form>
  );
}
