// Acceptance of a conflict with a reason, and its withdrawal.

import { useRef, useState } from "preact/hooks";
import { api, asRefusal, done } from "../api/client.ts";
import type { Refusal } from "../api/refusal.ts";
import { REASON_MAX_LENGTH } from "../forms/reason.ts";
import { RequestKeys } from "../forms/request-key.ts";
import { Problem } from "../parts/problem.tsx";
import { may } from "../session/me.ts";
import { conflictText } from "../text/networks.ts";
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
  const [problem, setProblem] = useState<Refusal | null>(null);
  const [isBusy, setBusy] = useState(false);
  const keys = useRef(new RequestKeys());
  if (isPast.value || !may(acceptance === null ? "acceptConflict" : "withdrawConflictAcceptance")) return null;
  /** @param what complete description of the request; an unchanged retry reuses its key */
  const send = (what: string, write: (header: { "Idempotency-Key": string }) => Promise<unknown>) => {
    setBusy(true);
    setProblem(null);
    write({ "Idempotency-Key": keys.current.of(what) })
      .then(() => {
        keys.current.settle(what);
        setReason(null);
        onDone();
      })
      .catch((cause: unknown) => setProblem(asRefusal(cause)))
      .finally(() => setBusy(false));
  };
  if (acceptance !== null)
    return (
      <>
        {problem !== null && <Problem problem={problem} />}
        <button
          type="button"
          disabled={isBusy}
          aria-label={`${conflictText.withdraw}: ${value}`}
          onClick={() =>
            send(acceptance.id, (header) =>
              done(
                api.DELETE("/api/v1/conflicts/acceptances/{id}", { params: { path: { id: acceptance.id }, header } }),
              ),
            )
          }
        >
          {conflictText.withdraw}
        </button>
      </>
    );
  if (reason === null)
    return (
      <button type="button" aria-label={`${conflictText.accept}: ${value}`} onClick={() => setReason("")}>
        {conflictText.accept}
      </button>
    );
  const accept = (event: SubmitEvent) => {
    event.preventDefault();
    const body = { type, value, fingerprint, reason: reason.trim() === "" ? null : reason };
    send(JSON.stringify(body), (header) =>
      done(api.POST("/api/v1/conflicts/acceptances", { params: { header }, body })),
    );
  };
  return (
    <form onSubmit={accept}>
      {problem !== null && <Problem problem={problem} />}
      <input
        // biome-ignore lint/a11y/noAutofocus: this field replaces the focused button
        autoFocus
        type="text"
        maxLength={REASON_MAX_LENGTH}
        aria-label={conflictText.why}
        placeholder={conflictText.why}
        value={reason}
        onInput={(event) => setReason(event.currentTarget.value)}
      />{" "}
      <button type="submit" class="primary" disabled={isBusy}>
        {conflictText.accept}
      </button>{" "}
      <button type="button" onClick={() => setReason(null)}>
        {conflictText.cancel}
      </button>
    </form>
  );
}
