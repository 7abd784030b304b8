// Withheld credentials as table rows: one row per subnet and address, with all its credentials.

import { type CsvColumn, fieldColumns, listCell } from "../../schemas/csv.ts";
import { WITHHELD_EXAMPLE, type WithheldBody } from "./withheld-schema.ts";

export const WITHHELD_COLUMNS: readonly CsvColumn[] = fieldColumns(
  `since type id value host_id host_name network_id network_name credential_ids credential_names address_count
  entered_by_type entered_by_id entered_by_name reason`.split(/\s+/),
);

/** @param networkNameOf as of the timestamp of the response; null if out of reach */
export function withheldRow(
  { host, credentials, entered_by: enteredBy, ...fields }: WithheldBody,
  networkNameOf: (id: string) => string | null,
): Record<string, unknown> {
  return {
    ...fields,
    host_id: host?.id ?? null,
    host_name: host?.name ?? null,
    network_name: networkNameOf(fields.network_id),
    credential_ids: credentials.map(({ id }) => id),
    credential_names: listCell(credentials.map(({ name }) => name)),
    entered_by_type: enteredBy.type,
    entered_by_id: enteredBy.id,
    entered_by_name: enteredBy.name,
  };
}

export const WITHHELD_ROWS_EXAMPLE = [withheldRow(WITHHELD_EXAMPLE, () => "Headquarters")];
