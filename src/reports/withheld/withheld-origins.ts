// Start and author of a withheld item, from the versions of its record and of the assignments that include it. For the
// rows of a page, which find-withheld.ts selects.

import { formatInstant } from "../../base/instant.ts";
import type { Reader } from "../../db/reading/reader.ts";
import type { WithheldItem } from "./find-withheld.ts";
import type { WithheldBody } from "./withheld-schema.ts";

/** The last version up to a transaction that set one of these fields, else the first retained version. */
const LAST_SET = `SELECT coalesce(max(iif(operation = 1 OR EXISTS (SELECT 1 FROM json_each(+?3) f
    WHERE instr(changed, f.value) > 0), key, NULL)), min(key)) & 2147483647 FROM history_versions
  WHERE key > (+?1 << 31) AND key <= ((+?1 << 31) | +?2)`;
const LAST_ENDED = `SELECT max(until) FROM credential_coverage
  WHERE assignment_n = +?1 AND ip_address = +?3 AND until <= +?2`;
const ACTOR = "SELECT actor_type, actor_id, actor_name FROM history_transactions WHERE sequence = +?1";

/** Fields that define an address, a subnet, and the addresses of an assignment. */
const DEFINING_FIELDS = {
  Address: JSON.stringify(['"ip_address"', '"host_id"']),
  Subnet: JSON.stringify([]),
  assignment: JSON.stringify(['"ip_address_ids"', '"host_id"']),
};

export type WithheldOrigin = Pick<WithheldBody, "since" | "entered_by">;

export function withheldOrigin(
  reader: Reader,
  { type, n, value, assignments }: WithheldItem,
  sequence: number,
): WithheldOrigin {
  const lastSetIn = (record: number, fields: string) =>
    (reader.statement(LAST_SET).values(record, sequence, fields)[0] as [number])[0];
  const entered = lastSetIn(n, DEFINING_FIELDS[type]);
  const starts = assignments.map((assignment) => {
    const assignedAt = lastSetIn(assignment.n, DEFINING_FIELDS.assignment);
    const [ended] = reader.statement(LAST_ENDED).values(assignment.n, sequence, value)[0] as [number | null];
    return Math.max(assignedAt, ended ?? 0);
  });
  const [actor] = reader.statement(ACTOR).values(entered) as Array<
    [WithheldBody["entered_by"]["type"], string | null, string]
  >;
  const since = Math.max(entered, Math.min(...starts));
  return {
    since: formatInstant(reader.thinnedHistory.instantOf(since)),
    entered_by: { type: actor?.[0] ?? "System", id: actor?.[1] ?? null, name: actor?.[2] ?? "" },
  };
}
