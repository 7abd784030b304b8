// VLAN of a location result.

import type { components } from "#api";
import { RecordLink } from "../names/record-link.tsx";

type Vlan = NonNullable<components["schemas"]["LocationCandidate"]["vlan"]>;

/** VLAN number, with its name if in the inventory. */
export function VlanLink({ vlan: { id, number, name }, ...rest }: Readonly<{ vlan: Vlan; at?: string | null }>) {
  const label = name && name !== `VLAN ${number}` ? `${number} ${name}` : `${number}`;
  return id === null ? <span>{label}</span> : <RecordLink type="vlan" id={id} name={label} {...rest} />;
}
