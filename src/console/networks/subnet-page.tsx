// Subnet page at the instant of the address: facts, free addresses, utilization history and the address map.

import { useAnswer } from "../api/answer.ts";
import { type DataOf, read } from "../api/client.ts";
import { oneOf } from "../api/one-of.ts";
import { useWas, Was } from "../changes/comparison.tsx";
import { RecordFacts } from "../changes/record-facts.tsx";
import { mayWrite, NewButton } from "../editing/edit-place.tsx";
import { EditRow } from "../editing/edit-row.tsx";
import { subnetDetails } from "../kinds/subnet.ts";
import { Named } from "../names/named.tsx";
import { Copied } from "../parts/copied.tsx";
import { Fact } from "../parts/facts.tsx";
import { Fill } from "../parts/fill.tsx";
import { Problem } from "../parts/problem.tsx";
import { Waiting } from "../parts/waiting.tsx";
import { When } from "../parts/when.tsx";
import { RecordPage } from "../records/record-page.tsx";
import { ScanLink } from "../scanning/scan-offer.tsx";
import { groupedDigits } from "../text/digits.ts";
import { editText } from "../text/editing.ts";
import { fieldLabel } from "../text/lists.ts";
import { subnetText } from "../text/networks.ts";
import { at, atQuery, isPast } from "../time/at.ts";
import { hrefOf } from "../url/location.ts";
import { Value } from "../values/value.tsx";
import { hasBlocks } from "./address-map.ts";
import { Allocate } from "./allocate.tsx";
import { openBlock, SubnetAddresses } from "./subnet-addresses.tsx";
import { SubnetConflicts } from "./subnet-conflicts.tsx";
import { UtilizationLine } from "./utilization-line.tsx";

type Subnet = DataOf<"/api/v1/subnets">[number];

const NEXT_FREE = 8;

export function SubnetPage({ params: { id = "" } }: { readonly params: Readonly<Record<string, string>> }) {
  const asked = oneOf(read("/api/v1/subnets", { query: { ids: [id], ...atQuery(), include: "utilization" } }));
  const answer = useAnswer(asked, { how: "refresh", types: ["subnet", "host", "ip_range"] });
  return (
    <RecordPage
      kind="subnet"
      id={id}
      url={asked.url}
      answer={answer}
      about={({ name }) => <bdi>{name}</bdi>}
      actions={({ network_id, cidr }) => <ScanLink networkId={network_id} cidr={cidr} />}
      tabs={[
        {
          key: "overview",
          title: "Overview",
          show: (subnet) => <Overview subnet={subnet} />,
          reads: [asked.url, ...(answer.data === undefined ? [] : [addressesShown(answer.data).url])],
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

/** Read of the address map. */
function addressesShown({ id, cidr }: Subnet) {
  const part = openBlock(cidr);
  const query = { ...atQuery(), ...(part === cidr ? {} : { within: part }) };
  if (hasBlocks(part)) return read("/api/v1/subnets/{id}/blocks", { path: { id }, query });
  return read("/api/v1/subnets/{id}/addresses", { path: { id }, query: { ...query, limit: 0 } });
}

function Overview({ subnet }: { readonly subnet: Subnet }) {
  return (
    <div class="subnet-overview">
      <section>
        <h2>The subnet</h2>
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
  const { utilization, description, vlan_id } = subnet;
  const was = useWas(subnet.id);
  return (
    <dl class="facts">
      {utilization !== undefined && (
        <Fact name="Utilization">
          <Fill {...utilization} /> <span class="aside">{subnetText.parts(utilization)}</span>
        </Fact>
      )}
      {!isPast.value && (
        <Fact name="Seen lately">
          <SeenLately id={subnet.id} />
        </Fact>
      )}
      <Fact name="Type">
        <Was id={subnet.id} field="subnet_type" />
        {subnet.subnet_type}
      </Fact>
      {vlan_id !== null && (
        <Fact name="VLAN">
          <Was id={subnet.id} field="vlan_id" />
          <Named kind="vlan" id={vlan_id} />
        </Fact>
      )}
      {description !== null && (
        <Fact name="Description">
          <Was id={subnet.id} field="description" />
          <bdi>{description}</bdi>
        </Fact>
      )}
      {(subnet.tags.length > 0 || was("tags")) && (
        <Fact name={fieldLabel("tags")}>
          <Was id={subnet.id} field="tags" />
          <Value field="tags" value={subnet.tags} at={at.value} />
        </Fact>
      )}
      <RecordFacts kind="subnet" record={subnet} details={subnetDetails} />
      <Fact name="Network">
        <Named kind="network" id={subnet.network_id} />
      </Fact>
      <Fact name={fieldLabel("created_at")}>
        <When instant={subnet.created_at} as="both" />
      </Fact>
      <Fact name={fieldLabel("updated_at")}>
        <When instant={subnet.updated_at} as="both" />
      </Fact>
    </dl>
  );
}

function NextFree({ subnet }: { readonly subnet: Subnet }) {
  const { id } = subnet;
  const { data, problem, again } = useAnswer(
    read("/api/v1/subnets/{id}/free", { path: { id }, query: { ...atQuery(), count: NEXT_FREE } }),
    { how: "refresh", types: ["host", "ip_address", "ip_range", "subnet"] },
  );
  if (problem !== undefined && data === undefined) return <Problem problem={problem} again={again} />;
  if (data === undefined) return <Waiting />;
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
      <Allocate subnet={subnet} onDone={again} />
    </div>
  );
}

function Ranges({ id }: { readonly id: string }) {
  const query = { ...atQuery(), subnet_id: id, order_by: "first" as const, limit: 0 };
  const { data, problem, again } = useAnswer(read("/api/v1/ip-ranges", { query }), {
    how: "refresh",
    types: ["ip_range"],
  });
  if (problem !== undefined && data === undefined) return <Problem problem={problem} again={again} />;
  if (data === undefined) return <Waiting />;
  if (data.length === 0) return <p class="aside">No ranges.</p>;
  return (
    <table class="rows">
      <thead>
        <tr>
          <th scope="col">Range</th>
          <th scope="col">Purpose</th>
          <th scope="col">Description</th>
          {mayWrite("ip_range", "update") && <th scope="col">{editText.edit}</th>}
        </tr>
      </thead>
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

const LATELY = "-30d";

/** Number of used addresses seen recently, and a link to the others. Last-seen times have no history: present only. */
function SeenLately({ id }: { readonly id: string }) {
  const inSubnet = `subnet_id = "${id}"`;
  const countOf = (filter: string) => read("/api/v1/ip-addresses", { query: { filter, limit: 1 } });
  const live = { how: "refresh", types: ["ip_address"], everyMs: 5_000 } as const;
  const all = useAnswer(countOf(inSubnet), live).meta?.pagination.total_count;
  const unseen = `${inSubnet} AND last_seen_at < "${LATELY}"`;
  const old = useAnswer(countOf(unseen), live).meta?.pagination.total_count;
  if (all === undefined || old === undefined) return <span class="aside">…</span>;
  return (
    <>
      {groupedDigits(all - old)} of {groupedDigits(all)} addresses in the last 30 days{" "}
      {old > 0 && <a href={hrefOf("/addresses", { filter: unseen })}>{groupedDigits(old)} not</a>}
    </>
  );
}
