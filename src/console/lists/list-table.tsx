// Table of a list's rows, of which only the visible ones are rendered, at a fixed height.

import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { useKeys } from "../components/keys.ts";
import { EDIT } from "../editing/edit-slot.tsx";
import { fieldTitle } from "../names/custom-fields.ts";
import { listText } from "../text/lists.ts";
import { parameter, savedScroll, saveScroll } from "../url/location.ts";
import type { AnyList, Column } from "./list.ts";
import { hrefOrdered, type ListState } from "./list-state.ts";
import type { LongList } from "./long-list.ts";
import { nextPace, type RowRange, rowsToRender, type ScrollPace, scrollTo } from "./rows-window.ts";

/** Row height in pixels: `--row` at the default text size. */
const ROW_HEIGHT = 28;
/** Width in rem of the column of check boxes. */
const SELECTION_WIDTH = 2;

interface ListTableProps {
  readonly list: AnyList;
  readonly state: ListState;
  readonly rows: LongList<unknown>;
  readonly count: number;
  /** Whether rows can be selected. */
  readonly isSelectable: boolean;
  /** Ids of selected rows. */
  readonly selectedIds: ReadonlySet<string>;
  readonly toggle: (id: string) => void;
  /** Adds rows to the selection. */
  readonly selectAll: (ids: readonly string[]) => void;
  /** Opens the filter of a column. */
  readonly filterBy: (key: string) => void;
  /** Starts editing a record or one of its fields; null if read-only. */
  readonly edit: ((id: string, field?: string) => void) | null;
}

