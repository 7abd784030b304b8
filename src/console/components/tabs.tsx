// Page tabs. The URL holds the current one, so that it can be linked and returned to.

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

/** URL parameters that belong to a single tab, such as the position in its table. */
const TAB_PARAMETERS = { find: null, page: null, ports_find: null, ports_page: null, port: null, block: null } as const;

type TabRowProps = Readonly<{ label: string; shown: string; children: ComponentChildren }>;

/** Row of links to tabs. @param shown key of the current tab @param label label for screen readers */
export function TabRow({ label, shown, children }: TabRowProps) {
  const row = useRef<HTMLElement>(null);
  // Scrolls the current tab into view if the tabs do not fit.
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
          href={hrefHere({ ...TAB_PARAMETERS, tab: key === first ? null : key })}
          aria-current={key === shown ? "true" : undefined}
        >
          {title}
          {count !== null && <span class="tab-count"> {groupedDigits(count)}</span>}
        </a>
      ))}
    </TabRow>
  );
}
