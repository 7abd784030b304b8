// VLAN page at the URL's timestamp: facts, subnets, and native and tagged interfaces.

import { type DataOf, read } from "../api/client.ts";
import type { Live } from "../api/fresh.ts";
import { oneOf } from "../api/one-of.ts";
import { useResponse } from "../api/response.ts";
import { HeadRow } from "../components/head-row.tsx";
import { ListPager } from "../components/list-pager.tsx";
import { NameLink } from "../components/name-link.tsx";
import { ResponseState } from "../components/response-state.tsx";
import { Status } from "../components/status.tsx";
import { ChangeSign, MatchingComparison } from "../history/comparison.tsx";
import { RecordFacts } from "../history/record-facts.tsx";
import { vlanDetails } from "../kinds/vlan.ts";
import { Named } from "../names/named.tsx";
import { interfaceName } from "../names/shown-name.ts";
import { RecordPage } from "../records/record-page.tsx";
import { vlanText } from "../text/networks.ts";
import { atQuery } from "../time/at.ts";
import { hrefOf, pageOffset } from "../url/location.ts";
import { VlanDeviceTable } from "./vlan-device-table.tsx";

type Vlan = DataOf<"/api/v1/vlans">[number];

const PAGE_ROWS = 200;

export function VlanPage({ params: { id = "" } }: { readonly params: Readonly<Record<string, string>> }) {
  const request = oneOf(read("/api/v1/vlans", { query: { ids: [id], ...atQuery() } }));
  return (
    <RecordPage
      kind="vlan"
      id={id}
      url={request.url}
      response={useResponse(request, { how: "refresh", id })}
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
          title: "Overview",
          show: (vlan) => <Overview vlan={vlan} />,
          reads: [request.url, interfacesRequest(id, pageOffset.value).url],
          compares: [
            { ids: [id] },
            { types: ["if_entry"], filter: interfaceFilter(id) },
            { types: ["subnet"], filter: `vlan_id = "${id}"` },
          ],
        },
      ]}
    />
  );
}

function Overview({ vlan }: { readonly vlan: Vlan }) {
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
      <VlanDeviceTable id={vlan.id} networkId={vlan.network_id} filter={interfaceFilter(vlan.id)} />
      <h2>Interfaces</h2>
      <Interfaces vlan={vlan} />
    </>
  );
}

function Subnets({ vlan: { id, network_id } }: { readonly vlan: Vlan }) {
  const query = { ...atQuery(), filter: `vlan_id = "${id}"`, limit: PAGE_ROWS };
  const live: Live = { how: "offer", types: ["subnet"], network_id };
  const { data, problem, retry, isEarlier } = useResponse(read("/api/v1/subnets", { query }), live);
  if (data === undefined) return <ResponseState problem={problem} retry={retry} />;
  if (data.length === 0) return <p class="vlan-part aside">No subnets in this VLAN.</p>;
  return (
    <MatchingComparison isEarlier={isEarlier}>
      <ul class="vlan-part">
        {data.map((subnet) => (
          <li key={subnet.id}>
            <ChangeSign id={subnet.id} />
            <a href={hrefOf(`/subnets/${subnet.id}`)}>{subnet.cidr}</a> <bdi>{subnet.name}</bdi>
          </li>
        ))}
      </ul>
    </MatchingComparison>
  );
}

function interfacesRequest(id: string, offset: number) {
  return read("/api/v1/if-entries", { query: { ...atQuery(), filter: interfaceFilter(id), limit: PAGE_ROWS, offset } });
}

/** Filter for the interfaces of the VLAN. */
function interfaceFilter(id: string): string {
  return `native_vlan_id = "${id}" OR vlan_ids = "${id}"`;
}

function Interfaces({ vlan: { id, network_id } }: { readonly vlan: Vlan }) {
  const live: Live = { how: "offer", types: ["if_entry"], network_id };
  const { data, meta, problem, retry, isEarlier } = useResponse(interfacesRequest(id, pageOffset.value), live);
  if (data === undefined) return <ResponseState problem={problem} retry={retry} />;
  if (data.length === 0) return <p class="vlan-part aside">{vlanText.noInterfaces}</p>;
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: scrollable content must be focusable
    <section class="table" tabIndex={0} aria-label="Interfaces">
      <table class="rows vlan-interfaces">
        <HeadRow heads={["Host", "Interface", "VLAN", "State"]} />
        <tbody>
          <MatchingComparison isEarlier={isEarlier}>
            {data.map((entry) => (
              <tr key={entry.id}>
                <td>
                  <ChangeSign id={entry.id} />
                  <Named kind="host" id={entry.host_id} />
                </td>
                <td class="subnet-name">
                  <NameLink href={hrefOf(`/interfaces/${entry.id}`)} name={interfaceName(entry)} />{" "}
                  <bdi class="aside">{entry.if_alias}</bdi>
                </td>
                <td>{entry.native_vlan_id === id ? "native" : "tagged"}</td>
                <td>
                  <Status status={entry.oper_status} />
                </td>
              </tr>
            ))}
          </MatchingComparison>
        </tbody>
      </table>
      <ListPager rows={PAGE_ROWS} meta={meta} />
    </section>
  );
}
