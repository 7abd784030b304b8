// The parts of a page, one shown at a time: which is in the address, so that it can be sent and gone back from.

import type { ComponentChildren } from "preact";
import { useLayoutEffect, useRef } from "preact/hooks";
import { partText } from "../text/frame.ts";
import { hrefHere } from "../url/location.ts";

interface TabsProps {
  readonly tabs: readonly {
    readonly key: string;
    readonly title: string;
    /** How many are in it; left out or null where nobody knows. */
    readonly count?: number | null;
  }[];
  readonly shown: string;
  /** The one that the address does not name. */
  readonly first: string;
}

/** What belongs to one part, and has no meaning in another: where one was in its table. */
const OWN = { find: null, page: null, ports_find: null, ports_page: null, port: null, block: null } as const;

interface TabRowProps {
  /** For those who hear it. */
  readonly label: string;
  /** Another one is shown where this is another. */
  readonly shown: string;
  /** Links; the one that is shown is `aria-current`. */
  readonly children: ComponentChildren;
}

/** Links that show one of several parts. */
export function TabRow({ label, shown, children }: TabRowProps) {
  const row = useRef<HTMLElement>(null);
  // Where they do not fit, the one that is shown is not among those that have to be scrolled to.
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
          {count !== null && <span class="tab-count"> {partText.number(count)}</span>}
        </a>
      ))}
    </TabRow>
  );
}
