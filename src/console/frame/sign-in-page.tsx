// Sign-in page, shown in place of the requested page, whose address stays.

import { useEffect } from "preact/hooks";
import type { Refusal } from "../api/refusal.ts";
import { useFirstFocus, useSending } from "../forms/sending.ts";
import { Problem } from "../parts/problem.tsx";
import { signIn, wasCutOff } from "../session/me.ts";

interface SignInPageProps {
  /** Notice to the user; null for none. */
  readonly note: string | null;
  /** Earlier failure, before any input. */
  readonly problemBefore: Refusal | null;
}

export function SignInPage({ note, problemBefore }: SignInPageProps) {
  const { isBusy, problem, send } = useSending();
  // Before painting: later the user may already be typing the password.
  const form = useFirstFocus<HTMLFormElement>();
  useEffect(() => {
    document.title = "Sign in · netledger";
  }, []);
  const submit = (event: SubmitEvent) => {
    event.preventDefault();
    const typed = new FormData(event.currentTarget as HTMLFormElement);
    const [email, password] = [String(typed.get("email")), String(typed.get("password"))];
    void send(email, () => signIn(email, password));
  };
  const shown = problem ?? problemBefore;
  return (
    <main class="sign-in" id="content">
      <h1>netledger</h1>
      <form ref={form} method="post" onSubmit={submit}>
        {note !== null && <p class="note">{note}</p>}
        {wasCutOff.value && <p class="note">Your session has ended. Sign in, and you are back where you were.</p>}
        <label>
          E-mail
          <input name="email" type="email" autoComplete="username" required />
        </label>
        <label>
          Password
          <input name="password" type="password" autoComplete="current-password" required />
        </label>
        {shown !== null && <Problem problem={shown} />}
        <button type="submit" class="primary" disabled={isBusy}>
          {isBusy ? "Signing in…" : "Sign in"}
        </button>
      </form>
    </main>
  );
}
