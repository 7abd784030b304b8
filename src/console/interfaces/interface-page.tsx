// Interface page at the instant of the address: facts, connected devices, and status history.

import { useAnswer } from "../api/answer.ts";
import { type DataOf, read } from "../api/client.ts";
import { oneOf } from "../api/one-of.ts";
import { Was } from "../changes/comparison.tsx";
import { RecordFacts } from "../changes/record-facts.tsx";
import type { FaceplatePort } from "../hosts/host-data.ts";
import { Connected } from "../hosts/port-table.tsx";
import { ifEntryDetails } from "../kinds/if-entry.ts";
import { fieldTitle } from "../names/custom-fields.ts";
import { Named } from "../names/named.tsx";
import { RecordLink } from "../names/record-link.tsx";
import { Fact } from "../parts/facts.tsx";
import { Problem } from "../parts/problem.tsx";
import { speedOf } from "../parts/speed.ts";
import { Status } from "../parts/status.tsx";
import { Waiting } from "../parts/waiting.tsx";
import { When } from "../parts/when.tsx";
import { RecordPage } from "../records/record-page.tsx";
import { fieldLabel } from "../text/lists.ts";
import { at, atQuery, isPast } from "../time/at.ts";
import { hrefOf } from "../url/location.ts";
import { Value } from "../values/value.tsx";
import { LifeStrip } from "./life-strip.tsx";

type IfEntry = DataOf<"/api/v1/if-entries">[number];

export function InterfacePage({ params: { id = "" } }: { readonly params: Readonly<Record<string, string>> }) {
  const asked = oneOf(read("/api/v1/if-entries", { query: { ids: [id], ...atQuery() } }));
  const life = read("/api/v1/if-entries/{id}/history", { path: { id }, query: atQuery() });
  return (
    <RecordPage
      kind="if_entry"
      id={id}
      url={asked.url}
      answer={useAnswer(asked, { how: "refresh", id })}
      hostId={({ host_id }) => host_id}
      about={({ host_id, if_alias }) => (
        <>
          <Named kind="host" id={host_id} /> {if_alias && <bdi>{if_alias}</bdi>}
        </>
      )}
      actions={({ host_id }) => (
        <a class="button" href={hrefOf(`/hosts/${host_id}?tab=ports`)}>
          All interfaces of the device
        </a>
      )}
      tabs={[
        {
          key: "overview",
          title: "Overview",
          show: (entry) => <Overview entry={entry} />,
          reads: [asked.url, life.url],
        },
      ]}
    />
  );
}

function Overview({ entry }: { readonly entry: IfEntry }) {
  return (
    <>
      <div class="columns">
        <section>
          <h2>The interface</h2>
          <Facts entry={entry} />
        </section>
        <section>
          <h2>What is connected</h2>
          <WhatIsConnected entry={entry} />
        </section>
      </div>
      <section class="life-part">
        <h2>Status history</h2>
        <LifeStrip id={entry.id} networkId={entry.network_id} />
      </section>
    </>
  );
}

function Facts({ entry }: { readonly entry: IfEntry }) {
  const tagged = (entry.vlan_ids ?? []).filter((vlan) => vlan !== entry.native_vlan_id);
  return (
    <dl class="facts">
      <Fact name="Host">
        <Named kind="host" id={entry.host_id} />
      </Fact>
      <Fact name={fieldLabel("oper_status")}>
        <Was id={entry.id} field="oper_status" />
        <Status status={entry.oper_status} />
      </Fact>
      <Fact name={fieldLabel("admin_status")}>
        <Was id={entry.id} field="admin_status" />
        <Status status={entry.admin_status} />
      </Fact>
      {typeof entry.speed_bps === "number" && (
        <Fact name="Speed">
          <Was id={entry.id} field="speed_bps" />
          {entry.speed_bps > 0 && speedOf(entry.speed_bps)}
        </Fact>
      )}
      {entry.native_vlan_id && (
        <Fact name={fieldLabel("native_vlan_id")}>
          <Was id={entry.id} field="native_vlan_id" />
          <Named kind="vlan" id={entry.native_vlan_id} />
        </Fact>
      )}
      {tagged.length > 0 && (
        <Fact name="Tagged">
          <Was id={entry.id} field="vlan_ids" />
          <Value field="vlan_ids" value={tagged} at={at.value} />
        </Fact>
      )}
      <RecordFacts kind="if_entry" record={entry} details={ifEntryDetails} />
      <Fact name="Index">{entry.if_index}</Fact>
      <Fact name="Network">
        <Named kind="network" id={entry.network_id} />
      </Fact>
      <Fact name={fieldLabel("updated_at")}>
        <When instant={entry.updated_at} as="both" />
      </Fact>
      {/* Last-seen times are known for the present only. */}
      {!isPast.value && entry.last_seen_at && (
        <Fact name={fieldLabel("last_seen_at")}>
          <When instant={entry.last_seen_at} as="both" />
        </Fact>
      )}
    </dl>
  );
}

const ANNOUNCED = ["lldp_sys_name", "lldp_port_id", "lldp_chassis_id", "cdp_device_id", "cdp_port_id"] as const;

/** Neighbor with its announcements, and attached stations by name, from the interface's part of the faceplate. */
function WhatIsConnected({ entry }: { readonly entry: IfEntry }) {
  const { id, host_id } = entry;
  const asked = read("/api/v1/hosts/{id}/faceplate", { path: { id: host_id }, query: { ids: [id], ...atQuery() } });
  const { data, problem, again } = useAnswer(asked, { how: "refresh", id });
  if (problem !== undefined && data === undefined) return <Problem problem={problem} again={again} />;
  if (data === undefined) return <Waiting />;
  const port = [...data.groups.flatMap(({ ports }) => ports), ...data.logical].find((each) => each.id === id);
  if (port === undefined) return null;
  if (port.neighbor === null && port.fdb_entries === 0) return <p class="aside">Nothing connected.</p>;
  return (
    <>
      <Announced entry={entry} neighbor={port.neighbor} />
      <Connected port={{ ...port, neighbor: null }} />
      {port.unused_since !== null && (
        <p class="aside">
          {port.unused_since === port.known_since ? "down since at least" : "down since"}{" "}
          <When instant={port.unused_since} as="both" />
        </p>
      )}
    </>
  );
}

interface AnnouncedProps {
  readonly entry: IfEntry;
  readonly neighbor: FaceplatePort["neighbor"];
}

function Announced({ entry, neighbor }: AnnouncedProps) {
  const announced = ANNOUNCED.flatMap((field) => {
    const value = entry[field];
    if (value === null || value === undefined) return [];
    return [{ field, text: typeof value === "string" ? value : value.value }];
  });
  if (neighbor === null && announced.length === 0) return null;
  return (
    <dl class="facts">
      {neighbor !== null && (
        <Fact name="Neighbor">
          {neighbor.host === null ? (
            <bdi>{neighbor.announced_name || "a device without a name"}</bdi>
          ) : (
            <RecordLink type="host" {...neighbor.host} />
          )}{" "}
          {neighbor.interface === null ? (
            <bdi class="aside">{neighbor.announced_port}</bdi>
          ) : (
            <RecordLink type="if_entry" {...neighbor.interface} />
          )}
        </Fact>
      )}
      {announced.map(({ field, text }) => (
        <Fact key={field} name={fieldTitle(field)}>
          <bdi>{text}</bdi>
        </Fact>
      ))}
    </dl>
  );
}
