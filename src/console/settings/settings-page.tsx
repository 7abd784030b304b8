// Base of settings pages, with notes for missing permission and while the page shows the past.

import type { ComponentChildren } from "preact";
import type { operations } from "#api";
import { Page } from "../components/page.tsx";
import { may } from "../session/me.ts";
import { isPast } from "../time/at.ts";

interface SettingsPageProps {
  readonly title: string;
  readonly operation: keyof operations;
  /** Message for users without permission. */
  readonly forbidden?: string;
  readonly reads?: readonly string[];
  readonly actions?: ComponentChildren;
  readonly children: ComponentChildren;
}

export function SettingsPage({
  title,
  operation,
  forbidden = "Your role does not allow this page.",
  reads = [],
  actions,
  children,
}: SettingsPageProps) {
  const isPermitted = may(operation);
  return (
    <Page title={title} reads={isPermitted ? reads : []} actions={isPermitted ? actions : undefined}>
      {isPast.value && (
        <p class="note settings-note">Settings always show the current state. To change them, go back to now.</p>
      )}
      {isPermitted ? children : <p class="prose">{forbidden}</p>}
    </Page>
  );
}
