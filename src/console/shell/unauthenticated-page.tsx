// Entry page for unauthenticated users: sign-in, or claiming an unclaimed appliance. The claim form loads on demand.

import type { ComponentType } from "preact";
import { useEffect, useState } from "preact/hooks";
import { asRefusal, read } from "../api/client.ts";
import type { Refusal } from "../api/refusal.ts";
import { Problem } from "../components/problem.tsx";
import { Waiting } from "../components/waiting.tsx";
import { setupToken } from "../session/setup-token.ts";
import { SignInPage } from "./sign-in-page.tsx";

type ClaimPage = ComponentType<{ onAlreadyClaimed: () => void }>;

export function UnauthenticatedPage() {
  const token = setupToken.value;
  const [isUnclaimed, setUnclaimed] = useState<boolean | null>(null);
  const [claimPage, setClaimPage] = useState<{ readonly Claim: ClaimPage } | null>(null);
  const [problem, setProblem] = useState<Refusal | null>(null);
  const [attempt, setAttempt] = useState(0);
  const retry = () => setAttempt((last) => last + 1);
  useEffect(() => {
    setProblem(null);
    read("/api/auth/setup")
      .load()
      .then(async ({ data }) => {
        if (data.needed) {
          const { ClaimPage } = await import("../first-run/claim-page.tsx");
          setClaimPage({ Claim: ClaimPage });
        }
        setUnclaimed(data.needed);
      })
      .catch((cause: unknown) => setProblem(asRefusal(cause)));
  }, [attempt, token]);
  if (isUnclaimed === true && claimPage !== null) return <claimPage.Claim onAlreadyClaimed={retry} />;
  // With a set-up link, the sign-in form is not shown first.
  if (isUnclaimed === null && token !== null)
    return problem === null ? <Waiting /> : <Problem problem={problem} retry={retry} />;
  return (
    <SignInPage
      note={
        isUnclaimed === false && token !== null
          ? "This appliance is already claimed: this link has expired. Sign in, or ask its owner for an account."
          : null
      }
      initialProblem={problem}
    />
  );
}
