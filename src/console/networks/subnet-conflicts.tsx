// Subnet conflicts: addresses used by several hosts, and the subnet itself; accepted ones after the others.

import { read } from "../api/client.ts";
import { useResponse } from "../api/response.ts";
import { CommaList } from "../components/comma-list.tsx";
import { ResponseState } from "../components/response-state.tsx";
import { RecordLink } from "../names/record-link.tsx";
import { conflictText } from "../text/networks.ts";
import { atQuery } from "../time/at.ts";
import { hrefOf } from "../url/location.ts";
import { AcceptConflict } from "./accept-conflict.tsx";
import { isWithinPrefix } from "./prefixes.ts";

/** Conflicts read for the whole network; the conflicts page shows more. */
const CONFLICTS_MAX = 1_000;
/** Conflicts shown for the subnet; a longer list adds nothing. */
const SHOWN_MAX = 20;

interface SubnetConflictsProps {
  readonly subnet: { readonly id: string; readonly network_id: string; readonly cidr: string };
}

export function SubnetConflicts({ subnet: { id, network_id, cidr } }: SubnetConflictsProps) {
  const type = ["Address" as const, "Subnet" as const];
  const query = { ...atQuery(), network_id, type, limit: CONFLICTS_MAX };
  const live = { how: "refresh", types: ["host", "subnet"], network_id } as const;
  const { data, problem, retry } = useResponse(read("/api/v1/conflicts", { query }), live);
  if (data === undefined) return <ResponseState problem={problem} retry={retry} />;
  const subnetConflicts = data
    .filter(({ type, value, parties }) =>
      type === "Address" ? isWithinPrefix(cidr, value) : parties.some((party) => party.id === id),
    )
    .sort((left, right) => Number(left.acceptance !== null) - Number(right.acceptance !== null));
  return (
    <>
      <ResponseState data={data} problem={problem} retry={retry} />
      {subnetConflicts.length === 0 && <p class="aside">No conflicts.</p>}
      <ul class="subnet-conflicts">
        {subnetConflicts.slice(0, SHOWN_MAX).map((conflict) => (
          <li key={conflict.fingerprint}>
            <b>{conflict.value}</b>{" "}
            <CommaList items={conflict.parties} keyOf={(party) => party.id}>
              {(party) => <RecordLink type={party.entity_type} id={party.id} name={party.name} />}
            </CommaList>{" "}
            {conflict.acceptance !== null && <span class="label">accepted</span>}{" "}
            <AcceptConflict conflict={conflict} onDone={retry} />
          </li>
        ))}
      </ul>
      {subnetConflicts.length > SHOWN_MAX && (
        <p class="aside">
          <a href={hrefOf("/conflicts", { network: network_id })}>
            {conflictText.more(subnetConflicts.length - SHOWN_MAX)}
          </a>
        </p>
      )}
    </>
  );
}
