// Search results of all kinds, best first: link, reason for the match, and last use of a former name.

import type { MetaOf } from "../api/client.ts";
import type { ApiResponse } from "../api/response.ts";
import { Waiting } from "../components/waiting.tsx";
import { When } from "../components/when.tsx";
import { capital, kindWords } from "../kinds/kinds.ts";
import { fieldTitle } from "../names/custom-fields.ts";
import { RecordLink } from "../names/record-link.tsx";
import { shownName } from "../names/shown-name.ts";
import { findText } from "../text/find.ts";
import { isPast, network } from "../time/at.ts";
import { instantBefore } from "../time/instant.ts";
import { hrefHere, hrefOf } from "../url/location.ts";
import { groupsOf, type Hit, pageOfHit } from "./hits.ts";
import { LastPlace } from "./last-place.tsx";

interface ResultsProps {
  readonly search: string;
  readonly response: ApiResponse<Hit[], MetaOf<"/api/v1/search">>;
}

/** Shows no problem: the page shows it above. */
export function Results({ search, response: { data, meta, problem } }: ResultsProps) {
  return (
    <>
      {data === undefined && problem === undefined && <Waiting />}
      {data?.length === 0 && <NoResults search={search} />}
      {groupsOf(data ?? []).map(([type, hits]) => (
        <section key={type} class="hit-group">
          <h2>{capital(kindWords(type)[hits.length === 1 ? 0 : 1])}</h2>
          <ol class="hits">
            {hits.map((hit) => (
              <li key={hit.id}>
                <Result hit={hit} />
              </li>
            ))}
          </ol>
        </section>
      ))}
      {meta?.search.has_more === true && <p class="aside">More matches exist: refine your search.</p>}
    </>
  );
}

/** Includes a suggestion for the next step. */
function NoResults({ search }: { readonly search: string }) {
  return (
    <>
      <p class="hits">
        {isPast.value
          ? `No match for “${search}” at this time or before.`
          : `No match for “${search}”, now or in the past.`}
      </p>
      {isPast.value && (
        <p>
          <a href={hrefHere({ at: null })}>Search now</a>
        </p>
      )}
      {network.value !== null && (
        <p>
          Only this network was searched. <a href={hrefHere({ network: null })}>Search all networks</a>
        </p>
      )}
      <p class="aside">{findText.hint}</p>
    </>
  );
}

function Result({ hit }: { readonly hit: Hit }) {
  const { type, id, name, host, network: inNetwork, match, named_until, deleted_at, last_seen } = hit;
  const page = pageOfHit(hit);
  // Links to a removed record lead to its last version.
  const at = deleted_at === null ? undefined : instantBefore(deleted_at);
  const link = <bdi>{shownName(id, name)}</bdi>;
  const isByName = match.value === name;
  return (
    <>
      {page === null ? <b>{link}</b> : <a href={hrefOf(page, { at })}>{link}</a>}
      {host !== null && type !== "host" && (
        <>
          {" "}
          on <RecordLink type="host" {...host} {...(at === undefined ? {} : { at })} />
        </>
      )}
      {inNetwork !== null && type !== "network" && (
        <span class="aside">
          {" "}
          in <bdi>{inNetwork.name}</bdi>
        </span>
      )}
      <span class="aside">
        {!isByName && (
          <>
            {" · "}
            {fieldTitle(match.field)} <bdi>{match.value}</bdi>
          </>
        )}
        {match.vendor && (
          <>
            {" · "}
            <bdi>{match.vendor}</bdi>
          </>
        )}
        {named_until !== null && (
          <>
            {" · "}
            {isByName ? "named this until" : "until"}{" "}
            {page === null ? (
              <When instant={named_until} />
            ) : (
              <a href={hrefOf(page, { at: instantBefore(named_until) })}>
                <When instant={named_until} />
              </a>
            )}
          </>
        )}
        {deleted_at !== null && (
          <>
            {" · "}
            removed <When instant={deleted_at} />
          </>
        )}
        {last_seen !== null && (
          <>
            {" · "}
            <LastPlace place={last_seen} />
          </>
        )}
      </span>
    </>
  );
}
