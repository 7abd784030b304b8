// VLAN page at the instant of the address: native and tagged interfaces, and subnets of the VLAN.

import { useAnswer } from "../api/answer.ts";
import { type DataOf, read } from "../api/client.ts";
import type { Live } from "../api/fresh.ts";
import { oneOf } from "../api/one-of.ts";
import { AsAnswered, ChangeSign } from "../changes/comparison.tsx";
import { RecordFacts } from "../changes/record-facts.tsx";
import { vlanDetails } from "../kinds/vlan.ts";
import { Named } from "../names/named.tsx";
import { interfaceName } from "../names/shown-name.ts";
import { Pager } from "../parts/pager.tsx";
import { Problem } from "../parts/problem.tsx";
import { Status } from "../parts/status.tsx";
import { Waiting } from "../parts/waiting.tsx";
import { RecordPage } from "../records/record-page.tsx";
import { vlanText } from "../text/networks.ts";
import { atQuery } from "../time/at.ts";
import { hrefOf, pageOffset } from "../url/location.ts";
import { VlanDeviceTable } from "./vlan-device-table.tsx";

type Vlan = DataOf<"/api/v1/vlans">[number];

const PAGE_ROWS = 200;

export function VlanPage({ params: { id = "" } }: { readonly params: Readonly<Record<string, string>> }) {
  const asked = oneOf(read("/api/v1/vlans", { query: { ids: [id], ...atQuery() } }));
  return (
    <RecordPage
      kind="vlan"
      id={id}
      url={asked.url}
      answer={useAnswer(asked, { how: "refresh", id })}
      about={({ name, network_id }) => (
        <>
          {name !== "" && (
            <>
              <bdi>{name}</bdi> ·{" "}
            </>
          )}
          <Named kind="network" id={network_id} />
        </>
      )}
      tabs={[
        {
          key: "overview",
          title: "Where it is",
          show: (vlan) => <Where vlan={vlan} />,
          reads: [asked.url, interfacesOf(id, pageOffset.value).url],
          compares: [
            { ids: [id] },
            { types: ["if_entry"], filter: carrying(id) },
            { types: ["subnet"], filter: `vlan_id = "${id}"` },
          ],
        },
      ]}
    />
  );
}

function Where({ vlan }: { readonly vlan: Vlan }) {
  const { description } = vlan;
  return (
    <>
      {description !== null && (
        <p class="vlan-part">
          <bdi>{description}</bdi>
        </p>
      )}
      <dl class="facts">
        <RecordFacts kind="vlan" record={vlan} details={vlanDetails} />
      </dl>
      <h2>Subnets</h2>
      <Subnets vlan={vlan} />
      <h2>By device</h2>
      <VlanDeviceTable id={vlan.id} networkId={vlan.network_id} filter={carrying(vlan.id)} />
      <h2>Interfaces</h2>
      <Interfaces vlan={vlan} />
    </>
  );
}

function Subnets({ vlan: { id, network_id } }: { readonly vlan: Vlan }) {
  const query = { ...atQuery(), filter: `vlan_id = "${id}"`, limit: PAGE_ROWS };
  const live: Live = { how: "offer", types: ["subnet"], network_id };
  const { data, problem, again, isEarlier } = useAnswer(read("/api/v1/subnets", { query }), live);
  if (problem !== undefined && data === undefined) return <Problem problem={problem} again={again} />;
  if (data === undefined) return <Waiting />;
  if (data.length === 0) return <p class="vlan-part aside">No subnets in this VLAN.</p>;
  return (
    <AsAnswered isEarlier={isEarlier}>
      <ul class="vlan-part">
        {data.map((subnet) => (
          <li key={subnet.id}>
            <ChangeSign id={subnet.id} />
            <a href={hrefOf(`/subnets/${subnet.id}`)}>{subnet.cidr}</a> <bdi>{subnet.name}</bdi>
          </li>
        ))}
      </ul>
    </AsAnswered>
  );
}

function interfacesOf(id: string, offset: number) {
  return read("/api/v1/if-entries", { query: { ...atQuery(), filter: carrying(id), limit: PAGE_ROWS, offset } });
}

/** Filter for the interfaces of the VLAN. */
function carrying(id: string): string {
  return `native_vlan_id = "${id}" OR vlan_ids = "${id}"`;
}

function Interfaces({ vlan: { id, network_id } }: { readonly vlan: Vlan }) {
  const offset = pageOffset.value;
  const live: Live = { how: "offer", types: ["if_entry"], network_id };
  const { data, meta, problem, again, isEarlier } = useAnswer(interfacesOf(id, offset), live);
  if (problem !== undefined && data === undefined) return <Problem problem={problem} again={again} />;
  if (data === undefined) return <Waiting />;
  if (data.length === 0) return <p class="vlan-part aside">{vlanText.noInterfaces}</p>;
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: scrollable content must be focusable
    <section class="table" tabIndex={0} aria-label="Interfaces">
      <table class="rows vlan-interfaces">
        <thead>
          <tr>
            <th scope="col">Host</th>
            <th scope="col">Interface</th>
            <th scope="col">VLAN</th>
            <th scope="col">State</th>
          </tr>
        </thead>
        <tbody>
          <AsAnswered isEarlier={isEarlier}>
            {data.map((entry) => (
              <tr key={entry.id}>
                <td>
                  <ChangeSign id={entry.id} />
                  <Named kind="host" id={entry.host_id} />
                </td>
                <td class="subnet-name">
                  <a href={hrefOf(`/interfaces/${entry.id}`)}>
                    <bdi>{interfaceName(entry)}</bdi>
                  </a>{" "}
                  <bdi class="aside">{entry.if_alias}</bdi>
                </td>
                <td>{entry.native_vlan_id === id ? "native" : "tagged"}</td>
                <td>
                  <Status status={entry.oper_status} />
                </td>
              </tr>
            ))}
          </AsAnswered>
        </tbody>
      </table>
      <Pager
        offset={offset}
        rows={PAGE_ROWS}
        hasMore={meta?.pagination.has_more === true}
        total={meta?.pagination.total_count}
        newer="Before these"
        older="More"
      />
    </section>
  );
}
