// Two instants beside each other: what came, what went, what changed between them, of all, of a network or of a host.

import { useAnswer } from "../api/answer.ts";
import { read } from "../api/client.ts";
import { Page } from "../parts/page.tsx";
import { Problem } from "../parts/problem.tsx";
import { Waiting } from "../parts/waiting.tsx";
import { When } from "../parts/when.tsx";
import { changesText, kindText } from "../text/changes.ts";
import { compareText } from "../text/time.ts";
import { at, atMs, network, vs, vsMs } from "../time/at.ts";
import { exactNow } from "../time/clock.ts";
import { formatUtc } from "../time/instant.ts";
import { go, hrefHere, parameter } from "../url/location.ts";
import { Difference } from "./difference.tsx";

const DAY_MS = 86_400_000;

export function ComparePage() {
  if (vs.value === null) return <Begin />;
  const host = parameter("host");
  const types = parameter("types");
  // The earlier is what is compared with, whichever of the two it was set as.
  const isSwapped = vsMs.value !== null && vsMs.value > (atMs.value ?? exactNow());
  const [from, to] = isSwapped ? [at.value, vs.value] : [vs.value, at.value];
  const query = {
    ...(from === null ? {} : { from }),
    ...(to === null ? {} : { to }),
    ...(network.value === null ? {} : { network_id: network.value }),
    ...(host === null ? {} : { host_id: host }),
    ...(types === null ? {} : { types: types.split(",") as never }),
  } as { from: string };
  const asked = read("/api/v1/diff", { query });
  return <Compared key={asked.url} url={asked.url} query={query} types={types} />;
}

function Compared({
  url,
  query,
  types,
}: {
  readonly url: string;
  readonly query: { from: string };
  readonly types: string | null;
}) {
  const { data, problem, again } = useAnswer(read("/api/v1/diff", { query }));
  const choose = (event: Event) => go(hrefHere({ types: (event.currentTarget as HTMLSelectElement).value || null }));
  return (
    <Page
      title={changesText.compareTitle}
      reads={[url]}
      csv={`${url}&format=csv`}
      about={
        data !== undefined && (
          <>
            <When instant={data.from.at} /> → <When instant={data.to.at} />
          </>
        )
      }
      actions={
        <select value={types ?? ""} onChange={choose} aria-label={changesText.kinds}>
          <option value="">{changesText.allKinds}</option>
          {Object.entries(kindText)
            .filter(([type]) => type !== "api_key")
            .map(([type, [, many]]) => (
              <option key={type} value={type}>
                {many}
              </option>
            ))}
        </select>
      }
    >
      {problem !== undefined && <Problem problem={problem} again={again} />}
      {data === undefined && problem === undefined && <Waiting />}
      {data !== undefined && (
        <>
          <p class="aside">{changesText.total(data.counts as Record<string, Record<string, number>>)}</p>
          <Difference diff={data} />
        </>
      )}
    </Page>
  );
}

function Begin() {
  const ago = (days: number) =>
    hrefHere({ vs: formatUtc(Math.floor(((atMs.value ?? exactNow()) - days * DAY_MS) / 1_000) * 1_000) });
  return (
    <Page title={changesText.compareTitle}>
      <p>{changesText.compareHint}</p>
      <p class="periods">
        <a class="button" href={ago(1)}>
          {at.value === null ? changesText.yesterday : compareText.before.day}
        </a>
        <a class="button" href={ago(7)}>
          {at.value === null ? changesText.aWeekAgo : compareText.before.week}
        </a>
      </p>
    </Page>
  );
}
