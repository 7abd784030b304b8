// Start page without a search: attention items, changes of the last day, and shortcuts, with links to the records.

import type { ComponentChildren } from "preact";
import { type DataOf, read } from "../api/client.ts";
import { type ApiResponse, useResponse } from "../api/response.ts";
import { ConcernLine } from "../components/concern.tsx";
import { NameLink } from "../components/name-link.tsx";
import { Page } from "../components/page.tsx";
import { Problem } from "../components/problem.tsx";
import { Section } from "../components/section.tsx";
import { Waiting } from "../components/waiting.tsx";
import { When } from "../components/when.tsx";
import { kindWords } from "../kinds/kinds.ts";
import { Named } from "../names/named.tsx";
import { RecordLink } from "../names/record-link.tsx";
import { mayStart, StartLink } from "../scanning/start-link.tsx";
import { mayNow } from "../session/me.ts";
import { pins } from "../session/pins.ts";
import { changesText } from "../text/changes.ts";
import { counted } from "../text/digits.ts";
import { findText } from "../text/find.ts";
import { atMs, isPast, scopeQuery } from "../time/at.ts";
import { instantBefore } from "../time/instant.ts";
import { hrefOf } from "../url/location.ts";
import { pageOfRequest } from "./attention.ts";
import { Latest } from "./latest.tsx";
import { recentSearches } from "./recent.ts";

type Appliance = DataOf<"/api/v1/appliance">;
type Summary = DataOf<"/api/v1/summary">;
type Attention = Summary["needs_attention"][number];

export function Start() {
  // The time bar reports invalid timestamps and unknown markers; no request is possible.
  const request = isPast.value && atMs.value === null ? null : read("/api/v1/summary", { query: scopeQuery() });
  const { data, problem, retry } = useResponse(request);
  const appliance = useResponse(mayNow("getAppliance") ? read("/api/v1/appliance") : null);
  return (
    <Page title="Find" reads={request === null ? [] : [request.url]}>
      <p class="aside start-hint">{findText.hint}</p>
      {problem !== undefined && <Problem problem={problem} retry={retry} />}
      <Shortcuts />
      {request !== null && data === undefined && problem === undefined && <Waiting />}
      {data !== undefined && isEmpty(data) && <NextStep />}
      {request !== null && data !== undefined && (
        <div class="columns start">
          <NeedsAttention summary={data} appliance={appliance} />
          <ChangedToday summary={data} />
        </div>
      )}
    </Page>
  );
}

function Shortcuts() {
  const pinned = pins();
  const recent = recentSearches();
  return (
    <>
      {pinned.length > 0 && (
        <Line title="Pinned">
          {pinned.map(({ kind, id }) => (
            <li key={id}>
              <Named kind={kind} id={id} />
            </li>
          ))}
        </Line>
      )}
      {recent.length > 0 && (
        <Line title="Recent">
          {recent.map((search) => (
            <li key={search}>
              <SearchLink search={search} />
            </li>
          ))}
        </Line>
      )}
    </>
  );
}

function Line({ title, children }: { readonly title: string; readonly children: ComponentChildren }) {
  return (
    <Section title={title} className="start-line">
      <ul>{children}</ul>
    </Section>
  );
}

function SearchLink({ search }: { readonly search: string }) {
  return <NameLink href={hrefOf("/", { q: search })} name={search} />;
}

interface NeedsAttentionProps {
  readonly summary: Summary;
  /** Not requested without permission or for the past. */
  readonly appliance: Pick<ApiResponse<Appliance>, "data" | "problem" | "isLoading" | "retry">;
}

function NeedsAttention({ summary, appliance }: NeedsAttentionProps) {
  const { data, problem, retry } = appliance;
  const concerns = isPast.value ? [] : (data?.concerns ?? []);
  // Both parts appear together, so that content being read does not shift.
  if (data === undefined && problem === undefined && mayNow("getAppliance"))
    return (
      <Section title="Needs attention">
        <Waiting />
      </Section>
    );
  return (
    <Section title="Needs attention">
      {problem !== undefined && <Problem problem={problem} retry={retry} />}
      {concerns.length === 0 && summary.needs_attention.length === 0 && <p class="aside">Nothing.</p>}
      {concerns.length > 0 && (
        <section class="trouble">
          <h3>
            <a href={hrefOf("/settings/appliance")}>The appliance</a>
          </h3>
          <ul class="concerns">
            {concerns.map((concern) => (
              <ConcernLine key={concern.code + concern.message} concern={concern} />
            ))}
          </ul>
        </section>
      )}
      {summary.needs_attention.map((attention) => (
        <AttentionItem key={attention.kind} attention={attention} summary={summary} />
      ))}
    </Section>
  );
}

const ATTENTION_TITLES = {
  FailedScan: (n: number) => `${counted(n, "scan", "scans")} failed`,
  FailedSchedule: (n: number) => `${counted(n, "schedule has", "schedules have")} a scan that failed`,
  Conflict: (n: number) => counted(n, "unresolved conflict", "unresolved conflicts"),
  Withheld: (n: number) => `${counted(n, "item needs", "items need")} an admin's approval`,
  Unreached: (n: number) => `${counted(n, "target", "targets")} did not respond to SNMP in the last scan`,
  Flapping: (n: number) => counted(n, "flapping port", "flapping ports"),
  Wandering: (n: number) => `${counted(n, "MAC address keeps", "MAC addresses keep")} moving`,
  FullSubnet: (n: number) => `${counted(n, "subnet is", "subnets are")} nearly full, not counting DHCP ranges`,
  Stale: (n: number) => `${counted(n, "host is", "hosts are")} stale`,
};

