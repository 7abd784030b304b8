// Table that scrolls horizontally if wider than its page, including by keyboard.

import type { ComponentChildren } from "preact";
import { HeadRow } from "./head-row.tsx";

interface RowsTableProps {
  /** Name of the table, for screen readers. */
  readonly title: string;
  /** Column headings; false omits the column. */
  readonly heads: ReadonlyArray<string | undefined | false>;
  /** Headings of right-aligned columns. */
  readonly numbers?: readonly string[];
  /** Additional CSS class. */
  readonly className?: string;
  /** Rows. */
  readonly children: ComponentChildren;
}

export function RowsTable({ title, heads, numbers = [], className, children }: RowsTableProps) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: scrollable content must be focusable
    <section class="table" tabIndex={0} aria-label={title}>
      <table class={className === undefined ? "rows" : `rows ${className}`}>
        <HeadRow heads={heads} numbers={numbers} />
        <tbody>{children}</tbody>
      </table>
    </section>
  );
}
