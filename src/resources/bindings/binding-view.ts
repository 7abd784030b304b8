// Binding views: JSON omits the host, which is the service's; table rows include it.

import { type CsvColumn, fieldColumns, schemaColumns } from "../../schemas/csv.ts";
import type { ComposeFor } from "../compose.ts";
import { Binding } from "./binding.ts";

export const composeBindings: ComposeFor = () => (items) => items.map(({ text }) => withoutHostId(text));

/** Table rows include the host: service names are unique only within a host. */
export const composeBindingRows: ComposeFor = () => (items) => items.map(({ text }) => text);

export const BINDING_COLUMNS: readonly CsvColumn[] = schemaColumns(Binding).flatMap((column) =>
  column.name === "service_id" ? [...fieldColumns(["host_id"]), column] : [column],
);

/** @param text the stored binding as a JSON object */
export function withoutHostId(text: string): string {
  // Bindings hold no free text, so the match is always the field itself. Parsing would be slow for hosts with thousands
  // of bindings.
  return text.replace(/"host_id":"[^"]*",/, "");
}
