// Conflicts as table rows: one row per party; rows of one conflict share its fingerprint.

import { type CsvColumn, fieldColumns } from "../../schemas/csv.ts";
import { ACCEPTANCE_EXAMPLE, CONFLICT_EXAMPLE, type ConflictBody } from "./conflict-schema.ts";

export const CONFLICT_COLUMNS: readonly CsvColumn[] = fieldColumns(
  `type value fingerprint entity_type id name host_id host_name network_id network_name since by_type by_id by_name
  mac_address port_id port_name port_host_id port_host_name seen_by_kinds seen_by_host_ids seen_by_host_names seen_by_interface_names seen_by_since
  accepted_at accepted_by_name reason`.split(/\s+/),
);

/** @param networkNameOf as of the timestamp of the response; null if out of reach */
export function conflictRows(
  { type, value, fingerprint, parties, acceptance }: ConflictBody,
  networkNameOf: (id: string) => string | null,
): Array<Record<string, unknown>> {
  return parties.map(({ entity_type, id, name, network_id, host, since, by, mac_address, port, seen_by }) => ({
    type,
    value,
    fingerprint,
    entity_type,
    id,
    name,
    host_id: host?.id,
    host_name: host?.name,
    network_id,
    network_name: networkNameOf(network_id),
    since,
    by_type: by?.type,
    by_id: by?.id,
    by_name: by?.name,
    mac_address,
    port_id: port?.id,
    port_name: port?.name,
    port_host_id: port?.host.id,
    port_host_name: port?.host.name,
    seen_by_kinds: seen_by.map(({ kind }) => kind),
    seen_by_host_ids: seen_by.map((each) => each.host?.id ?? ""),
    seen_by_host_names: seen_by.map((each) => each.host?.name ?? ""),
    seen_by_interface_names: seen_by.map((each) => each.interface?.name ?? ""),
    seen_by_since: seen_by.map((each) => each.since),
    accepted_at: acceptance?.accepted_at,
    accepted_by_name: acceptance?.accepted_by.name,
    reason: acceptance?.reason,
  }));
}

export const CONFLICT_ROWS_EXAMPLE = conflictRows(
  { ...CONFLICT_EXAMPLE, acceptance: ACCEPTANCE_EXAMPLE },
  () => "Headquarters",
);
