// Account menu: user, time zone and sign-out.

import { useState } from "preact/hooks";
import { asRefusal } from "../api/client.ts";
import type { Refusal } from "../api/refusal.ts";
import { ActionButton } from "../components/buttons.tsx";
import { Problem } from "../components/problem.tsx";
import { ZoneChoice } from "../components/zone-choice.tsx";
import { me, signOut } from "../session/me.ts";
import { hrefOf } from "../url/location.ts";
import { showKeys } from "./key-list.tsx";

export function AccountMenu() {
  const [problem, setProblem] = useState<Refusal | null>(null);
  const user = me.value;
  if (user === null || user === undefined) return null;
  const signOutNow = () => {
    setProblem(null);
    signOut().catch((cause: unknown) => setProblem(asRefusal(cause)));
  };
  return (
    <>
      <button type="button" popoverTarget="account" class="account-button" aria-label={`Account: ${user.name}`}>
        {user.name}
      </button>
      <div id="account" popover="auto" class="menu">
        <p>
          {user.name}
          <br />
          <span class="aside">
            {user.email} · {user.effective_role} · {user.organization.name}
          </span>
        </p>
        <ZoneChoice />
        <a href={hrefOf("/settings")} onClick={({ currentTarget }) => hideMenu(currentTarget)}>
          Account settings
        </a>
        <button type="button" onClick={showKeys} popoverTarget="account" popoverTargetAction="hide">
          Keyboard shortcuts <kbd>?</kbd>
        </button>
        <ActionButton label="Sign out" onClick={signOutNow} />
        {problem !== null && <Problem problem={problem} />}
      </div>
    </>
  );
}

function hideMenu(element: HTMLElement): void {
  element.closest<HTMLElement>("[popover]")?.hidePopover();
}
