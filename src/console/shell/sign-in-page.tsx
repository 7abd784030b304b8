// Sign-in page, shown in place of the requested page, without changing the URL.

import { useEffect } from "preact/hooks";
import type { Refusal } from "../api/refusal.ts";
import { SubmitButton } from "../components/buttons.tsx";
import { Problem } from "../components/problem.tsx";
import { useFirstFocus, useWrite } from "../forms/use-write.ts";
import { sessionExpired, signIn } from "../session/me.ts";

type SignInPageProps = Readonly<{ note: string | null; initialProblem: Refusal | null }>;

/** @param initialProblem failure before the form was shown */
export function SignInPage({ note, initialProblem }: SignInPageProps) {
  const { isBusy, problem, send } = useWrite();
  // Focuses before painting: afterwards the user may already be typing the password.
  const form = useFirstFocus<HTMLFormElement>();
  useEffect(() => {
    document.title = "Sign in · netledger";
  }, []);
  const submit = (event: SubmitEvent) => {
    event.preventDefault();
    const data = new FormData(event.currentTarget as HTMLFormElement);
    const [email, password] = [String(data.get("email")), String(data.get("password"))];
    void send(email, () => signIn(email, password));
  };
  const shown = problem ?? initialProblem;
  return (
    <main class="sign-in" id="content">
      <h1>netledger</h1>
      <form ref={form} method="post" onSubmit={submit}>
        {note !== null && <p class="note">{note}</p>}
        {sessionExpired.value && <p class="note">Your session has ended. Sign in to continue where you left off.</p>}
        <label>
          E-mail
          <input name="email" type="email" autoComplete="username" required />
        </label>
        <label>
          Password
          <input name="password" type="password" autoComplete="current-password" required />
        </label>
        {shown !== null && <Problem problem={shown} />}
        <SubmitButton label={isBusy ? "Signing in…" : "Sign in"} disabled={isBusy} />
      </form>
    </main>
  );
}
