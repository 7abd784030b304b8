// List columns: those that the kind defines, then one for each other field that the API lists. Pure.

import type { FormField } from "../forms/field.ts";
import type { CellStyle, KindDetails } from "../kinds/details.ts";
import { NON_COLUMN_FIELDS } from "../kinds/hidden-fields.ts";
import { ownValue } from "../text/own-value.ts";

/** A field of the listed records, from the schema. */
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

/** Widths in rem for fields whose width the kind does not define. */
const WIDTHS: Readonly<Partial<Record<FormField["type"], number>>> = {
  boolean: 6,
  integer: 7,
  choice: 10,
  instant: 11,
};

export function plannedColumns(
  { columns, unlisted = [] }: Pick<KindDetails, "columns" | "unlisted">,
  fields: readonly ListField[],
): PlannedColumn[] {
  const others = fields
    .map(({ name }) => name)
    .filter((name) => !NON_COLUMN_FIELDS.has(name) && !unlisted.includes(name));
  return [...new Set([...Object.keys(columns), ...others])].map((key) => {
    const { type, isOrdered } = fields.find(({ name }) => name === key) ?? { type: "other" as const };
    const [width, style] = [ownValue(columns, key) ?? []].flat() as [number?, CellStyle?];
    return { key, width: width ?? WIDTHS[type] ?? 12, type, style, isOrdered: isOrdered === true };
  });
}
