// Columns of a list: those that its kind defines, then all others that the API lists. Pure.

import type { FormField } from "../forms/field.ts";
import type { CellStyle, KindDetails } from "../kinds/details.ts";
import { UNLISTED_FIELDS } from "../kinds/untold-fields.ts";
import { ownValue } from "../text/own-value.ts";

/** Field of a list's records, from the schema. */
export interface ListField extends Pick<FormField, "name" | "type"> {
  /** Whether the API can sort by the field. */
  readonly isOrdered?: true;
}

/** Column without a cell renderer. */
export interface PlannedColumn {
  readonly key: string;
  readonly width: number;
  readonly type: FormField["type"];
  readonly style: CellStyle | undefined;
  readonly isOrdered: boolean;
}

/** In rem, for fields that the kind does not define. */
const WIDTHS: Readonly<Partial<Record<FormField["type"], number>>> = {
  boolean: 6,
  integer: 7,
  choice: 10,
  instant: 11,
};

/** The columns that a kind defines, then one for each other field that the API lists. */
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
