// Grid for many similar cells: one is in the tab order, arrow keys move the focus, and each has a text alternative.

import type { ComponentChildren } from "preact";
import { gridStep } from "./grid-keys.ts";

/** Content of a cell. */
export interface GridCell {
  readonly id: string;
  /** CSS class in addition to `cell`. */
  readonly className: string;
  /** Complete text, for the tooltip and for screen readers. */
  readonly title: string;
  /** Link target; null for no link. */
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
    // biome-ignore lint/a11y/noNoninteractiveElementToInteractiveRole: a grid is a table with keyboard navigation
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

function Cell({ cell: { className, title, href, content }, tabIndex }: Readonly<{ cell: GridCell; tabIndex: 0 | -1 }>) {
  if (href === null)
    return (
      <td tabIndex={tabIndex} title={title} aria-label={title}>
        <span class={`cell ${className}`}>{content}</span>
      </td>
    );
  return (
    <td>
      <a class={`cell ${className}`} href={href} tabIndex={tabIndex} title={title} aria-label={title}>
        {content}
      </a>
    </td>
  );
}

/** Moves the focus in the DOM only, so that thousands of cells are not rerendered. */
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
