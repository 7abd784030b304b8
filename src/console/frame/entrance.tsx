// Entrance for unauthenticated users: sign-in, or claiming an unowned appliance. The claim form loads on demand.

import type { ComponentType } from "preact";
import { useEffect, useState } from "preact/hooks";
import { asRefusal, read } from "../api/client.ts";
import type { Refusal } from "../api/refusal.ts";
import { Problem } from "../parts/problem.tsx";
import { Waiting } from "../parts/waiting.tsx";
import { setupToken } from "../session/setup-token.ts";
import { SignInPage } from "./sign-in-page.tsx";

type ClaimPage = ComponentType<{ onClaimedBefore: () => void }>;

export function Entrance() {
  const token = setupToken.value;
  const [isUnclaimed, setUnclaimed] = useState<boolean | null>(null);
  const [claimPage, setClaimPage] = useState<{ readonly Claim: ClaimPage } | null>(null);
  const [problem, setProblem] = useState<Refusal | null>(null);
  const [turn, setTurn] = useState(0);
  const again = () => setTurn((last) => last + 1);
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
  }, [turn, token]);
  if (isUnclaimed === true && claimPage !== null) return <claimPage.Claim onClaimedBefore={again} />;
  // A set-up link does not ask for a password first.
  if (isUnclaimed === null && token !== null)
    return problem === null ? <Waiting /> : <Problem problem={problem} again={again} />;
  return (
    <SignInPage
      note={
        isUnclaimed === false && token !== null
          ? "This appliance is already claimed: this link has expired. Sign in, or ask its owner for an account."
          : null
      }
      problemBefore={problem}
    />
  );
}
