// Rows of a list. Renders only visible rows, at a fixed height, so that lists of any length scroll alike. Screen
// readers get a table with row numbers.

import { useEffect, useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import { EDIT } from "../editing/edit-place.tsx";
import { fieldTitle } from "../names/custom-fields.ts";
import { useKeys } from "../parts/keys.ts";
import { listText } from "../text/lists.ts";
import { hrefHere, keepScrolled, keptScrolled, parameter } from "../url/location.ts";
import type { AnyList, Column } from "./list.ts";
import { hrefOrdered, type ListState } from "./list-state.ts";
import type { LongList } from "./long-list.ts";
import { paceAfter, rowsToDraw, type ScrollPace, scrollTo } from "./rows-window.ts";

/** In pixels; `--row` at the default text size. */
const ROW_HEIGHT = 28;

interface ListTableProps {
  readonly list: AnyList;
  readonly state: ListState;
  readonly rows: LongList<unknown>;
  readonly count: number;
  /** Ids of selected rows. */
  readonly chosen: ReadonlySet<string>;
  readonly choose: (id: string) => void;
  /** Adds rows to the selection. */
  readonly chooseAll: (ids: readonly string[]) => void;
  /** Opens the filter of a column. */
  readonly filterBy: (key: string) => void;
  /** Starts editing a record or one of its fields; null if read-only. */
  readonly edit: ((id: string, field?: string) => void) | null;
}

export function ListTable({ list, state, rows, count, chosen, choose, chooseAll, filterBy, edit }: ListTableProps) {
  const box = useRef<HTMLElement>(null);
  const [seen, setSeen] = useState({ scrolled: 0, height: 600 });
  const [active, setActive] = useState<number | null>(null);
  const pace = useRef<ScrollPace>({ row: 0, ms: 0, speed: 0 });
  const scrolled = ({ timeStamp }: Event) => {
    const row = (box.current?.scrollTop ?? 0) / ROW_HEIGHT;
    pace.current = paceAfter(pace.current, row, timeStamp);
    box.current?.classList.toggle("is-aside", box.current.scrollLeft !== 0);
    keepScrolled("list", box.current?.scrollTop ?? 0);
    measure();
  };
  const measure = () => {
    const element = box.current;
    if (element !== null) setSeen({ scrolled: element.scrollTop, height: element.clientHeight });
  };
  useLayoutEffect(() => {
    // Back returns to the scroll position.
    if (box.current !== null) box.current.scrollTop = keptScrolled("list");
    measure();
    const observer = new ResizeObserver(measure);
    if (box.current !== null) observer.observe(box.current);
    return () => observer.disconnect();
  }, []);
  const drawn = rowsToDraw(seen.scrolled, seen.height, ROW_HEIGHT, count);
  useEffect(() => rows.want(drawn, pace.current.speed));
  // The row's link, else its checkbox.
  const focusRow = (index: number) => {
    const row = box.current?.querySelector(`[data-row="${index}"]`);
    const target = row?.querySelector<HTMLElement>("a") ?? row?.querySelector<HTMLElement>("input");
    target?.focus({ preventScroll: true });
  };
  const hasMoved = useRef(false);
  const move = (step: number) => {
    const element = box.current;
    if (element === null || count === 0) return false;
    // Starts at the first fully visible row.
    const begin = Math.ceil(element.scrollTop / ROW_HEIGHT);
    const next = Math.min(count - 1, Math.max(0, active === null ? begin : active + step));
    const top = scrollTo(next, element.scrollTop, element.clientHeight - ROW_HEIGHT, ROW_HEIGHT);
    if (top !== null) element.scrollTop = top;
    hasMoved.current = true;
    setActive(next);
    return true;
  };
  const moving = useRef(move);
  moving.current = move;
  const marked = useRef<number | null>(null);
  const mark = (index: number) => {
    const row = rows.rowAt(index);
    if (row === undefined) return false;
    marked.current = index;
    choose(list.idOf(row));
    return true;
  };
  /** Extends the selection from the row selected last. If rows in between are not loaded, selects only this one. */
  const markUpTo = (index: number) => {
    const from = marked.current ?? index;
    const [first, end] = [Math.min(from, index), Math.max(from, index) + 1];
    const between = Array.from({ length: end - first }, (_, position) => rows.rowAt(first + position));
    const ids = between.flatMap((row) => (row === undefined ? [] : [list.idOf(row)]));
    if (ids.length < between.length) return mark(index);
    marked.current = index;
    chooseAll(ids);
    return true;
  };
  const marking = useRef({ mark, markUpTo });
  marking.current = { mark, markUpTo };
  const walked = useRef(active);
  walked.current = active;
  const editing = useRef<() => boolean>(() => false);
  editing.current = () => {
    const row = active === null ? undefined : rows.rowAt(active);
    if (row === undefined || edit === null) return false;
    edit(list.idOf(row));
    return true;
  };
  const isEditable = edit !== null;
  const keys = useMemo(
    () => [
      { key: "j", meaning: "Next row", press: () => moving.current(1) },
      { key: "k", meaning: "Previous row", press: () => moving.current(-1) },
      {
        key: "x",
        meaning: "Select the row",
        press: () => walked.current !== null && marking.current.mark(walked.current),
      },
      {
        key: "X",
        meaning: "Select all from the last one",
        press: () => walked.current !== null && marking.current.markUpTo(walked.current),
      },
      ...(isEditable ? [{ key: "e", meaning: "edit the row", press: () => editing.current() }] : []),
    ],
    [isEditable],
  );
  useKeys(keys);
  // A layout effect, to run before the next key press.
  useLayoutEffect(() => {
    // Focus the row's link, so that Enter opens it and a screen reader reads it; not on a rerender while the user types
    // elsewhere.
    const focused = document.activeElement;
    const isElsewhere = focused !== null && focused !== document.body && box.current?.contains(focused) !== true;
    if (active === null || (isElsewhere && !hasMoved.current)) return;
    hasMoved.current = false;
    focusRow(active);
  }, [active, drawn.first]);
  // Return to the edited row after the form was cancelled.
  const isIdle = parameter(EDIT) === null;
  const wasIdle = useRef(isIdle);
  useLayoutEffect(() => {
    if (isIdle && !wasIdle.current && active !== null && document.activeElement === document.body) focusRow(active);
    wasIdle.current = isIdle;
  }, [isIdle]);
  const indexes = Array.from({ length: drawn.end - drawn.first }, (_, position) => drawn.first + position);
  return (
    // Focusable, for scrolling by keyboard.
    // biome-ignore lint/a11y/noNoninteractiveTabindex: scrollable content must be focusable
    <section ref={box} class="list" tabIndex={0} aria-label={list.title} onScroll={scrolled}>
      <table
        aria-rowcount={count + 1}
        aria-colcount={state.columns.length + 1}
        style={{ inlineSize: `${2 + state.columns.reduce((sum, { width }) => sum + width, 0)}rem` }}
      >
        <colgroup>
          <col style={{ inlineSize: "2rem" }} />
          {state.columns.map(({ key, width }, place) => (
            // The first column is sticky and must leave room for the others.
            <col key={key} style={{ inlineSize: place === 0 ? `min(${width}rem, 40vi)` : `${width}rem` }} />
          ))}
        </colgroup>
        <thead>
          <tr aria-rowindex={1}>
            <td />
            {state.columns.map((column) => (
              <Heading key={column.key} list={list} state={state} column={column} filterBy={filterBy} />
            ))}
          </tr>
        </thead>
        <tbody>
          <Spacer rows={drawn.first} />
          {indexes.map((index) => {
            const row = rows.rowAt(index);
            const id = row === undefined ? null : list.idOf(row);
            return (
              <tr
                key={index}
                data-row={index}
                aria-rowindex={index + 2}
                aria-selected={id !== null && chosen.has(id)}
                class={[index === active ? "is-active" : "", row === undefined ? "" : (list.classOf?.(row) ?? "")].join(
                  " ",
                )}
              >
                <td>
                  {row !== undefined && id !== null && (
                    <input
                      type="checkbox"
                      tabIndex={-1}
                      checked={chosen.has(id)}
                      aria-label={`Select ${list.nameOf(row)}`}
                      // On click, which reports Shift: Shift extends the selection from the row selected last.
                      onClick={(event) => (event.shiftKey ? markUpTo(index) : mark(index))}
                    />
                  )}
                </td>
                {state.columns.map(({ key, cell, isNumber }) => (
                  <td
                    key={key}
                    class={isNumber === true ? "is-number" : undefined}
                    onDblClick={() => {
                      if (edit === null || id === null) return;
                      setActive(index);
                      edit(id, key);
                    }}
                  >
                    {row === undefined ? "" : cell(row)}
                  </td>
                ))}
              </tr>
            );
          })}
          <Spacer rows={count - drawn.end} />
        </tbody>
      </table>
    </section>
  );
}

function Heading({
  list,
  state,
  column: { key, isOrdered, isNumber, isMark },
  filterBy,
}: {
  readonly list: AnyList;
  readonly state: ListState;
  readonly column: Column<unknown>;
  readonly filterBy: (key: string) => void;
}) {
  const title = fieldTitle(key);
  const direction = state.order === key ? "ascending" : state.order === `-${key}` ? "descending" : undefined;
  return (
    <th scope="col" aria-sort={direction} class={isNumber === true ? "is-number" : undefined}>
      {isOrdered === true ? (
        <a href={hrefOrdered(list, state, key)} title={`Order by ${title}`}>
          {title}
          {direction !== undefined && <span aria-hidden="true">{direction === "ascending" ? " ▲" : " ▼"}</span>}
        </a>
      ) : (
        title
      )}
      {isMark !== true && (
        <button type="button" class="filter-by" title={listText.filterBy(title)} onClick={() => filterBy(key)}>
          <span class="unseen">{listText.filterBy(title)}</span>
          <svg viewBox="0 0 10 10" aria-hidden="true">
            <path d="M0 1h10L6 5.5V10L4 9V5.5z" />
          </svg>
        </button>
      )}
    </th>
  );
}

/** Takes the height of the rows not rendered. */
function Spacer({ rows }: { readonly rows: number }) {
  if (rows <= 0) return null;
  return (
    <tr class="spacer">
      <td style={{ blockSize: `${rows * ROW_HEIGHT}px` }} />
    </tr>
  );
}

/** URL of this list without its filter. */
export function hrefUnfiltered(): string {
  return hrefHere({ filter: null });
}
