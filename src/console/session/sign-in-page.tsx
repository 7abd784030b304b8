// Sign-in page, shown in place of the requested page, whose address stays.

import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { asRefusal } from "../api/client.ts";
import type { Refusal } from "../api/refusal.ts";
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
  const [problem, setProblem] = useState<Refusal | null>(null);
  const [isBusy, setBusy] = useState(false);
  const email = useRef<HTMLInputElement>(null);
  // Before painting: later the user may already be typing the password.
  useLayoutEffect(() => email.current?.focus(), []);
  useEffect(() => {
    document.title = `${signInText.title} · ${frameText.name}`;
  }, []);
  const submit = async (event: SubmitEvent) => {
    event.preventDefault();
    const form = new FormData(event.currentTarget as HTMLFormElement);
    setBusy(true);
    setProblem(null);
    try {
      await signIn(String(form.get("email")), String(form.get("password")));
    } catch (cause) {
      setProblem(asRefusal(cause));
      setBusy(false);
    }
  };
  const shown = problem ?? problemBefore;
  return (
    <main class="sign-in" id="content">
      <h1>{frameText.name}</h1>
      <form method="post" onSubmit={(event) => void submit(event)}>
        {note !== null && <p class="note">{note}</p>}
        {wasCutOff.value && <p class="note">{signInText.cutOff}</p>}
        <label>
          {signInText.email}
          <input ref={email} name="email" type="email" autoComplete="username" required maxLength={254} />
        </label>
        <label>
          {signInText.password}
          <input name="password" type="password" autoComplete="current-password" required maxLength={1024} />
        </label>
        {shown !== null && <Problem problem={shown} />}
        <button type="submit" class="primary" disabled={isBusy}>
          {isBusy ? signInText.signingIn : signInText.signIn}
        </button>
      </form>
    </main>
  );
}
