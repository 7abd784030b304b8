// Most active records in a period: flapping ports, new and deleted records, most changes; and the most active users.

import type { ComponentChildren } from "preact";
import { type DataOf, type QueryOf, read } from "../api/client.ts";
import { type ApiResponse, useResponse } from "../api/response.ts";
import { LinkButton } from "../components/buttons.tsx";
import { NameLink } from "../components/name-link.tsx";
import { ResponseState } from "../components/response-state.tsx";
import { When } from "../components/when.tsx";
import { kindWords } from "../kinds/kinds.ts";
import { recordPage } from "../names/record-page.ts";
import { shownName } from "../names/shown-name.ts";
import { changesText } from "../text/changes.ts";
import { counted } from "../text/digits.ts";
import { ownValue } from "../text/own-value.ts";
import { atMs, network } from "../time/at.ts";
import { exactNow } from "../time/clock.ts";
import { formatUtc } from "../time/instant.ts";
import { hrefHere, hrefOf, parameter } from "../url/location.ts";

const DAY_MS = 86_400_000;
const PERIODS: Readonly<Record<string, readonly [days: number, label: string]>> = {
  "-24h": [1, "Last day"],
  "-7d": [7, "Last week"],
  "-30d": [30, "Last month"],
};

/** Entries per list. */
const LIMIT = 12;

type RecordGroups = Extract<DataOf<"/api/v1/activity">, { group_by: "record" }>["groups"];
type ActorGroups = Extract<DataOf<"/api/v1/activity">, { group_by: "actor" }>["groups"];

/** Minimum number of status changes for a port to count as flapping. */
const FLAPPING_MIN = 4;

export function ActivityLists() {
  const period = parameter("period") ?? "-24h";
  const [days] = ownValue(PERIODS, period) ?? [1];
  // Rounded to the minute, so that the URL does not change while the response is loading.
  const to = Math.ceil((atMs.value ?? exactNow()) / 60_000) * 60_000;
  const query = {
    from: formatUtc(to - days * DAY_MS),
    to: formatUtc(to),
    ...(network.value === null ? {} : { network_id: network.value }),
  };
  return (
    <>
      <p class="periods">
        {Object.entries(PERIODS).map(([key, [, label]]) => (
          <LinkButton
            key={key}
            href={hrefHere({ period: key === "-24h" ? null : key })}
            label={label}
            aria-current={key === period ? "true" : undefined}
          />
        ))}
      </p>
      <div class="columns">
        <Records title="Flapping ports" query={{ ...query, fields: ["oper_status"] }} minimum={FLAPPING_MIN} />
        <Records title="New" query={{ ...query, operation: "Created" }} minimum={1} />
        <Records title="Removed" query={{ ...query, operation: "Deleted" }} minimum={1} />
        <Records title="Most changed" query={query} minimum={2} />
        <Actors query={query} />
      </div>
    </>
  );
}

type ActivityQuery = Omit<QueryOf<"/api/v1/activity">, "group_by" | "limit">;

const changeCount = (count: number) => counted(count, "change", "changes");

function Records({ title, query, minimum }: Readonly<{ title: string; query: ActivityQuery; minimum: number }>) {
  const response = useResponse(read("/api/v1/activity", { query: { ...query, group_by: "record", limit: LIMIT } }));
  const { data } = response;
  const groups =
    data?.group_by === "record" ? (data.groups as RecordGroups).filter(({ total }) => total >= minimum) : [];
  return (
    <ActivityList title={title} response={response} isEmpty={groups.length === 0}>
      {groups.map(({ entity_type, id, name, host, last, total }) => {
        const page = recordPage(entity_type, id) ?? (host === null ? null : recordPage("host", host.id));
        const label = shownName(id, name);
        return (
          <li key={id}>
            <span class="aside">{kindWords(entity_type)[0]}</span>{" "}
            {page === null ? <bdi>{label}</bdi> : <NameLink href={hrefOf(page)} name={label} />}{" "}
            {host !== null && (
              <>
                of <NameLink href={hrefOf(`/hosts/${host.id}`)} name={host.name} />
              </>
            )}{" "}
            <span class="aside">
              {query.operation === undefined && `${changeCount(total)}, `}
              <When instant={last} precision="minute" />
            </span>
          </li>
        );
      })}
    </ActivityList>
  );
}

function Actors({ query }: { readonly query: ActivityQuery }) {
  const response = useResponse(read("/api/v1/activity", { query: { ...query, group_by: "actor", limit: LIMIT } }));
  const groups = response.data?.group_by === "actor" ? (response.data.groups as ActorGroups) : [];
  return (
    <ActivityList title="Most active" response={response} isEmpty={groups.length === 0}>
      {groups.map(({ actor, last, total }) => (
        <li key={`${actor.type} ${actor.id}`}>
          <bdi>{actor.name}</bdi> <span class="aside">({changesText.actors[actor.type]})</span>{" "}
          <span class="aside">
            {changeCount(total)}, <When instant={last} precision="minute" />
          </span>
        </li>
      ))}
    </ActivityList>
  );
}

interface ActivityListProps {
  readonly title: string;
  readonly response: ApiResponse<unknown>;
  readonly isEmpty: boolean;
  readonly children: ComponentChildren;
}

function ActivityList({ title, response, isEmpty, children }: ActivityListProps) {
  return (
    <section>
      <h2>{title}</h2>
      <ResponseState {...response} />
      {response.data !== undefined && isEmpty && <p class="aside">None.</p>}
      <ul class="activity-list">{children}</ul>
    </section>
  );
}
