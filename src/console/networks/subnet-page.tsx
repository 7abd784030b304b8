// Subnet page at the URL's timestamp: facts, free addresses, utilization history and the address map.

import { type DataOf, read } from "../api/client.ts";
import { oneOf } from "../api/one-of.ts";
import { useResponse } from "../api/response.ts";
import { Copied } from "../components/copied.tsx";
import { NamedFact, TimeFact } from "../components/fact-values.tsx";
import { Fact } from "../components/facts.tsx";
import { Fill } from "../components/fill.tsx";
import { HeadRow } from "../components/head-row.tsx";
import { ResponseState } from "../components/response-state.tsx";
import { EditRow } from "../editing/edit-row.tsx";
import { mayWrite, NewButton } from "../editing/edit-slot.tsx";
import { Value } from "../field-values/value.tsx";
import { ChangedFact } from "../history/changed-value.tsx";
import { useHadOtherValue } from "../history/comparison.tsx";
import { RecordFacts } from "../history/record-facts.tsx";
import { subnetDetails } from "../kinds/subnet.ts";
import { Named } from "../names/named.tsx";
import { RecordPage } from "../records/record-page.tsx";
import { ScanLink } from "../scanning/scan-offer.tsx";
import { groupedDigits } from "../text/digits.ts";
import { editText } from "../text/editing.ts";
import { fieldLabel } from "../text/lists.ts";
import { subnetText } from "../text/networks.ts";
import { at, atQuery, isPast } from "../time/at.ts";
import { hrefOf } from "../url/location.ts";
import { hasBlocks } from "./address-map.ts";
import { ADDRESS_CHANGES } from "./address-table.tsx";
import { Allocate } from "./allocate.tsx";
import { openBlock, SubnetAddresses } from "./subnet-addresses.tsx";
import { SubnetConflicts } from "./subnet-conflicts.tsx";
import { UtilizationLine } from "./utilization-line.tsx";

type Subnet = DataOf<"/api/v1/subnets">[number];

const NEXT_FREE_COUNT = 8;

export function SubnetPage({ params: { id = "" } }: { readonly params: Readonly<Record<string, string>> }) {
  const request = oneOf(read("/api/v1/subnets", { query: { ids: [id], ...atQuery(), include: "utilization" } }));
  const response = useResponse(request, { how: "refresh", types: ["subnet", "host", "ip_range"] });
  return (
    <RecordPage
      kind="subnet"
      id={id}
      url={request.url}
      response={response}
      about={({ name }) => <bdi>{name}</bdi>}
      actions={({ network_id, cidr }) => <ScanLink networkId={network_id} cidr={cidr} />}
      tabs={[
        {
          key: "overview",
          title: "Overview",
          show: (subnet) => <Overview subnet={subnet} />,
          reads: [request.url, ...(response.data === undefined ? [] : [addressMapRequest(response.data).url])],
          compares: [
            { ids: [id] },
            { types: ["ip_address"], filter: `subnet_id = "${id}"` },
            { types: ["ip_range"], filter: `subnet_id = "${id}"` },
          ],
        },
      ]}
    />
  );
}

/** Request for the address map. */
function addressMapRequest({ id, cidr }: Subnet) {
  const part = openBlock(cidr);
  const query = { ...atQuery(), ...(part === cidr ? {} : { within: part }) };
  if (hasBlocks(part)) return read("/api/v1/subnets/{id}/blocks", { path: { id }, query });
  return read("/api/v1/subnets/{id}/addresses", { path: { id }, query: { ...query, limit: 0 } });
}

function Overview({ subnet }: { readonly subnet: Subnet }) {
  return (
    <div class="subnet-overview">
      <section>
        <h2>Details</h2>
        <Facts subnet={subnet} />
      </section>
      <section class="subnet-more">
        <h2>Next free</h2>
        <NextFree subnet={subnet} />
        <h2>Utilization over time</h2>
        <UtilizationLine id={subnet.id} createdAt={subnet.created_at} percent={subnet.utilization?.percent} />
        <h2>Conflicts</h2>
        <SubnetConflicts subnet={subnet} />
        <h2>Ranges</h2>
        <Ranges id={subnet.id} />
        <p>
          <NewButton kind="ip_range" />
        </p>
      </section>
      <SubnetAddresses subnet={subnet} />
    </div>
  );
}

