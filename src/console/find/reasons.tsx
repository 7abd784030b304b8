// Evidence for a location in sentences, with links to the underlying records at the shown timestamp.

import type { components } from "#api";
import { NameLink } from "../components/name-link.tsx";
import { When } from "../components/when.tsx";
import { RecordLink } from "../names/record-link.tsx";
import { percent } from "../text/find.ts";
import { hrefOf } from "../url/location.ts";

export type Candidate = components["schemas"]["LocationCandidate"];
type Evidence = Candidate["evidence"][number];
type Basis = Evidence["records"][number];

export function Reasons({ candidate }: { readonly candidate: Candidate }) {
  return (
    <details class="reasons">
      <summary>Why</summary>
      <ol>
        {candidate.evidence.map(({ kind, sentence, factor, records }) => (
          <li key={kind + sentence}>
            <bdi>{sentence}</bdi> {factor < 1 && <span class="label">counts {percent(factor)}</span>}
            {records.length > 0 && (
              <ul>
                {records.map((record) => (
                  <li key={record.entity_type + record.id}>
                    <BasisLink record={record} candidate={candidate} />{" "}
                    <span class="aside">
                      unchanged since <When instant={record.valid_from} />
                    </span>
                  </li>
                ))}
              </ul>
            )}
          </li>
        ))}
      </ol>
    </details>
  );
}

/** Addresses and forwarding entries have no separate page; links lead to the page that shows them. */
function BasisLink({ record, candidate }: { readonly record: Basis; readonly candidate: Candidate }) {
  const { entity_type, id, name } = record;
  if (entity_type === "ip_address") {
    const isHostAddress = candidate.host !== null && candidate.ip_address?.id === id;
    const page = isHostAddress ? `/hosts/${candidate.host?.id}?tab=addresses` : "/addresses";
    return <NameLink href={hrefOf(page, isHostAddress ? {} : { filter: `ip_address = "${name}"` })} name={name} />;
  }
  if (entity_type === "fdb_entry")
    return <NameLink href={hrefOf("/interfaces", { filter: `fdb_macs : "${name}"` })} name={name} />;
  return <RecordLink type={entity_type} id={id} name={name} />;
}