function AttentionItem({ attention: { kind, count, request }, summary }: { attention: Attention; summary: Summary }) {
  const page = pageOfRequest(request);
  const title = ATTENTION_TITLES[kind](count);
  return (
    <section class="trouble">
      <h3>{page === null ? title : <a href={hrefOf(page)}>{title}</a>}</h3>
      <ul>
        <Examples kind={kind} summary={summary} />
      </ul>
    </section>
  );
}

/** First examples of each kind of item, from the summary. */
function Examples({ kind, summary }: { readonly kind: Attention["kind"]; readonly summary: Summary }) {
  const { flapping, wandering, stale, failed_scans, conflicts } = summary;
  switch (kind) {
    case "Conflict":
      return conflicts.conflicts.map(({ type, value, parties }) => (
        <li key={type + value}>
          <SearchLink search={value} />: <Parties parties={parties} />
        </li>
      ));
    case "Flapping":
      return flapping.ports.map(({ id, name, host, changes, last }) => (
        <li key={id}>
          <RecordLink type="if_entry" id={id} name={name} />
          {host !== null && (
            <>
              {" "}
              on <RecordLink type="host" {...host} />
            </>
          )}
          <span class="aside">
            {" "}
            {counted(changes, "change", "changes")}, the last <When instant={last} as="age" />
          </span>
        </li>
      ));
    case "Wandering":
      return wandering.macs.map(({ mac_address, port_count, ports }) => (
        <li key={mac_address}>
          <SearchLink search={mac_address} /> <span class="aside">at {counted(port_count, "port", "ports")}:</span>{" "}
          <Parties parties={ports.map((port) => ({ ...port, entity_type: "if_entry" }))} />
        </li>
      ));
    case "Stale":
      return stale.hosts.map(({ id, name, stale_since }) => (
        <li key={id}>
          <RecordLink type="host" id={id} name={name} />{" "}
          <span class="aside">
            since <When instant={stale_since} />
          </span>
        </li>
      ));
    case "FailedScan":
      return failed_scans.scans.map(({ id, network_id, ended_at }) => (
        <li key={id}>
          <a href={hrefOf(`/discovery/${id}`)}>
            <When instant={ended_at} />
          </a>{" "}
          <Named kind="network" id={network_id} />
        </li>
      ));
    default:
      return null;
  }
}

interface Party {
  readonly entity_type: string;
  readonly id: string;
  readonly name: string;
  readonly host: { readonly id: string; readonly name: string } | null;
}

function Parties({ parties }: { readonly parties: readonly Party[] }) {
  return (
    <>
      {parties.map(({ entity_type, id, name, host }, index) => (
        <span key={id}>
          {index > 0 && ", "}
          <RecordLink type={entity_type} id={id} name={name} />
          {host !== null && (
            <>
              {" "}
              on <RecordLink type="host" {...host} />
            </>
          )}
        </span>
      ))}
    </>
  );
}

function isEmpty({ counts }: Summary): boolean {
  return (counts.host ?? 0) + (counts.subnet ?? 0) === 0;
}

/** Hint for an empty inventory. */
function NextStep() {
  if (isPast.value) return <p>The inventory was empty.</p>;
  return <p>The inventory is empty. {mayStart() ? <StartLink isPrimary /> : "An Admin starts the first scan."}</p>;
}

function ChangedToday({ summary }: { readonly summary: Summary }) {
  const { changes, counts, from, to } = summary;
  // Bindings are counted with their services.
  const kinds = Object.entries(changes.types).filter(
    ([type, { created, updated, deleted }]) => type !== "binding" && created + updated + deleted > 0,
  );
  return (
    <Section title={isPast.value ? "The 24 hours before" : "The last 24 hours"}>
      {counts.host === 1 && !isPast.value && mayStart() && (
        <p>
          Only one host is known so far. <StartLink />
        </p>
      )}
      {kinds.length === 0 && <p class="aside">Nothing changed.</p>}
      <ul class="start-kinds">
        {kinds.map(([type, { created, updated, deleted }]) => (
          <li key={type}>
            <a href={hrefOf("/compare", { vs: from, types: type })}>
              {changesText.day(type, { created, updated, deleted })}
            </a>
          </li>
        ))}
      </ul>
      <Records title="New" records={summary.new} />
      <Records title="Removed" records={summary.vanished} isGone />
      {kinds.length > 0 && <Latest from={from} />}
      <p class="aside">
        <When instant={from} precision="minute" /> – <When instant={to} precision="minute" />
      </p>
    </Section>
  );
}

/** @param isGone whether to show the records in their last version */
function Records({ title, records, isGone }: Readonly<{ title: string; records: Summary["new"]; isGone?: true }>) {
  if (records.length === 0) return null;
  return (
    <section class="trouble">
      <h3>{title}</h3>
      <ul>
        {records.map(({ entity_type, id, name, at }) => (
          <li key={id}>
            <span class="aside">{kindWords(entity_type)[0]}</span>{" "}
            <RecordLink type={entity_type} id={id} name={name} {...(isGone ? { at: instantBefore(at) } : {})} />{" "}
            <span class="aside">
              <When instant={at} as="age" />
            </span>
          </li>
        ))}
      </ul>
    </section>
  );
}
