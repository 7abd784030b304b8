// Page of the address. The previous page stays until the next one is loaded; errors are contained in the page.

import { Component, type ComponentChildren, type ComponentType } from "preact";
import { useEffect, useState } from "preact/hooks";
import { BesideChange } from "../changes/beside-change.ts";
import { backBeside } from "../editing/back-place.tsx";
import { Page } from "../parts/page.tsx";
import { Waiting } from "../parts/waiting.tsx";
import { SettingsPlace } from "../settings/settings-place.tsx";
import { frameText } from "../text/frame.ts";
import { hrefOf, pathname } from "../url/location.ts";
import { belongingOf, isBelow, loadPage, type PageProps, pageOf } from "./pages.tsx";

interface Shown {
  readonly page: ComponentType<PageProps>;
  readonly params: Readonly<Record<string, string>>;
  /** Distinguishes records on the same page, so that one is never shown for another. */
  readonly key: string;
}

export function ShownPage() {
  const path = pathname.value;
  const [shown, setShown] = useState<Shown | null>(null);
  const [failed, setFailed] = useState<string | null>(null);
  const [turn, setTurn] = useState(0);
  // `turn` triggers a retry
  useEffect(() => {
    const match = pageOf(path);
    setFailed(null);
    if (match === null) return;
    let isWanted = true;
    const show = (page: ComponentType<PageProps>) => {
      if (isWanted) setShown({ page, params: match.params, key: path });
    };
    const page = loadPage(match.path);
    if (page instanceof Promise) page.then(show, () => isWanted && setFailed(path));
    else show(page);
    return () => {
      isWanted = false;
    };
  }, [path, turn]);
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
        {/* After an update, its files have other names. */}
        <p>{frameText.newVersion}</p>
        <p class="aside">
          <button type="button" class="primary" onClick={() => window.location.reload()}>
            Reload
          </button>
          <button type="button" onClick={() => setTurn((last) => last + 1)}>
            Try again
          </button>
        </p>
      </Page>
    );
  const content = shown === null ? <Waiting /> : <Content of={shown} />;
  // Surrounding content persists between pages.
  const place = belongingOf(shown?.key ?? path);
  return isBelow("/settings", place) ? <SettingsPlace place={place}>{content}</SettingsPlace> : content;
}

function Content({ of: { page: Shown, params, key } }: { readonly of: Shown }) {
  return (
    <Fault key={key}>
      <BesideChange.Provider value={backBeside}>
        <Shown params={params} />
      </BesideChange.Provider>
    </Fault>
  );
}

/** Error boundary of a page: shows the error, and reports it to the browser console. */
class Fault extends Component<{ readonly children: ComponentChildren }, { readonly fault: unknown }> {
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
          <button type="button" class="primary" onClick={() => this.setState({ fault: null })}>
            Try again
          </button>
        </p>
      </Page>
    );
  }
}
