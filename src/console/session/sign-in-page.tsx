// Signing in: over the page that one wants to see, which stays in the address.

import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { asRefusal, read } from "../api/client.ts";
import { Refusal } from "../api/refusal.ts";
import { Problem } from "../parts/problem.tsx";
import { frameText, signInText } from "../text/frame.ts";
import { signIn, wasCutOff } from "./me.ts";

export function SignInPage() {
  const [isUnclaimed, setUnclaimed] = useState(false);
  const [problem, setProblem] = useState<Refusal | null>(null);
  const [isBusy, setBusy] = useState(false);
  const email = useRef<HTMLInputElement>(null);
  // Not once it is painted: whoever is quick is at the password by then.
  useLayoutEffect(() => email.current?.focus(), []);
  useEffect(() => {
    document.title = `${signInText.title} · ${frameText.name}`;
    read("/api/auth/setup")
      .load()
      .then(({ data }) => setUnclaimed(data.needed))
      .catch((cause: unknown) => setProblem(asRefusal(cause)));
  }, []);
  const submit = async (event: SubmitEvent) => {
    event.preventDefault();
    const form = new FormData(event.currentTarget as HTMLFormElement);
    setBusy(true);
    setProblem(null);
    try {
      await signIn(String(form.get("email")), String(form.get("password")));
    } catch (cause) {
      const refusal = asRefusal(cause);
      setProblem(
        refusal.code === "no_cookie"
          ? new Refusal({ status: 401, code: refusal.code, message: signInText.noCookie, requestId: null })
          : refusal,
      );
      setBusy(false);
    }
  };
  return (
    <main class="sign-in" id="content">
      <h1>{frameText.name}</h1>
      {isUnclaimed ? (
        <section>
          <h2>{signInText.unclaimedTitle}</h2>
          <p>{signInText.unclaimed}</p>
        </section>
      ) : (
        <form method="post" onSubmit={(event) => void submit(event)}>
          {wasCutOff.value && <p class="note">{signInText.cutOff}</p>}
          <label>
            {signInText.email}
            <input ref={email} name="email" type="email" autoComplete="username" required maxLength={254} />
          </label>
          <label>
            {signInText.password}
            <input name="password" type="password" autoComplete="current-password" required maxLength={1024} />
          </label>
          {problem !== null && <Problem problem={problem} />}
          <button type="submit" class="primary" disabled={isBusy}>
            {isBusy ? signInText.signingIn : signInText.signIn}
          </button>
        </form>
      )}
    </main>
  );
}
