// A picture of many alike: a cell for each, in rows. One of them takes the focus by Tab, the arrow keys lead from it to the
// others, and each tells what it is.

import type { ComponentChildren } from "preact";
import { gridStep } from "./grid-keys.ts";

/** What one cell shows. */
export interface GridCell {
  readonly id: string;
  /** Its class beside `cell`. */
  readonly kind: string;
  /** All that it tells, for who points at it and for who hears it. */
  readonly title: string;
  /** Where it leads; null for nowhere. */
  readonly href: string | null;
  readonly content: ComponentChildren;
}

interface CellGridProps {
  readonly title: string;
  readonly columns: number;
  readonly cells: readonly GridCell[];
}

export function CellGrid({ title, columns, cells }: CellGridProps) {
  const rows = Array.from({ length: Math.ceil(cells.length / columns) }, (_, row) =>
    cells.slice(row * columns, (row + 1) * columns),
  );
  return (
    // biome-ignore lint/a11y/noNoninteractiveElementToInteractiveRole: a grid is a table that one walks through
    <table class="cells" role="grid" aria-label={title} onKeyDown={(event) => moveFocus(event, columns)}>
      <tbody>
        {rows.map((row, index) => (
          <tr key={row[0]?.id}>
            {row.map((cell, column) => (
              <Cell key={cell.id} cell={cell} tabIndex={index + column === 0 ? 0 : -1} />
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  );
}

interface CellProps {
  readonly cell: GridCell;
  readonly tabIndex: 0 | -1;
}

function Cell({ cell: { kind, title, href, content }, tabIndex }: CellProps) {
  if (href === null)
    return (
      <td tabIndex={tabIndex} title={title} aria-label={title}>
        <span class={`cell ${kind}`}>{content}</span>
      </td>
    );
  return (
    <td>
      <a class={`cell ${kind}`} href={href} tabIndex={tabIndex} title={title} aria-label={title}>
        {content}
      </a>
    </td>
  );
}

/** What takes the focus is told to the page alone: thousands of cells need not be drawn for it. */
function moveFocus(event: KeyboardEvent & { readonly currentTarget: HTMLElement }, columns: number): void {
  if (event.altKey || event.metaKey) return;
  const cells = [...event.currentTarget.querySelectorAll("td")];
  const index = cells.findIndex((cell) => cell.contains(document.activeElement));
  if (index < 0) return;
  const to = gridStep(event.key, { index, columns, count: cells.length, isToEnd: event.ctrlKey });
  if (to === null) return;
  event.preventDefault();
  focusable(cells[index])?.setAttribute("tabindex", "-1");
  const next = focusable(cells[to]);
  next?.setAttribute("tabindex", "0");
  next?.focus();
}

function focusable(cell: HTMLElement | undefined): HTMLElement | null {
  return cell?.querySelector("a") ?? cell ?? null;
}
