// The parts of a page, one shown at a time: which is in the address, so that it can be sent and gone back from.

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

export function Tabs({ tabs, shown, first }: TabsProps) {
  return (
    <nav class="tabs" aria-label={tabs.map(({ title }) => title).join(", ")}>
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
    </nav>
  );
}
