// Columns of a list: those that its kind mentions, and all others that the API lists. Plain functions.

import type { FormField } from "../editing/field.ts";
import type { CellStyle, KindDetails } from "../kinds/details.ts";
import { UNLISTED_FIELDS } from "../kinds/untold-fields.ts";
import { ownValue } from "../text/own-value.ts";

/** A field of the records in a list, as the schema has it. */
export interface ListField extends Pick<FormField, "name" | "type"> {
  /** Whether the API orders by it. */
  readonly isOrdered?: true;
}

/** A column without its cells. */
export interface PlannedColumn {
  readonly key: string;
  readonly width: number;
  readonly type: FormField["type"];
  readonly style: CellStyle | undefined;
  readonly isOrdered: boolean;
}

/** In rem, of fields that their kind does not mention. */
const WIDTHS: Readonly<Partial<Record<FormField["type"], number>>> = {
  boolean: 6,
  integer: 7,
  choice: 10,
  instant: 11,
};

/** The columns that a kind mentions, then one for each other field that the API lists. */
export function plannedColumns(
  { columns, unlisted = [] }: Pick<KindDetails, "columns" | "unlisted">,
  fields: readonly ListField[],
): PlannedColumn[] {
  const others = fields
    .map(({ name }) => name)
    .filter((name) => !UNLISTED_FIELDS.has(name) && !unlisted.includes(name));
  return [...new Set([...Object.keys(columns), ...others])].map((key) => {
    const { type, isOrdered } = fields.find(({ name }) => name === key) ?? { type: "other" as const };
    const [width, style] = [ownValue(columns, key) ?? []].flat() as [number?, CellStyle?];
    return { key, width: width ?? WIDTHS[type] ?? 12, type, style, isOrdered: isOrdered === true };
  });
}