export function ListTable({ list, state, rows, count, isSelectable, selectedIds, ...actions }: ListTableProps) {
  const { toggle, selectAll, filterBy, edit } = actions;
  const container = useRef<HTMLElement>(null);
  const [viewport, setViewport] = useState({ scrolled: 0, height: 600 });
  const [active, setActive] = useState<number | null>(null);
  const pace = useRef<ScrollPace>({ row: 0, ms: 0, speed: 0 });
  const scrolled = ({ timeStamp }: Event) => {
    const row = (container.current?.scrollTop ?? 0) / ROW_HEIGHT;
    pace.current = nextPace(pace.current, row, timeStamp);
    container.current?.classList.toggle("is-aside", container.current.scrollLeft !== 0);
    saveScroll("list", container.current?.scrollTop ?? 0);
    measure();
  };
  const measure = () => {
    const element = container.current;
    if (element !== null) setViewport({ scrolled: element.scrollTop, height: element.clientHeight });
  };
  useLayoutEffect(() => {
    // Back restores the scroll position.
    if (container.current !== null) container.current.scrollTop = savedScroll("list");
    measure();
    const observer = new ResizeObserver(measure);
    if (container.current !== null) observer.observe(container.current);
    return () => observer.disconnect();
  }, []);
  const rendered = rowsToRender(viewport.scrolled, viewport.height, ROW_HEIGHT, count);
  useEffect(() => rows.requestRows(rendered, pace.current.speed));
  // Focuses the row's link, or else its checkbox.
  const focusRow = (index: number) => {
    const row = container.current?.querySelector(`[data-row="${index}"]`);
    const target = row?.querySelector<HTMLElement>("a") ?? row?.querySelector<HTMLElement>("input");
    target?.focus({ preventScroll: true });
  };
  const hasMoved = useRef(false);
  const move = (step: number) => {
    const element = container.current;
    if (element === null || count === 0) return false;
    // Starts at the first fully visible row.
    const firstVisible = Math.ceil(element.scrollTop / ROW_HEIGHT);
    const next = Math.min(count - 1, Math.max(0, active === null ? firstVisible : active + step));
    const top = scrollTo(next, element.scrollTop, element.clientHeight - ROW_HEIGHT, ROW_HEIGHT);
    if (top !== null) element.scrollTop = top;
    hasMoved.current = true;
    setActive(next);
    return true;
  };
  const lastToggled = useRef<number | null>(null);
  const toggleRow = (index: number) => {
    const row = rows.rowAt(index);
    if (row === undefined) return false;
    lastToggled.current = index;
    toggle(list.idOf(row));
    return true;
  };
  /** Extends the selection from the row toggled last. If rows in between are not loaded, toggles a single row. */
  const selectRange = (index: number) => {
    const anchor = lastToggled.current ?? index;
    const range = indexesIn({ first: Math.min(anchor, index), end: Math.max(anchor, index) + 1 }).map(rows.rowAt);
    const ids = range.flatMap((row) => (row === undefined ? [] : [list.idOf(row)]));
    if (ids.length < range.length) return toggleRow(index);
    lastToggled.current = index;
    selectAll(ids);
    return true;
  };
  const editRow = (index: number) => {
    const row = rows.rowAt(index);
    if (row === undefined || edit === null) return false;
    edit(list.idOf(row));
    return true;
  };
  const onActive = (act: (index: number) => boolean) => () => active !== null && act(active);
  useKeys([
    { key: "j", meaning: "Next row", press: () => move(1) },
    { key: "k", meaning: "Previous row", press: () => move(-1) },
    ...(isSelectable
      ? [
          { key: "x", meaning: "Select the row", press: onActive(toggleRow) },
          { key: "X", meaning: "Select the range from the last selected row", press: onActive(selectRange) },
        ]
      : []),
    ...(edit === null ? [] : [{ key: "e", meaning: "Edit the row", press: onActive(editRow) }]),
  ]);
  // A layout effect: it must run before the next key press.
  useLayoutEffect(() => {
    // Focuses the row's link, so that Enter opens it and screen readers read it; not while the user types elsewhere.
    const focused = document.activeElement;
    const isElsewhere = focused !== null && focused !== document.body && container.current?.contains(focused) !== true;
    if (active === null || (isElsewhere && !hasMoved.current)) return;
    hasMoved.current = false;
    focusRow(active);
  }, [active, rendered.first]);
  // Returns to the edited row after the form is canceled.
  const isIdle = parameter(EDIT) === null;
  const wasIdle = useRef(isIdle);
  useLayoutEffect(() => {
    if (isIdle && !wasIdle.current && active !== null && document.activeElement === document.body) focusRow(active);
    wasIdle.current = isIdle;
  }, [isIdle]);
  const indexes = indexesIn(rendered);
  return (
    <section
      ref={container}
      class={`list ${isSelectable ? "is-selectable" : ""}`}
      // Focusable, for scrolling by keyboard.
      // biome-ignore lint/a11y/noNoninteractiveTabindex: scrollable content must be focusable
      tabIndex={0}
      aria-label={list.title}
      onScroll={scrolled}
    >
      <table
        aria-rowcount={count + 1}
        aria-colcount={state.columns.length + Number(isSelectable)}
        style={{
          inlineSize: `${state.columns.reduce((sum, { width }) => sum + width, isSelectable ? SELECTION_WIDTH : 0)}rem`,
        }}
      >
        <colgroup>
          {isSelectable && <col style={{ inlineSize: `${SELECTION_WIDTH}rem` }} />}
          {state.columns.map(({ key, width }, columnIndex) => (
            // The first column is sticky and must leave room for the others.
            <col key={key} style={{ inlineSize: columnIndex === 0 ? `min(${width}rem, 40vi)` : `${width}rem` }} />
          ))}
        </colgroup>
        <thead>
          <tr aria-rowindex={1}>
            {isSelectable && <td />}
            {state.columns.map((column) => (
              <Heading key={column.key} list={list} state={state} column={column} filterBy={filterBy} />
            ))}
          </tr>
        </thead>
        <tbody>
          <Spacer rows={rendered.first} />
          {indexes.map((index) => {
            const row = rows.rowAt(index);
            const id = row === undefined ? null : list.idOf(row);
            return (
              <tr
                key={index}
                data-row={index}
                aria-rowindex={index + 2}
                aria-selected={isSelectable ? id !== null && selectedIds.has(id) : undefined}
                class={`${index === active ? "is-active" : ""} ${row === undefined ? "" : (list.classOf?.(row) ?? "")}`}
              >
                {isSelectable && (
                  <td>
                    {row !== undefined && id !== null && (
                      <input
                        type="checkbox"
                        tabIndex={-1}
                        checked={selectedIds.has(id)}
                        aria-label={`Select ${list.nameOf(row)}`}
                        // A click event reports Shift, which extends the selection from the row toggled last.
                        onClick={(event) => (event.shiftKey ? selectRange(index) : toggleRow(index))}
                      />
                    )}
                  </td>
                )}
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
          <Spacer rows={count - rendered.end} />
        </tbody>
      </table>
    </section>
  );
}

type HeadingProps = Pick<ListTableProps, "list" | "state" | "filterBy"> & { readonly column: Column<unknown> };

function Heading({ list, state, column: { key, isOrdered, isNumber, isComputed }, filterBy }: HeadingProps) {
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
      {isComputed !== true && (
        <button type="button" class="filter-by" title={listText.filterBy(title)} onClick={() => filterBy(key)}>
          <span class="visually-hidden">{listText.filterBy(title)}</span>
          <svg viewBox="0 0 10 10" aria-hidden="true">
            <path d="M0 1h10L6 5.5V10L4 9V5.5z" />
          </svg>
        </button>
      )}
    </th>
  );
}

function indexesIn({ first, end }: RowRange): number[] {
  return Array.from({ length: end - first }, (_, position) => first + position);
}

/** Takes up the height of rows that are not rendered. */
function Spacer({ rows }: { readonly rows: number }) {
  if (rows <= 0) return null;
  return (
    <tr class="spacer">
      <td style={{ blockSize: `${rows * ROW_HEIGHT}px` }} />
    </tr>
  );
}
