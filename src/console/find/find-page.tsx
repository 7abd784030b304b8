// Start page: answer to the search above, with the location if the term can be located, and matching names.

import { useEffect } from "preact/hooks";
import { useAnswer } from "../api/answer.ts";
import { read } from "../api/client.ts";
import { Page } from "../parts/page.tsx";
import { Problems } from "../parts/problem.tsx";
import { network, scopeQuery } from "../time/at.ts";
import { parameter } from "../url/location.ts";
import { askedOf } from "./asked.ts";
import { LocateCard, locateRead, useLocated } from "./locate-card.tsx";
import { rememberQuestion } from "./recent.ts";
import { Results } from "./results.tsx";
import { Start } from "./start.tsx";

const RESULTS_MAX = 50;

export function FindPage() {
  const words = parameter("q");
  if (words === null) return <Start />;
  return <Found key={words} words={words} />;
}

function Found({ words }: { readonly words: string }) {
  const search = read("/api/v1/search", { query: { q: words, limit: RESULTS_MAX, ...scopeQuery() } });
  const answer = useAnswer(search, { how: "offer", network_id: network.value });
  const asked = askedOf(words);
  const located = useLocated(asked);
  const isFound = answer.data !== undefined && answer.data.length > 0;
  useEffect(() => {
    if (isFound) rememberQuestion(words);
  }, [isFound, words]);
  return (
    <Page title={words} reads={[...(asked === null ? [] : [locateRead(asked).url]), search.url]}>
      <Problems of={[located, answer]} />
      {asked !== null && <LocateCard asked={asked} answer={located} />}
      <Results words={words} answer={answer} />
    </Page>
  );
}
