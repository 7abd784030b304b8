// What every page begins with: its name, which takes the focus when one comes to it, and what can be taken along.

import type { ComponentChildren } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { frameText, partText } from "../text/frame.ts";
import { copyText } from "./copy.ts";
import { curlOf } from "./curl.ts";

interface PageProps {
  readonly title: string;
  /** Beside the title: whose page it is. */
  readonly about?: ComponentChildren;
  /** Beside the title of a list: how many there are; null until that is known. */
  readonly count?: string | null;
  /** The addresses of the API that this page shows, for curl; left out where a key may not ask them. */
  readonly reads?: readonly string[];
  /** The address of what is shown as CSV; null where there is none. */
  readonly csv?: string | null;
  /** Beside what can be taken along. */
  readonly actions?: ComponentChildren;
  /** What is done less often: on a list it waits behind a button where there is little room, as what is taken along. */
  readonly moreActions?: ComponentChildren;
  readonly children: ComponentChildren;
}

export function Page({ title, about, count, reads = [], csv = null, actions, moreActions, children }: PageProps) {
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => {
    document.title = `${title} · ${frameText.name}`;
  }, [title]);
  useEffect(() => {
    // Whoever is typing stays where they are.
    if (document.activeElement === null || document.activeElement === document.body)
      heading.current?.focus({ preventScroll: true });
  }, []);
  const taken = (
    <>
      {moreActions}
      {csv !== null && (
        <a class="button" href={csv} download="">
          <span class="where-wide">{partText.exportAs} </span>
          {partText.csv}
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
          {count === undefined ? taken : <More>{taken}</More>}
        </div>
      </header>
      {children}
    </>
  );
}

/** `142 hosts`; where there is little room the number alone: one knows of what. */
function Count({ text }: { readonly text: string }) {
  const [number = "", ...words] = text.split(" ");
  return (
    <>
      {number}
      <span class="where-wide"> {words.join(" ")}</span>
    </>
  );
}

/** Side by side, and behind a button where they would take a line from what one reads. */
function More({ children }: { readonly children: ComponentChildren }) {
  const menu = useRef<HTMLDivElement>(null);
  // What is chosen takes its place; "Copied" is still to be read.
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
      <button type="button" class="more-button" popoverTarget="more">
        {partText.moreActions}
      </button>
      <div ref={menu} id="more" popover="auto" class="menu more-menu">
        {children}
      </div>
    </>
  );
}

const SHOWN_MS = 1_500;

function CopyCurl({ reads }: { readonly reads: readonly string[] }) {
  const [isCopied, setCopied] = useState(false);
  const copy = async () => {
    const commands = reads.map((url) => curlOf(url, window.location.origin));
    if (!(await copyText(`${commands.join("\n")}\n`))) return;
    setCopied(true);
    setTimeout(setCopied, SHOWN_MS, false);
  };
  return (
    <button type="button" data-stays onClick={() => void copy()}>
      {isCopied ? (
        partText.copied
      ) : (
        <>
          <span class="where-wide">{partText.copyAs} </span>
          {partText.curl}
        </>
      )}
    </button>
  );
}
