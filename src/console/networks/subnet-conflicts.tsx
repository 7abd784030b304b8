// Conflicts of a subnet: addresses used by several hosts, and the subnet itself.

import { useAnswer } from "../api/answer.ts";
import { read } from "../api/client.ts";
import { RecordLink } from "../names/record-link.tsx";
import { Problem } from "../parts/problem.tsx";
import { Waiting } from "../parts/waiting.tsx";
import { conflictText } from "../text/networks.ts";
import { atQuery } from "../time/at.ts";
import { hrefOf } from "../url/location.ts";
import { isWithinPrefix } from "./prefixes.ts";

/** Conflicts read from the network; the conflicts page shows more. */
const CONFLICTS_MAX = 1_000;
/** Conflicts shown for the subnet; more add nothing. */
const SHOWN_MAX = 20;

interface SubnetConflictsProps {
  readonly subnet: { readonly id: string; readonly network_id: string; readonly cidr: string };
}

export function SubnetConflicts({ subnet: { id, network_id, cidr } }: SubnetConflictsProps) {
  const query = {
    ...atQuery(),
    network_id,
    type: ["Address" as const, "Subnet" as const],
    accepted: false,
    limit: CONFLICTS_MAX,
  };
  const { data, problem, again } = useAnswer(read("/api/v1/conflicts", { query }), {
    how: "refresh",
    types: ["host", "subnet"],
    network_id,
  });
  if (data === undefined) return problem === undefined ? <Waiting /> : <Problem problem={problem} again={again} />;
  const own = data.filter(({ type, value, parties }) =>
    type === "Address" ? isWithinPrefix(cidr, value) : parties.some((party) => party.id === id),
  );
  return (
    <>
      {problem !== undefined && <Problem problem={problem} again={again} />}
      {own.length === 0 && <p class="aside">No conflicts.</p>}
      <ul class="subnet-conflicts">
        {own.slice(0, SHOWN_MAX).map(({ type, value, parties }) => (
          <li key={type + value}>
            <b>{value}</b>{" "}
            {parties.map(({ entity_type, id: party, name }, index) => (
              <span key={party}>
                {index > 0 && ", "}
                <RecordLink type={entity_type} id={party} name={name} />
              </span>
            ))}
          </li>
        ))}
      </ul>
      {own.length > SHOWN_MAX && (
        <p class="aside">
          <a href={hrefOf("/conflicts", { network: network_id })}>{conflictText.more(own.length - SHOWN_MAX)}</a>
        </p>
      )}
    </>
  );
}
