// A binding as it is answered: without the host, which is its service's. In a table it has that as well.

import { type CsvColumn, fieldColumns, schemaColumns } from "../../schemas/csv.ts";
import type { ComposeFor } from "../compose.ts";
import { Binding } from "./binding.ts";

export const composeBindings: ComposeFor = () => (items) => items.map(({ text }) => shownBinding(text));

/** In a table a binding says its host: names of services are those of one host. */
export const composeBindingRows: ComposeFor = () => (items) => items.map(({ text }) => text);

export const BINDING_COLUMNS: readonly CsvColumn[] = schemaColumns(Binding).flatMap((column) =>
  column.name === "service_id" ? [...fieldColumns(["host_id"]), column] : [column],
);

/** @param text the stored binding as a JSON object */
export function shownBinding(text: string): string {
  // No field of a binding holds free text: this is the field itself, and nothing else. Parsing would be felt where a
  // host has thousands.
  return text.replace(/"host_id":"[^"]*",/, "");
}
