// Evidence for a location as sentences, with links to the underlying records at the shown instant.

import type { components } from "#api";
import { RecordLink } from "../names/record-link.tsx";
import { When } from "../parts/when.tsx";
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

/** Addresses and forwarding entries have no page of their own; links lead to the page that shows them. */
function BasisLink({ record, candidate }: { readonly record: Basis; readonly candidate: Candidate }) {
  const { entity_type, id, name } = record;
  if (entity_type === "ip_address") {
    const isHosts = candidate.host !== null && candidate.ip_address?.id === id;
    const page = isHosts ? `/hosts/${candidate.host?.id}?tab=addresses` : "/addresses";
    return (
      <a href={hrefOf(page, isHosts ? {} : { filter: `ip_address = "${name}"` })}>
        <bdi>{name}</bdi>
      </a>
    );
  }
  if (entity_type === "fdb_entry")
    return (
      <a href={hrefOf("/interfaces", { filter: `fdb_macs : "${name}"` })}>
        <bdi>{name}</bdi>
      </a>
    );
  return <RecordLink type={entity_type} id={id} name={name} />;
}
