// Confirmation form: states the consequences, warns of irreversible ones, and asks for the password if required. Takes
// the focus, and returns it on cancel.

import type { ComponentChildren } from "preact";
import { useLayoutEffect, useRef, useState } from "preact/hooks";
import { asRefusal } from "../api/client.ts";
import { isUnsure, type Refusal } from "../api/refusal.ts";
import { Problem } from "../parts/problem.tsx";
import { editText } from "../text/editing.ts";
import { settingsText } from "../text/settings.ts";
import { keepDraft } from "./drafts.ts";
import { type KeptForm, keepForm } from "./kept-form.ts";
import { newRequestKey } from "./request-key.ts";

interface AskFirstProps {
  readonly title: string;
  /** One sentence per consequence. */
  readonly says: readonly string[];
  /** Label of the submit button. */
  readonly verb: string;
  /** @param requestKey reused while the outcome is unknown @throws Refusal */
  run(form: FormData, requestKey: string): Promise<void>;
  /** Whether the action is destructive. */
  readonly takesAway?: boolean;
  /** Called on cancel; `run` handles completion. */
  onEnd(): void;
  /** Draft of the form; omitted if input is not kept. */
  readonly kept?: KeptForm;
  /** Input fields. */
  readonly children?: ComponentChildren;
}

export function AskFirst({ title, says, verb, takesAway = false, run, onEnd, kept, children }: AskFirstProps) {
  const [problem, setProblem] = useState<Refusal | null>(null);
  const [isBusy, setBusy] = useState(false);
  // A request with an unknown outcome is repeated unchanged; a different one could be executed in addition.
  const [isLost, setLost] = useState(typeof kept?.sentAs === "string");
  // Passwords are not kept, so they must be entered again after a reload.
  const [isLacking, setLacking] = useState(false);
  // The request had succeeded before a different one was sent with its key.
  const [wasDone, setWasDone] = useState(false);
  const heading = useRef<HTMLHeadingElement>(null);
  const requestKey = useRef(kept?.sentAs ?? newRequestKey());
  const before = useRef(document.activeElement);
  useLayoutEffect(() => {
    heading.current?.focus();
    const opener = before.current;
    const own = heading.current?.closest("form");
    setLacking(isLost && own?.querySelector("input[type=password]") != null);
    return () => {
      // A note about the completed action takes the focus afterwards.
      if (own?.contains(document.activeElement) && opener instanceof HTMLElement && opener.isConnected) opener.focus();
    };
  }, []);
  const isRestored = useRef(kept?.isThere === true);
  const forget = () => {
    if (kept !== undefined) keepDraft(kept.name, null);
  };
  const end = () => {
    forget();
    onEnd();
  };
  const submit = async (event: SubmitEvent) => {
    event.preventDefault();
    const element = event.currentTarget as HTMLFormElement;
    const form = new FormData(element);
    // Lets a reload resume an unanswered request.
    if (kept !== undefined) keepForm(kept.name, element, requestKey.current);
    setBusy(true);
    setProblem(null);
    setWasDone(false);
    setLacking(false);
    try {
      await run(form, requestKey.current);
      forget();
      setLost(false);
    } catch (cause) {
      const refusal = asRefusal(cause);
      const isDone = refusal.code === "idempotency_key_reused";
      setWasDone(isDone);
      setProblem(isDone ? null : refusal);
      setLost(isUnsure(refusal));
      if (!isUnsure(refusal)) {
        requestKey.current = newRequestKey();
        if (kept !== undefined) keepForm(kept.name, element);
      }
    }
    setBusy(false);
  };
  return (
    <form
      class="plan"
      aria-label={title}
      onSubmit={(event) => void submit(event)}
      onKeyDown={(event) => {
        if (event.key === "Escape" && !isBusy) end();
      }}
      onInput={(event) => {
        if (kept !== undefined) keepForm(kept.name, event.currentTarget, isLost ? requestKey.current : null);
      }}
    >
      <h2 ref={heading} tabIndex={-1}>
        {title}
      </h2>
      {isRestored.current && (
        <p class="note">
          {editText.restored}{" "}
          <button type="button" onClick={end}>
            {editText.discard}
          </button>
        </p>
      )}
      {says.map((sentence) => (
        <p key={sentence} class="prose">
          {sentence}
        </p>
      ))}
      <div class="edit-fields" inert={isLost && !isLacking}>
        {children}
      </div>
      {problem !== null && <Problem problem={problem} />}
      {isLost && <p class="note">{isLacking ? settingsText.unsureOfSecret : settingsText.unsure}</p>}
      {wasDone && (
        <p class="note" role="alert">
          {settingsText.wasDone}
        </p>
      )}
      <p>
        <button type="submit" class={takesAway ? "danger" : "primary"} disabled={isBusy}>
          {isBusy ? settingsText.working : isLost ? settingsText.again : verb}
        </button>{" "}
        <button type="button" disabled={isBusy} onClick={end}>
          {settingsText.cancel}
        </button>
      </p>
    </form>
  );
}

/** Password of the signed-in user, for confirmation. */
export function OwnPassword() {
  return (
    <label class="settings-field">
      {settingsText.password}
      <input name="password" type="password" autoComplete="current-password" required maxLength={1024} />
    </label>
  );
}
