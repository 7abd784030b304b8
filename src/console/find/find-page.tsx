// Start page: results of the search above, with the location if the term can be located, and matching names.

import { useEffect } from "preact/hooks";
import { read } from "../api/client.ts";
import { useResponse } from "../api/response.ts";
import { Page } from "../components/page.tsx";
import { Problems } from "../components/problem.tsx";
import { network, scopeQuery } from "../time/at.ts";
import { parameter } from "../url/location.ts";
import { LocateCard, locateRead, useLocated } from "./locate-card.tsx";
import { locateTermOf } from "./locate-term.ts";
import { rememberSearch } from "./recent.ts";
import { Results } from "./results.tsx";
import { Start } from "./start.tsx";

const RESULTS_MAX = 50;

export function FindPage() {
  const query = parameter("q");
  if (query === null) return <Start />;
  return <SearchResults key={query} query={query} />;
}

function SearchResults({ query }: { readonly query: string }) {
  const search = read("/api/v1/search", { query: { q: query, limit: RESULTS_MAX, ...scopeQuery() } });
  const response = useResponse(search, { how: "offer", network_id: network.value });
  const term = locateTermOf(query);
  const located = useLocated(term);
  const isFound = response.data !== undefined && response.data.length > 0;
  useEffect(() => {
    if (isFound) rememberSearch(query);
  }, [isFound, query]);
  return (
    <Page title={query} reads={[...(term === null ? [] : [locateRead(term).url]), search.url]}>
      <Problems responses={[located, response]} />
      {term !== null && <LocateCard term={term} response={located} />}
      <Results search={query} response={response} />
    </Page>
  );
}