function Facts({ subnet }: { readonly subnet: Subnet }) {
  const { id, utilization, description, vlan_id } = subnet;
  const hadOtherValue = useHadOtherValue(id);
  return (
    <dl class="facts">
      {utilization !== undefined && (
        <Fact name="Utilization">
          <Fill {...utilization} /> <span class="aside">{subnetText.parts(utilization)}</span>
        </Fact>
      )}
      {!isPast.value && (
        <Fact name="Recently seen">
          <SeenRecently id={subnet.id} />
        </Fact>
      )}
      <ChangedFact id={id} field="subnet_type" value={subnet.subnet_type} />
      {vlan_id !== null && <ChangedFact id={id} field="vlan_id" value={<Named kind="vlan" id={vlan_id} />} />}
      {description !== null && <ChangedFact id={id} field="description" value={<bdi>{description}</bdi>} />}
      {(subnet.tags.length > 0 || hadOtherValue("tags")) && (
        <ChangedFact id={id} field="tags" value={<Value field="tags" value={subnet.tags} at={at.value} />} />
      )}
      <RecordFacts kind="subnet" record={subnet} details={subnetDetails} />
      <NamedFact name="Network" kind="network" id={subnet.network_id} />
      <TimeFact name={fieldLabel("created_at")} instant={subnet.created_at} />
      <TimeFact name={fieldLabel("updated_at")} instant={subnet.updated_at} />
    </dl>
  );
}

function NextFree({ subnet }: { readonly subnet: Subnet }) {
  const { id } = subnet;
  const request = read("/api/v1/subnets/{id}/free", { path: { id }, query: { ...atQuery(), count: NEXT_FREE_COUNT } });
  const { data, problem, retry } = useResponse(request, ADDRESS_CHANGES);
  if (data === undefined) return <ResponseState problem={problem} retry={retry} />;
  if (data.next.length === 0) return <p class="next-free">No free addresses.</p>;
  return (
    <div class="next-free">
      <ul aria-label="Next free">
        {data.next.map((address) => (
          <li key={address}>
            <Copied text={address} />
          </li>
        ))}
      </ul>
      <p class="aside">{groupedDigits(data.available)} available: free and outside all ranges.</p>
      <Allocate subnet={subnet} onDone={retry} />
    </div>
  );
}

function Ranges({ id }: { readonly id: string }) {
  const query = { ...atQuery(), subnet_id: id, order_by: "first" as const, limit: 0 };
  const live = { how: "refresh", types: ["ip_range"] } as const;
  const { data, problem, retry } = useResponse(read("/api/v1/ip-ranges", { query }), live);
  if (data === undefined) return <ResponseState problem={problem} retry={retry} />;
  if (data.length === 0) return <p class="aside">No ranges.</p>;
  return (
    <table class="rows">
      <HeadRow heads={["Range", "Purpose", "Description", mayWrite("ip_range", "update") && editText.edit]} />
      <tbody>
        {data.map((range) => (
          <tr key={range.id}>
            <td>
              {range.first} – {range.last}
            </td>
            <td>{range.purpose}</td>
            <td class="subnet-name">
              <bdi>{range.description}</bdi>
            </td>
            {mayWrite("ip_range", "update") && (
              <td>
                <EditRow kind="ip_range" id={range.id} name={`${range.first} – ${range.last}`} />
              </td>
            )}
          </tr>
        ))}
      </tbody>
    </table>
  );
}

const RECENT = "-30d";

/** Number of used addresses seen recently, and a link to the others. Only for now: last-seen times have no history. */
function SeenRecently({ id }: { readonly id: string }) {
  const inSubnet = `subnet_id = "${id}"`;
  const countOf = (filter: string) => read("/api/v1/ip-addresses", { query: { filter, limit: 1 } });
  const live = { how: "refresh", types: ["ip_address"], everyMs: 5_000 } as const;
  const all = useResponse(countOf(inSubnet), live).meta?.pagination.total_count;
  const unseen = `${inSubnet} AND last_seen_at < "${RECENT}"`;
  const unseenCount = useResponse(countOf(unseen), live).meta?.pagination.total_count;
  if (all === undefined || unseenCount === undefined) return <span class="aside">…</span>;
  return (
    <>
      {groupedDigits(all - unseenCount)} of {groupedDigits(all)} addresses in the last 30 days{" "}
      {unseenCount > 0 && <a href={hrefOf("/addresses", { filter: unseen })}>{groupedDigits(unseenCount)} not seen</a>}
    </>
  );
}
