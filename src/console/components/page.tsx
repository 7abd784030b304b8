// Page with its header: title, actions and exports. The title takes the focus on navigation.

import type { ComponentChildren } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { ActionButton } from "./buttons.tsx";
import { useCopying } from "./copy.ts";
import { curlOf } from "./curl.ts";

interface PageProps {
  readonly title: string;
  /** Subject of the page, next to the title. */
  readonly about?: ComponentChildren;
  /** Number of rows, next to the title of a list; null until known. */
  readonly count?: string | null;
  /** API URLs of the page, for "Copy as curl"; omitted if API keys are not permitted to read them. */
  readonly reads?: readonly string[];
  /** URL of the CSV export; null if there is none. */
  readonly csv?: string | null;
  /** Actions next to the exports. */
  readonly actions?: ComponentChildren;
  /** Less frequent actions; on narrow screens, a list moves them into the menu with the exports. */
  readonly moreActions?: ComponentChildren;
  readonly children: ComponentChildren;
}

export function Page({ title, about, count, reads = [], csv = null, actions, moreActions, children }: PageProps) {
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => {
    document.title = `${title} · netledger`;
  }, [title]);
  useEffect(() => {
    // Does not take the focus from a field.
    if (document.activeElement === null || document.activeElement === document.body)
      heading.current?.focus({ preventScroll: true });
  }, []);
  const moreContent = (
    <>
      {moreActions}
      {csv !== null && (
        <a class="button" href={csv} download="">
          <span class="where-wide">Export </span>
          CSV
        </a>
      )}
      {reads.length > 0 && <CopyCurl reads={reads} />}
    </>
  );
  return (
    <>
      <header class="page-head">
        <h1 ref={heading} tabIndex={-1} title={title}>
          <bdi>{title}</bdi>
        </h1>
        {about !== undefined && <div class="page-about">{about}</div>}
        {count !== undefined && (
          <p class="aside list-count" role="status">
            {count !== null && <Count text={count} />}
          </p>
        )}
        <div class="page-actions">
          {actions}
          {count === undefined ? moreContent : <More>{moreContent}</More>}
        </div>
      </header>
      {children}
    </>
  );
}

/** `142 hosts`; only the number on narrow screens, where the title gives the unit. */
function Count({ text }: { readonly text: string }) {
  const [number = "", ...words] = text.split(" ");
  return (
    <>
      {number}
      <span class="where-wide"> {words.join(" ")}</span>
    </>
  );
}

/** Inline actions; on narrow screens a menu, since they would take a whole line. */
function More({ children }: { readonly children: ComponentChildren }) {
  const menu = useRef<HTMLDivElement>(null);
  // Selecting an action closes the menu, except copying, whose confirmation must stay readable.
  useEffect(() => {
    const close = (event: Event) => {
      if ((event.target as Element).closest("[data-stays]") === null && menu.current?.matches(":popover-open") === true)
        menu.current.hidePopover();
    };
    menu.current?.addEventListener("click", close);
    return () => menu.current?.removeEventListener("click", close);
  }, []);
  return (
    <>
      <ActionButton label="More" class="more-button" popoverTarget="more" />
      <div ref={menu} id="more" popover="auto" class="menu more-menu">
        {children}
      </div>
    </>
  );
}

function CopyCurl({ reads }: { readonly reads: readonly string[] }) {
  const [isCopied, copy] = useCopying();
  const commands = reads.map((url) => `${curlOf(url, window.location.origin)}\n`);
  return (
    <button type="button" data-stays onClick={() => void copy(commands.join(""))}>
      {isCopied ? (
        "Copied"
      ) : (
        <>
          <span class="where-wide">Copy as </span>
          curl
        </>
      )}
    </button>
  );
}
