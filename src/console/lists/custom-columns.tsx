// List columns for custom fields, after the other columns and hidden by default.

import { CustomValue } from "../components/custom-value.tsx";
import { customKey, customName, definedFieldsOf, valueOfField } from "../names/custom-fields.ts";
import { ownValue } from "../text/own-value.ts";
import { parameter } from "../url/location.ts";
import type { AnyList, Column } from "./list.ts";

/** Column widths in rem. */
const WIDTHS: Readonly<Record<string, number>> = { boolean: 6, number: 7, date: 8, choice: 10, text: 12, url: 16 };

/** The list with a column for each custom field that is defined or named in the URL. */
export function withCustomColumns(list: AnyList): AnyList {
  const fields = definedFieldsOf(list.kind);
  const columns = fields.map(({ key, type }) => column(customName(key), type));
  // For URLs with deleted fields, and until the definitions are loaded.
  const fromUrl = (parameter("columns") ?? "")
    .split(",")
    .filter((key) => customKey(key) !== null && !fields.some((field) => customName(field.key) === key))
    .map((key) => column(key, "text"));
  const customColumns = [...columns, ...fromUrl];
  return customColumns.length === 0 ? list : { ...list, columns: [...list.columns, ...customColumns] };
}

function column(key: string, type: string): Column<unknown> {
  return {
    key,
    width: ownValue(WIDTHS, type) ?? 12,
    isOrdered: true,
    ...(type === "number" ? { isNumber: true } : {}),
    cell: (row) => <CustomValue field={key} value={valueOfField(row, key)} />,
  };
}
