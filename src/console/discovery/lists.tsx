// The lists of discovery: schedules with when they run next, and what must not come back.

import { type DataOf, type QueryOf, read } from "../api/client.ts";
import { kindWords } from "../kinds/kinds.ts";
import { type ListDefinition, sealed } from "../lists/definitions.tsx";
import { ListPage } from "../lists/list-page.tsx";
import { FirstOf, Instant, Reference, Text } from "../lists/values.tsx";
import { recordPage } from "../names/record-page.ts";
import { When } from "../parts/when.tsx";
import { may } from "../session/me.ts";
import { discoveryText } from "../text/discovery.ts";
import { listText } from "../text/lists.ts";
import { at, isPast, vs } from "../time/at.ts";
import { formatUtc, parseInstant } from "../time/instant.ts";
import { hrefOf } from "../url/location.ts";
import { DiscoveryTabs } from "./discovery-tabs.tsx";
import { LiftIgnored } from "./lift-ignored.tsx";

type Schedule = DataOf<"/api/v1/discovery/schedules">[number];
type Ignored = DataOf<"/api/v1/discovery/ignored">[number];

const schedules: ListDefinition<Schedule> = {
  kind: "schedule",
  path: "discovery/schedules",
  page: "/discovery/schedules",
  example: "kind = full AND is_enabled = true",
  title: discoveryText.schedules,
  one: "schedule",
  many: "schedules",
  nothingYet: discoveryText.noSchedules,
  order: "name",
  idOf: ({ id }) => id,
  nameOf: ({ name }) => name,
  shown: ["name", "network_id", "kind", "cron", "timezone", "next_run_at", "targets", "is_enabled"],
  columns: [
    {
      key: "name",
      width: 12,
      isOrdered: true,
      cell: ({ id, name }) => (
        <a href={hrefOf(`/discovery/schedules/${id}`)}>
          <Text text={name} />
        </a>
      ),
    },
    {
      key: "network_id",
      width: 8,
      isOrdered: true,
      cell: ({ network_id }) => <Reference kind="network" id={network_id} />,
    },
    { key: "kind", width: 6, isOrdered: true, cell: ({ kind }) => discoveryText.kinds[kind] ?? kind },
    { key: "cron", width: 7.5, cell: ({ cron }) => <code>{cron}</code> },
    { key: "timezone", width: 6.5, cell: ({ timezone }) => timezone },
    {
      key: "next_run_at",
      width: 9.5,
      isOfNow: true,
      cell: ({ next_run_at }) => next_run_at !== null && <When instant={next_run_at} precision="minute" />,
    },
    {
      key: "targets",
      width: 9.5,
      cell: ({ targets }) =>
        targets == null ? (
          <span class="aside">{discoveryText.itsSubnets}</span>
        ) : (
          <FirstOf items={targets}>{targets[0]}</FirstOf>
        ),
    },
    {
      key: "is_enabled",
      width: 5,
      isOrdered: true,
      cell: ({ is_enabled }) => (is_enabled ? listText.yes : listText.no),
    },
    { key: "created_at", width: 11, isOrdered: true, cell: ({ created_at }) => <Instant instant={created_at} /> },
    { key: "updated_at", width: 11, isOrdered: true, cell: ({ updated_at }) => <Instant instant={updated_at} /> },
  ],
  readWith: (query) => (window) => {
    // Of now, not of the newest transaction: when it runs next follows from the clock.
    const { at: pinned, ...rest } = window;
    const asOf = at.value === null || pinned === undefined ? {} : { at: pinned };
    return read("/api/v1/discovery/schedules", {
      query: { ...query, ...rest, ...asOf } as QueryOf<"/api/v1/discovery/schedules">,
    });
  },
  views: [],
};

const ignored: ListDefinition<Ignored> = {
  kind: "ignored",
  path: "discovery/ignored",
  page: "/discovery/ignored",
  example: 'entity = host AND label : "printer"',
  title: discoveryText.ignored,
  one: "entry",
  many: "entries",
  nothingYet: discoveryText.noIgnored,
  order: "label",
  idOf: ({ id }) => id,
  nameOf: ({ label }) => label,
  shown: ["label", "entity", "host_id", "network_id", "signs", "created_at"],
  columns: [
    {
      key: "label",
      width: 13,
      isOrdered: true,
      cell: ({ label, entity, record_id, created_at }) => {
        // It is there up to the instant at which it was deleted.
        const page = recordPage(entity, record_id);
        if (page === null) return <Text text={label} />;
        return (
          <a href={hrefOf(page, { at: formatUtc((parseInstant(created_at) ?? 0) - 1) })}>
            <Text text={label} />
          </a>
        );
      },
    },
    { key: "entity", width: 6, isOrdered: true, cell: ({ entity }) => kindWords(entity)[0] },
    { key: "host_id", width: 13, isOrdered: true, cell: ({ host_id }) => <Reference kind="host" id={host_id} /> },
    {
      key: "network_id",
      width: 8,
      isOrdered: true,
      cell: ({ network_id }) => <Reference kind="network" id={network_id} />,
    },
    {
      key: "signs",
      width: 14,
      cell: ({ signs }) => (
        <FirstOf items={signs}>
          <Text text={signs[0]} />
        </FirstOf>
      ),
    },
    { key: "created_at", width: 11, isOrdered: true, cell: ({ created_at }) => <Instant instant={created_at} /> },
  ],
  readWith: (query) => (window) =>
    read("/api/v1/discovery/ignored", { query: { ...query, ...window } as QueryOf<"/api/v1/discovery/ignored"> }),
  views: [],
};

const SCHEDULES = sealed(schedules);
const IGNORED = sealed(ignored);

export function SchedulesPage() {
  return <ListPage key="schedules" list={SCHEDULES} above={<DiscoveryTabs />} />;
}

export function IgnoredPage() {
  return (
    <ListPage
      key="ignored"
      list={IGNORED}
      above={<DiscoveryTabs />}
      selected={{
        verb: discoveryText.liftVerb,
        isOffered: !isPast.value && vs.value === null && may("liftManyIgnored"),
        show: (ids, end, done) => <LiftIgnored ids={ids} onEnd={end} onDone={done} />,
      }}
    />
  );
}
