// Subnet tree of each network, with the utilization of each subnet with and without its children.

import { useContext, useState } from "preact/hooks";
import { type DataOf, read } from "../api/client.ts";
import { useResponse } from "../api/response.ts";
import { csvOf } from "../components/curl.ts";
import { Fill } from "../components/fill.tsx";
import { Page } from "../components/page.tsx";
import { Problem } from "../components/problem.tsx";
import { ResponseState } from "../components/response-state.tsx";
import { RowsTable } from "../components/rows-table.tsx";
import { EditSlot, NewButton } from "../editing/edit-slot.tsx";
import { ChangedCell } from "../history/changed-value.tsx";
import {
  ChangeSign,
  type Comparison,
  MatchingComparison,
  NamedAsBefore,
  PreviousValue,
  ShownComparison,
  useChangeOf,
  useComparison,
  useRemoved,
  WithComparison,
} from "../history/comparison.tsx";
import { kindTitle } from "../kinds/kinds.ts";
import { ComparisonBar, comparisonFilter } from "../lists/comparison-bar.tsx";
import { Named } from "../names/named.tsx";
import { Tags } from "../names/tags.tsx";
import { comparisonText } from "../text/compare.ts";
import { groupedDigits } from "../text/digits.ts";
import { atQuery, isPast, network, scopeQuery } from "../time/at.ts";
import { compared } from "../time/compared.ts";
import { go, hrefHere, hrefOf, parameter } from "../url/location.ts";
import { SubnetTabs } from "./subnet-tabs.tsx";

type TreeRow = DataOf<"/api/v1/subnets/tree">[number];
type RemovedSubnet = DataOf<"/api/v1/subnets">[number];
type NamedSubnet = Pick<RemovedSubnet, "cidr" | "name">;

/** Rows shown without a filter. */
const ROWS_MAX = 1_000;

const FULLEST = "fullest";

/** Whether the URL orders by the subnets' own utilization. */
function isFullestFirst(): boolean {
  return parameter("order") === FULLEST;
}

export function SubnetsPage() {
  /** Number of writes on this page: own changes are shown without prompting. */
  const [revision, setRevision] = useState(0);
  const response = useResponse(read("/api/v1/networks", { query: { ...atQuery(), limit: 0 } }));
  const { data: networks, problem, retry } = response;
  const shown = (networks ?? []).filter(({ id }) => network.value === null || id === network.value);
  const comparison = useComparison([
    { types: ["subnet"], ...(network.value === null ? {} : { network_id: network.value }) },
  ]);
  const list = read("/api/v1/subnets", { query: { ...scopeQuery(), include: "utilization", limit: 0 } });
  return (
    <Page
      title={kindTitle("subnet")}
      reads={[list.url, ...(comparison?.urls ?? [])]}
      csv={comparison === null ? csvOf(list.url) : `${comparison.urls[0]}&format=csv`}
      actions={<NewButton kind="subnet" />}
    >
      <SubnetTabs />
      <EditSlot
        presets={{ network_id: network.value }}
        onSaved={() => {
          retry();
          setRevision((last) => last + 1);
        }}
      />
      <p class="subnet-find">
        <label>
          CIDR or name{" "}
          <input
            type="search"
            value={parameter("q") ?? ""}
            title="Show only subnets whose CIDR or name contains this"
            onInput={({ currentTarget: { value } }) => go(hrefHere({ q: value }), "replace")}
          />
        </label>{" "}
        <a
          class="button"
          href={hrefHere({ order: isFullestFirst() ? null : FULLEST })}
          aria-current={isFullestFirst() ? "true" : undefined}
        >
          Fullest first
        </a>{" "}
        <span class="aside">Utilization counts hosts, DHCP and reserved ranges, and child subnets.</span>
      </p>
      {comparison !== null && <ComparedSubnets comparison={comparison} />}
      <ResponseState data={networks} problem={problem} retry={retry} />
      {networks !== undefined && shown.length === 0 && (
        <p>
          {isPast.value ? "You had no access to any network at this time." : "You don't have access to any network."}
        </p>
      )}
      <WithComparison comparison={comparison}>
        {shown.map(({ id, name }) => (
          <NetworkTree key={`${id} ${revision}`} networkId={id} name={name} isOnly={shown.length === 1} />
        ))}
      </WithComparison>
    </Page>
  );
}

/** Number of differences and the filter for them, or the problem. */
function ComparedSubnets({ comparison: { diff, responses } }: { readonly comparison: Comparison }) {
  const failed = responses.find(({ problem }) => problem !== undefined);
  const counts = diff && { added: 0, removed: 0, changed: 0, ...diff.counts.subnet };
  return (
    <>
      {failed?.problem !== undefined && <Problem problem={failed.problem} retry={failed.retry} />}
      <ComparisonBar counts={counts} />
      {counts !== undefined && counts.added + counts.removed + counts.changed === 0 && (
        <p role="status">{comparisonText.nothingHere}</p>
      )}
    </>
  );
}

function NetworkTree({ networkId, name, isOnly }: Readonly<{ networkId: string; name: string; isOnly: boolean }>) {
  const { data, problem, retry, isEarlier } = useResponse(
    read("/api/v1/subnets/tree", { query: { ...atQuery(), network_id: networkId } }),
    { how: "offer", types: ["subnet"], network_id: networkId },
  );
  return (
    <section>
      {!isOnly && (
        <h2>
          <bdi>{name}</bdi>
        </h2>
      )}
      <ResponseState data={data} problem={problem} retry={retry} />
      <MatchingComparison isEarlier={isEarlier}>
        <Rows networkId={networkId} name={name} subnets={data} />
      </MatchingComparison>
    </section>
  );
}

