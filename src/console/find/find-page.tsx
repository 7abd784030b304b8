// The start: what was asked for in the box above, best first.

import { useAnswer } from "../api/answer.ts";
import { type DataOf, read } from "../api/client.ts";
import { Page } from "../parts/page.tsx";
import { Problem } from "../parts/problem.tsx";
import { Waiting } from "../parts/waiting.tsx";
import { When } from "../parts/when.tsx";
import { findText } from "../text/find.ts";
import { scopeQuery } from "../time/at.ts";
import { parameter } from "../url/location.ts";

type Hit = DataOf<"/api/v1/search">[number];

export function FindPage() {
  const words = parameter("q");
  if (words === null)
    return (
      <Page title={findText.title}>
        <p>{findText.hint}</p>
      </Page>
    );
  return <Results words={words} />;
}

function Results({ words }: { readonly words: string }) {
  const asked = read("/api/v1/search", { query: { q: words, limit: 50, ...scopeQuery() } });
  const { data, meta, problem, again } = useAnswer(asked);
  return (
    <Page title={words} reads={[asked.url]}>
      {problem !== undefined && <Problem problem={problem} again={again} />}
      {data === undefined && problem === undefined && <Waiting />}
      {data?.length === 0 && <p>{findText.nothing(words)}</p>}
      {data !== undefined && data.length > 0 && (
        <ol class="hits">
          {data.map((hit) => (
            <li key={hit.type + hit.id}>
              <Result hit={hit} />
            </li>
          ))}
        </ol>
      )}
      {meta?.search.has_more === true && <p class="aside">{findText.hasMore}</p>}
    </Page>
  );
}

function Result({ hit }: { readonly hit: Hit }) {
  return (
    <>
      <span class="kind">{hit.type}</span> <b>{hit.name}</b>
      {hit.host !== null && ` ${findText.onHost} ${hit.host.name}`}
      {hit.network !== null && ` ${findText.inNetwork} ${hit.network.name}`}
      <span class="aside">
        {" "}
        {findText.by} {hit.match.field}: {hit.match.value}
        {hit.named_until !== null && (
          <>
            , {findText.namedUntil} <When instant={hit.named_until} />
          </>
        )}
        {hit.deleted_at !== null && (
          <>
            , {findText.deletedAt} <When instant={hit.deleted_at} />
          </>
        )}
      </span>
    </>
  );
}
