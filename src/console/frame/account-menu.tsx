// Account menu: user, time zone, and sign-out.

import { useState } from "preact/hooks";
import { asRefusal } from "../api/client.ts";
import type { Refusal } from "../api/refusal.ts";
import { Problem } from "../parts/problem.tsx";
import { ZoneChoice } from "../parts/zone-choice.tsx";
import { me, signOut } from "../session/me.ts";
import { hrefOf } from "../url/location.ts";
import { showKeys } from "./key-list.tsx";

export function AccountMenu() {
  const [problem, setProblem] = useState<Refusal | null>(null);
  const who = me.value;
  if (who === null || who === undefined) return null;
  const leave = () => {
    setProblem(null);
    signOut().catch((cause: unknown) => setProblem(asRefusal(cause)));
  };
  return (
    <>
      <button type="button" popoverTarget="account" class="account-button" aria-label={`Account: ${who.name}`}>
        {who.name}
      </button>
      <div id="account" popover="auto" class="menu">
        <p>
          {who.name}
          <br />
          <span class="aside">
            {who.email} · {who.effective_role} · {who.organization.name}
          </span>
        </p>
        <ZoneChoice />
        <a href={hrefOf("/settings")} onClick={({ currentTarget }) => hideMenu(currentTarget)}>
          Account: password, sessions
        </a>
        <button type="button" onClick={showKeys} popoverTarget="account" popoverTargetAction="hide">
          Keys <kbd>?</kbd>
        </button>
        <button type="button" onClick={leave}>
          Sign out
        </button>
        {problem !== null && <Problem problem={problem} />}
      </div>
    </>
  );
}

function hideMenu(inside: HTMLElement): void {
  inside.closest<HTMLElement>("[popover]")?.hidePopover();
}