interface RowsProps {
  readonly networkId: string;
  readonly name: string;
  /** Undefined while loading. */
  readonly subnets: readonly TreeRow[] | undefined;
}

/** Subnets that match the search and the comparison filter. */
function Rows({ networkId, name, subnets }: RowsProps) {
  const search = (parameter("q") ?? "").toLowerCase();
  const filter = useContext(ShownComparison) === null ? null : comparisonFilter();
  const changeOf = useChangeOf();
  const isShown = ({ id }: { readonly id: string }) =>
    filter === null || (filter === "differences" ? changeOf(id) !== undefined : changeOf(id) === filter);
  const matchesSearch = (row: NamedSubnet) => `${row.cidr} ${row.name}`.toLowerCase().includes(search);
  const matching = (subnets ?? []).filter((row) => matchesSearch(row) && isShown(row));
  const rows = isFullestFirst() ? matching.toSorted((a, b) => b.utilization.percent - a.utilization.percent) : matching;
  const removed = useRemoved<RemovedSubnet>("subnet").filter(
    (row) => row.network_id === networkId && matchesSearch(row) && isShown(row),
  );
  return (
    <>
      {subnets !== undefined && rows.length + removed.length === 0 && filter === null && (
        <p class="aside">
          {subnets.length > 0
            ? "No subnet matches."
            : isPast.value
              ? "No subnets existed in this network at this time."
              : "No subnets in this network. Discovery adds them, or you can create one."}
        </p>
      )}
      {rows.length + removed.length > 0 && (
        <TreeTable
          rows={rows.slice(0, ROWS_MAX)}
          removed={removed}
          title={name}
          isFlat={search !== "" || filter !== null || isFullestFirst()}
        />
      )}
      {rows.length > ROWS_MAX && (
        <p class="aside">Showing the first {groupedDigits(ROWS_MAX)}. Filter to see others.</p>
      )}
    </>
  );
}

interface TreeTableProps {
  readonly rows: readonly TreeRow[];
  /** Removed since the comparison timestamp. */
  readonly removed: readonly RemovedSubnet[];
  readonly title: string;
  /** Whether rows are missing or reordered, so that depth is meaningless. */
  readonly isFlat: boolean;
}

/** Free addresses of a large IPv6 prefix have too many digits for a table. */
const approximate = (value: number | string) =>
  BigInt(value) < 2n ** 32n ? groupedDigits(value) : `≈ 2^${Math.round(Math.log2(Number(value)))}`;

function TreeTable({ rows, removed, title, isFlat }: TreeTableProps) {
  const vs = compared.value?.from;
  const hasTags = [...rows, ...removed].some(({ tags }) => tags.length > 0);
  const heads = ["CIDR", "Name", "Type", "VLAN", hasTags && "Tags", "Utilization", "Including child subnets", "Free"];
  return (
    <RowsTable title={title} className="subnet-tree" heads={heads} numbers={["Free"]}>
      {removed.map((row) => (
        <RemovedRow key={row.id} row={row} hasTags={hasTags} />
      ))}
      {rows.map(({ id, cidr, name, depth, subnet_type, vlan_id, tags, child_count, utilization, total }) => (
        <tr key={id}>
          <th scope="row">
            <span style={{ paddingInlineStart: `${isFlat ? 0 : Math.min(depth, 12) * 1.1}rem` }}>
              <ChangeSign id={id} />
              <PreviousValue id={id} field="cidr" />
              <a href={hrefOf(`/subnets/${id}`, { vs })}>{cidr}</a>
            </span>
          </th>
          <ChangedCell id={id} field="name" className="subnet-name" value={<bdi>{name}</bdi>} />
          <ChangedCell id={id} field="subnet_type" value={subnet_type} />
          <ChangedCell id={id} field="vlan_id" value={vlan_id !== null && <Named kind="vlan" id={vlan_id} />} />
          {hasTags && <ChangedCell id={id} field="tags" value={<Tags ids={tags} />} />}
          <td>
            <Fill {...utilization} />
          </td>
          <td>{child_count > 0 && <Fill {...total} />}</td>
          <td class="is-number">{approximate(utilization.free)}</td>
        </tr>
      ))}
    </RowsTable>
  );
}

/** Last version of the subnet, without utilization. */
function RemovedRow({ row, hasTags }: { readonly row: RemovedSubnet; readonly hasTags: boolean }) {
  const { id, cidr, name, subnet_type, vlan_id, tags } = row;
  const at = useContext(ShownComparison)?.ends.from;
  return (
    <tr class="is-removed">
      <th scope="row">
        <ChangeSign id={id} />
        <a href={hrefOf(`/subnets/${id}`, { at })}>{cidr}</a>
      </th>
      <td class="subnet-name">
        <bdi>{name}</bdi>
      </td>
      <td>{subnet_type}</td>
      <td>
        <NamedAsBefore id={id}>{vlan_id !== null && <Named kind="vlan" id={vlan_id} />}</NamedAsBefore>
      </td>
      {hasTags && (
        <td>
          <NamedAsBefore id={id}>
            <Tags ids={tags} />
          </NamedAsBefore>
        </td>
      )}
      <td colSpan={3} />
    </tr>
  );
}
