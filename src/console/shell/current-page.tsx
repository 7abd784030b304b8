// Page for the current URL. The previous page stays until the next one is loaded; errors are contained in the page.

import { Component, type ComponentChildren, type ComponentType } from "preact";
import { useEffect, useState } from "preact/hooks";
import { ActionButton } from "../components/buttons.tsx";
import { Page } from "../components/page.tsx";
import { Waiting } from "../components/waiting.tsx";
import { restoreSlot } from "../editing/restore-slot.tsx";
import { RecordChangeSlot } from "../history/record-change-slot.ts";
import { SettingsFrame } from "../settings/settings-frame.tsx";
import { frameText } from "../text/frame.ts";
import { isSubjectKnown } from "../time/subject.ts";
import { hrefOf, pathname } from "../url/location.ts";
import { isPageWithin, loadPage, type PageProps, pageOf, sectionOf } from "./pages.tsx";

interface LoadedPage {
  readonly page: ComponentType<PageProps>;
  readonly params: Readonly<Record<string, string>>;
  /** Distinguishes records on the same page, so that one is never shown for another. */
  readonly key: string;
}

export function CurrentPage() {
  const path = pathname.value;
  const [shown, setShown] = useState<LoadedPage | null>(null);
  const [failed, setFailed] = useState<string | null>(null);
  const [attempt, setAttempt] = useState(0);
  // `attempt` triggers a retry.
  useEffect(() => {
    const match = pageOf(path);
    setFailed(null);
    if (match === null) return;
    let isCurrent = true;
    const show = (page: ComponentType<PageProps>) => {
      if (isCurrent) setShown({ page, params: match.params, key: path });
    };
    const page = loadPage(match.path);
    if (page instanceof Promise) page.then(show, () => isCurrent && setFailed(path));
    else show(page);
    return () => {
      isCurrent = false;
    };
  }, [path, attempt]);
  const isSettled = shown !== null || failed !== null || pageOf(path) === null;
  useEffect(() => {
    if (isSettled) isSubjectKnown.value = true;
  }, [isSettled]);
  if (pageOf(path) === null)
    return (
      <Page title="Page not found">
        <p>No page at {path}.</p>
        <p>
          <a href={hrefOf("/")}>Go to the start</a>
        </p>
      </Page>
    );
  if (failed === path)
    return (
      <Page title="This page could not be loaded.">
        {/* After an update of the appliance, script files have other names. */}
        <p>{frameText.newVersion}</p>
        <p class="aside">
          <ActionButton label="Reload" class="primary" onClick={() => window.location.reload()} />
          <ActionButton label="Try again" onClick={() => setAttempt((last) => last + 1)} />
        </p>
      </Page>
    );
  const content = shown === null ? <Waiting /> : <Content current={shown} />;
  // The settings frame persists between pages.
  const section = sectionOf(shown?.key ?? path);
  return isPageWithin("/settings", section) ? <SettingsFrame section={section}>{content}</SettingsFrame> : content;
}

function Content({ current: { page: LoadedPage, params, key } }: { readonly current: LoadedPage }) {
  return (
    <ErrorBoundary key={key}>
      <RecordChangeSlot.Provider value={restoreSlot}>
        <LoadedPage params={params} />
      </RecordChangeSlot.Provider>
    </ErrorBoundary>
  );
}

/** Error boundary around a page: shows the error and reports it to the browser console. */
class ErrorBoundary extends Component<{ readonly children: ComponentChildren }, { readonly fault: unknown }> {
  override state: { readonly fault: unknown } = { fault: null };

  static override getDerivedStateFromError(fault: unknown): { readonly fault: unknown } {
    return { fault };
  }

  override componentDidCatch(fault: unknown): void {
    reportError(fault);
  }

  override render() {
    const { fault } = this.state;
    if (fault === null) return this.props.children;
    return (
      <Page title="This page could not be loaded.">
        <p>Something went wrong on this page.</p>
        <pre class="fault">{fault instanceof Error ? fault.message : String(fault)}</pre>
        <p class="aside">
          <ActionButton label="Try again" class="primary" onClick={() => this.setState({ fault: null })} />
        </p>
      </Page>
    );
  }
}
