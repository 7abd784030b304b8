// Tabs of a page. The current one is in the URL, so that it can be linked and returned to.

import type { ComponentChildren } from "preact";
import { useLayoutEffect, useRef } from "preact/hooks";
import { groupedDigits } from "../text/digits.ts";
import { hrefHere } from "../url/location.ts";

interface TabsProps {
  readonly tabs: readonly {
    readonly key: string;
    readonly title: string;
    /** Number of items; omitted or null if unknown. */
    readonly count?: number | null;
  }[];
  readonly shown: string;
  /** Default tab, without a URL parameter. */
  readonly first: string;
}

/** URL parameters of a single tab, such as the position in its table. */
const OWN = { find: null, page: null, ports_find: null, ports_page: null, port: null, block: null } as const;

interface TabRowProps {
  /** For screen readers. */
  readonly label: string;
  /** Key of the current tab. */
  readonly shown: string;
  /** Links; the current one has `aria-current`. */
  readonly children: ComponentChildren;
}

/** Links to the tabs. */
export function TabRow({ label, shown, children }: TabRowProps) {
  const row = useRef<HTMLElement>(null);
  // Scroll the current tab into view if they do not fit.
  useLayoutEffect(() => {
    const current = row.current?.querySelector<HTMLElement>("[aria-current]");
    if (row.current === null || current === null || current === undefined) return;
    row.current.scrollLeft = current.offsetLeft - (row.current.clientWidth - current.offsetWidth) / 2;
  }, [shown]);
  return (
    <nav ref={row} class="tabs" aria-label={label}>
      {children}
    </nav>
  );
}

export function Tabs({ tabs, shown, first }: TabsProps) {
  return (
    <TabRow label={tabs.map(({ title }) => title).join(", ")} shown={shown}>
      {tabs.map(({ key, title, count = null }) => (
        <a
          key={key}
          href={hrefHere({ ...OWN, tab: key === first ? null : key })}
          aria-current={key === shown ? "true" : undefined}
        >
          {title}
          {count !== null && <span class="tab-count"> {groupedDigits(count)}</span>}
        </a>
      ))}
    </TabRow>
  );
}
