// VLAN of a location result.

import type { components } from "#api";
import { RecordLink } from "../names/record-link.tsx";

/** VLAN number, with its name if in the inventory. */
export function VlanLink({
  vlan: { id, number, name },
  at,
}: {
  readonly vlan: NonNullable<components["schemas"]["LocationCandidate"]["vlan"]>;
  readonly at?: string | null;
}) {
  const called = name && name !== `VLAN ${number}` ? `${number} ${name}` : `${number}`;
  return id === null ? (
    <span>{called}</span>
  ) : (
    <RecordLink type="vlan" id={id} name={called} {...(at === undefined ? {} : { at })} />
  );
}
