// Sign-in page, shown in place of the requested page, whose address stays.

import { useEffect } from "preact/hooks";
import type { Refusal } from "../api/refusal.ts";
import { useFirstFocus, useSending } from "../forms/sending.ts";
import { Problem } from "../parts/problem.tsx";
import { frameText, signInText } from "../text/frame.ts";
import { signIn, wasCutOff } from "./me.ts";

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
    document.title = `${signInText.title} · ${frameText.name}`;
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
      <h1>{frameText.name}</h1>
      <form ref={form} method="post" onSubmit={submit}>
        {note !== null && <p class="note">{note}</p>}
        {wasCutOff.value && <p class="note">{signInText.cutOff}</p>}
        <label>
          {signInText.email}
          <input name="email" type="email" autoComplete="username" required />
        </label>
        <label>
          {signInText.password}
          <input name="password" type="password" autoComplete="current-password" required />
        </label>
        {shown !== null && <Problem problem={shown} />}
        <button type="submit" class="primary" disabled={isBusy}>
          {isBusy ? signInText.signingIn : signInText.signIn}
        </button>
      </form>
    </main>
  );
}
