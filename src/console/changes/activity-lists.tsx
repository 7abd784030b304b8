// Most active records of a period: flapping ports, moving MAC addresses, new and gone records, and their authors. Each
// entry links to the records.

import { useAnswer } from "../api/answer.ts";
import { type DataOf, read } from "../api/client.ts";
import { kindWords } from "../kinds/kinds.ts";
import { recordPage } from "../names/record-page.ts";
import { shownName } from "../names/shown-name.ts";
import { Problem } from "../parts/problem.tsx";
import { Waiting } from "../parts/waiting.tsx";
import { When } from "../parts/when.tsx";
import { changesText } from "../text/changes.ts";
import { counted } from "../text/digits.ts";
import { ownValue } from "../text/own-value.ts";
import { atMs, network } from "../time/at.ts";
import { exactNow } from "../time/clock.ts";
import { formatUtc } from "../time/instant.ts";
import { hrefHere, hrefOf, parameter } from "../url/location.ts";

const DAY_MS = 86_400_000;
const PERIODS: Readonly<Record<string, number>> = { "-24h": DAY_MS, "-7d": 7 * DAY_MS, "-30d": 30 * DAY_MS };

const SHOWN = 12;

type RecordGroups = Extract<DataOf<"/api/v1/activity">, { group_by: "record" }>["groups"];
type ActorGroups = Extract<DataOf<"/api/v1/activity">, { group_by: "actor" }>["groups"];

/** Fewer transitions are chance. */
const FLAPPING_MIN = 4;

const DAYS: Readonly<Record<string, string>> = { "-24h": "Last day", "-7d": "Last week", "-30d": "Last month" };

export function ActivityLists() {
  const period = parameter("period") ?? "-24h";
  const length = ownValue(PERIODS, period) ?? DAY_MS;
  // Rounded to the minute, so that the request stays the same while its answer is read.
  const to = Math.ceil((atMs.value ?? exactNow()) / 60_000) * 60_000;
  const query = {
    from: formatUtc(to - length),
    to: formatUtc(to),
    ...(network.value === null ? {} : { network_id: network.value }),
  };
  return (
    <>
      <p class="periods">
        {Object.keys(PERIODS).map((each) => (
          <a
            key={each}
            class="button"
            href={hrefHere({ period: each === "-24h" ? null : each })}
            aria-current={each === period ? "true" : undefined}
          >
            {ownValue(DAYS, each)}
          </a>
        ))}
      </p>
      <div class="columns">
        <Records title="Flapping ports" query={{ ...query, fields: ["oper_status"] }} least={FLAPPING_MIN} />
        <Records title="New" query={{ ...query, operation: "Created" }} least={1} />
        <Records title="Gone" query={{ ...query, operation: "Deleted" }} least={1} />
        <Records title="Most changed" query={query} least={2} />
        <Actors query={query} />
      </div>
    </>
  );
}

interface ActivityQuery {
  readonly from: string;
  readonly to: string;
  readonly network_id?: string;
  readonly operation?: "Created" | "Deleted";
  readonly fields?: string[];
}

const times = (count: number) => counted(count, "change", "changes");

function Records({
  title,
  query,
  least,
}: {
  readonly title: string;
  readonly query: ActivityQuery;
  readonly least: number;
}) {
  const { data, problem, again } = useAnswer(
    read("/api/v1/activity", { query: { ...query, group_by: "record", limit: SHOWN } }),
  );
  const groups = data?.group_by === "record" ? (data.groups as RecordGroups).filter(({ total }) => total >= least) : [];
  return (
    <section>
      <h2>{title}</h2>
      {problem !== undefined && <Problem problem={problem} again={again} />}
      {data === undefined && problem === undefined && <Waiting />}
      {data !== undefined && groups.length === 0 && <p class="aside">None.</p>}
      <ul class="most">
        {groups.map(({ entity_type, id, name, host, last, total }) => {
          const page = recordPage(entity_type, id) ?? (host === null ? null : recordPage("host", host.id));
          const shown = <bdi>{shownName(id, name)}</bdi>;
          return (
            <li key={id}>
              <span class="aside">{kindWords(entity_type)[0]}</span>{" "}
              {page === null ? shown : <a href={hrefOf(page)}>{shown}</a>}{" "}
              {host !== null && (
                <>
                  of{" "}
                  <a href={hrefOf(`/hosts/${host.id}`)}>
                    <bdi>{host.name}</bdi>
                  </a>
                </>
              )}{" "}
              <span class="aside">
                {query.operation === undefined && `${times(total)}, `}
                <When instant={last} precision="minute" />
              </span>
            </li>
          );
        })}
      </ul>
    </section>
  );
}

function Actors({ query }: { readonly query: ActivityQuery }) {
  const { data, problem, again } = useAnswer(
    read("/api/v1/activity", { query: { ...query, group_by: "actor", limit: SHOWN } }),
  );
  const groups = data?.group_by === "actor" ? (data.groups as ActorGroups) : [];
  return (
    <section>
      <h2>Most active</h2>
      {problem !== undefined && <Problem problem={problem} again={again} />}
      {data === undefined && problem === undefined && <Waiting />}
      {data !== undefined && groups.length === 0 && <p class="aside">None.</p>}
      <ul class="most">
        {groups.map(({ actor, last, total }) => (
          <li key={`${actor.type} ${actor.id}`}>
            <bdi>{actor.name}</bdi> <span class="aside">({changesText.actors[actor.type]})</span>{" "}
            <span class="aside">
              {times(total)}, <When instant={last} precision="minute" />
            </span>
          </li>
        ))}
      </ul>
    </section>
  );
}
