// Command palette: one keyboard-driven box for pages, actions and records (WAI-ARIA combobox with a listbox).

import { useEffect, useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import { type DataOf, read } from "../api/client.ts";
import { useResponse } from "../api/response.ts";
import { pageOfHit } from "../find/hits.ts";
import { kindWords } from "../kinds/kinds.ts";
import { isolated } from "../text/isolated.ts";
import { ownValue } from "../text/own-value.ts";
import { atQuery } from "../time/at.ts";
import { instantBefore } from "../time/instant.ts";
import { go, hrefOf, pathname } from "../url/location.ts";
import { entriesFor, instantEntries, type PaletteEntry, paletteEntries } from "./palette-entries.ts";

/** Maximum number of records found while typing. */
const RECORDS_MAX = 8;
/** Maximum number of entries shown; typing more narrows them down. */
const SHOWN_MAX = 40;
/** Shorter terms match too much to search on every keystroke. */
const SEARCH_MIN = 2;

/** Title of a search result, with its host: interfaces of different devices share names. */
function titleOf({ name, id, host }: DataOf<"/api/v1/search">[number]): string {
  const label = name || id;
  return host === null ? label : `${isolated(label)} on ${isolated(host.name)}`;
}

/** @param onClose called with whether the choice opened another page, which takes the focus */
export function Palette({ onClose }: { onClose(hasNavigated: boolean): void }) {
  const hasNavigated = useRef(false);
  const dialog = useRef<HTMLDialogElement>(null);
  const [typed, setTyped] = useState("");
  const [active, setActive] = useState(0);
  // Captured when the palette opens.
  const entries = useMemo(paletteEntries, []);
  useLayoutEffect(() => dialog.current?.showModal(), []);
  const query = typed.trim();
  const request =
    query.length < SEARCH_MIN
      ? null
      : read("/api/v1/search", { query: { q: query, limit: RECORDS_MAX, ...atQuery() } });
  const { data: hits, isEarlier } = useResponse(request);
  const records = (query.length < SEARCH_MIN || isEarlier ? [] : (hits ?? [])).flatMap((hit): PaletteEntry[] => {
    const page = pageOfHit(hit);
    if (page === null) return [];
    const [word] = kindWords(hit.type);
    const parameters = hit.deleted_at === null ? {} : { at: instantBefore(hit.deleted_at) };
    const suffix = hit.deleted_at === null ? "" : ", deleted";
    return [{ group: `${word}${suffix}`, title: titleOf(hit), run: () => go(withAt(page, parameters)) }];
  });
  const shown = [...entriesFor(entries, typed), ...instantEntries(typed), ...records].slice(0, SHOWN_MAX);
  const activeIndex = Math.min(active, shown.length - 1);
  useEffect(() => {
    dialog.current?.querySelector('[aria-selected="true"]')?.scrollIntoView({ block: "nearest" });
  }, [activeIndex]);
  const run = (entry: PaletteEntry | undefined) => {
    if (entry === undefined) return;
    dialog.current?.close();
    const pathBefore = pathname.peek();
    entry.run();
    hasNavigated.current = pathname.peek() !== pathBefore;
    // The browser has restored the focus, possibly to an element of the frame.
    if (hasNavigated.current && document.activeElement instanceof HTMLElement) document.activeElement.blur();
  };
  const press = (event: KeyboardEvent) => {
    const steps: Readonly<Record<string, number>> = { ArrowDown: 1, ArrowUp: -1 };
    const step = ownValue(steps, event.key);
    if (step !== undefined && shown.length > 0) setActive((activeIndex + step + shown.length) % shown.length);
    else if (event.key === "Enter") run(shown[activeIndex]);
    else return;
    event.preventDefault();
  };
  return (
    <dialog ref={dialog} class="palette" aria-label="Command palette" onClose={() => onClose(hasNavigated.current)}>
      <input
        type="text"
        role="combobox"
        aria-label="A page, an action or a record"
        aria-expanded={true}
        aria-controls="palette-list"
        aria-activedescendant={shown.length === 0 ? undefined : `palette-${activeIndex}`}
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
      {shown.length === 0 && <p role="status">No matches.</p>}
      <div id="palette-list" role="listbox" aria-label="Command palette">
        {shown.map((entry, index) => (
          // biome-ignore lint/a11y/useKeyWithClickEvents: the input above handles the keys
          <div
            key={`${entry.group} ${entry.title} ${index}`}
            id={`palette-${index}`}
            role="option"
            tabIndex={-1}
            aria-selected={index === activeIndex}
            onClick={() => run(entry)}
          >
            <bdi>{entry.title}</bdi> <span class="aside">{entry.group}</span>
          </div>
        ))}
      </div>
    </dialog>
  );
}

/** URL of a console page at its own timestamp, or else at that in the current URL. */
function withAt(page: string, parameters: { readonly at?: string }): string {
  const [path = "", search = ""] = page.split("?", 2);
  return hrefOf(path, { ...Object.fromEntries(new URLSearchParams(search)), ...parameters });
}
