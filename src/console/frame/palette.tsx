// Command palette: one box for pages, actions and records, by keyboard alone (WAI-ARIA combobox with a listbox).

import { useEffect, useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import { useAnswer } from "../api/answer.ts";
import { type DataOf, read } from "../api/client.ts";
import { instantBefore, pageOfHit } from "../find/hits.ts";
import { kindWords } from "../kinds/kinds.ts";
import { isolated } from "../text/isolated.ts";
import { ownValue } from "../text/own-value.ts";
import { atQuery } from "../time/at.ts";
import { go, hrefOf, pathname } from "../url/location.ts";
import { entriesFor, instantEntries, type PaletteEntry, paletteEntries } from "./palette-entries.ts";

/** Records found while typing. */
const RECORDS_MAX = 8;
/** Entries shown; further typing narrows them. */
const SHOWN_MAX = 40;
/** Shorter terms match too much to search on every keystroke. */
const SEARCH_MIN = 2;

/** Interfaces of different devices share names. */
function titleOf({ name, id, host }: DataOf<"/api/v1/search">[number]): string {
  const called = name || id;
  return host === null ? called : `${isolated(called)} on ${isolated(host.name)}`;
}

interface PaletteProps {
  /** @param hasLeft whether the choice led to another page, which takes the focus */
  onClose(hasLeft: boolean): void;
}

export function Palette({ onClose }: PaletteProps) {
  const hasLeft = useRef(false);
  const dialog = useRef<HTMLDialogElement>(null);
  const [typed, setTyped] = useState("");
  const [active, setActive] = useState(0);
  // Captured when the palette opens.
  const entries = useMemo(paletteEntries, []);
  useLayoutEffect(() => dialog.current?.showModal(), []);
  const query = typed.trim();
  const asked =
    query.length < SEARCH_MIN
      ? null
      : read("/api/v1/search", { query: { q: query, limit: RECORDS_MAX, ...atQuery() } });
  const { data: hits, isEarlier } = useAnswer(asked);
  const records = (query.length < SEARCH_MIN || isEarlier ? [] : (hits ?? [])).flatMap((hit): PaletteEntry[] => {
    const page = pageOfHit(hit);
    if (page === null) return [];
    const [word] = kindWords(hit.type);
    const at = hit.deleted_at === null ? {} : { at: instantBefore(hit.deleted_at) };
    const gone = hit.deleted_at === null ? "" : ", gone";
    return [{ group: `${word}${gone}`, title: titleOf(hit), run: () => go(withAt(page, at)) }];
  });
  const shown = [...entriesFor(entries, typed), ...instantEntries(typed), ...records].slice(0, SHOWN_MAX);
  const chosen = Math.min(active, shown.length - 1);
  useEffect(() => {
    dialog.current?.querySelector('[aria-selected="true"]')?.scrollIntoView({ block: "nearest" });
  }, [chosen]);
  const run = (entry: PaletteEntry | undefined) => {
    if (entry === undefined) return;
    dialog.current?.close();
    const before = pathname.peek();
    entry.run();
    hasLeft.current = pathname.peek() !== before;
    // The browser has restored the focus, possibly to an element of the frame.
    if (hasLeft.current && document.activeElement instanceof HTMLElement) document.activeElement.blur();
  };
  const press = (event: KeyboardEvent) => {
    const steps: Readonly<Record<string, number>> = { ArrowDown: 1, ArrowUp: -1 };
    const step = ownValue(steps, event.key);
    if (step !== undefined && shown.length > 0) setActive((chosen + step + shown.length) % shown.length);
    else if (event.key === "Enter") run(shown[chosen]);
    else return;
    event.preventDefault();
  };
  return (
    <dialog ref={dialog} class="palette" aria-label="Command palette" onClose={() => onClose(hasLeft.current)}>
      <input
        type="text"
        role="combobox"
        aria-label="A page, an action or a record"
        aria-expanded={true}
        aria-controls="palette-list"
        aria-activedescendant={shown.length === 0 ? undefined : `palette-${chosen}`}
        aria-autocomplete="list"
        autoComplete="off"
        spellcheck={false}
        placeholder="A page, an action or a record"
        value={typed}
        onInput={(event) => {
          setTyped(event.currentTarget.value);
          setActive(0);
        }}
        onKeyDown={press}
      />
      {shown.length === 0 && <p role="status">Nothing matches.</p>}
      <div id="palette-list" role="listbox" aria-label="Command palette">
        {shown.map((entry, at) => (
          // biome-ignore lint/a11y/useKeyWithClickEvents: the input above handles the keys
          <div
            key={`${entry.group} ${entry.title} ${at}`}
            id={`palette-${at}`}
            role="option"
            tabIndex={-1}
            aria-selected={at === chosen}
            onClick={() => run(entry)}
          >
            <bdi>{entry.title}</bdi> <span class="aside">{entry.group}</span>
          </div>
        ))}
      </div>
    </dialog>
  );
}

/** Console page at its own instant, or at that of the address. */
function withAt(page: string, at: { readonly at?: string }): string {
  const [path = "", search = ""] = page.split("?", 2);
  return hrefOf(path, { ...Object.fromEntries(new URLSearchParams(search)), ...at });
}
