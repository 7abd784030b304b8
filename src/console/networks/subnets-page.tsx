// Subnet tree of a network, with utilization of each subnet alone and with its children.

import { useContext, useState } from "preact/hooks";
import { useAnswer } from "../api/answer.ts";
import { type DataOf, read } from "../api/client.ts";
import {
  AsAnswered,
  AsItWas,
  ChangeSign,
  type Comparison,
  ShownComparison,
  useChangeOf,
  useComparison,
  useGone,
  Was,
  WithComparison,
} from "../changes/comparison.tsx";
import { EditPlace, NewButton } from "../editing/edit-place.tsx";
import { kindTitle } from "../kinds/kinds.ts";
import { ComparisonBar, shownOfComparison } from "../lists/comparison-bar.tsx";
import { Named } from "../names/named.tsx";
import { Tags } from "../names/tags.tsx";
import { csvOf } from "../parts/curl.ts";
import { Fill } from "../parts/fill.tsx";
import { Page } from "../parts/page.tsx";
import { Problem } from "../parts/problem.tsx";
import { Waiting } from "../parts/waiting.tsx";
import { comparisonText } from "../text/compare.ts";
import { groupedDigits } from "../text/digits.ts";
import { fieldLabel } from "../text/lists.ts";
import { atQuery, isPast, network, scopeQuery } from "../time/at.ts";
import { compared } from "../time/compared.ts";
import { go, hrefHere, hrefOf, parameter } from "../url/location.ts";
import { SubnetTabs } from "./subnet-tabs.tsx";

type TreeRow = DataOf<"/api/v1/subnets/tree">[number];
type GoneSubnet = DataOf<"/api/v1/subnets">[number];
type NamedSubnet = Pick<GoneSubnet, "cidr" | "name">;

/** Rows shown without a filter. */
const ROWS_MAX = 1_000;

const FULLEST = "fullest";

/** Whether the address orders by the subnets' own utilization. */
function isFullestFirst(): boolean {
  return parameter("order") === FULLEST;
}

export function SubnetsPage() {
  /** Number of writes on this page: own changes are shown without prompting. */
  const [turn, setTurn] = useState(0);
  const { data: networks, problem, again } = useAnswer(read("/api/v1/networks", { query: { ...atQuery(), limit: 0 } }));
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
      <EditPlace
        presets={{ network_id: network.value }}
        onSaved={() => {
          again();
          setTurn((last) => last + 1);
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
      {problem !== undefined && <Problem problem={problem} again={again} />}
      {networks === undefined && problem === undefined && <Waiting />}
      {networks !== undefined && shown.length === 0 && (
        <p>
          {isPast.value ? "You had no access to any network at this time." : "You don't have access to any network."}
        </p>
      )}
      <WithComparison comparison={comparison}>
        {shown.map(({ id, name }) => (
          <NetworkTree key={`${id} ${turn}`} networkId={id} name={name} isOnly={shown.length === 1} />
        ))}
      </WithComparison>
    </Page>
  );
}

/** Number of differences and the selection shown, or the problem. */
function ComparedSubnets({ comparison: { diff, answers } }: { readonly comparison: Comparison }) {
  const failed = answers.find(({ problem }) => problem !== undefined);
  const counts = diff && { added: 0, removed: 0, changed: 0, ...diff.counts.subnet };
  return (
    <>
      {failed?.problem !== undefined && <Problem problem={failed.problem} again={failed.again} />}
      <ComparisonBar counts={counts} />
      {counts !== undefined && counts.added + counts.removed + counts.changed === 0 && (
        <p role="status">{comparisonText.nothingHere}</p>
      )}
    </>
  );
}

interface NetworkTreeProps {
  readonly networkId: string;
  readonly name: string;
  readonly isOnly: boolean;
}

function NetworkTree({ networkId, name, isOnly }: NetworkTreeProps) {
  const { data, problem, again, isEarlier } = useAnswer(
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
      {problem !== undefined && <Problem problem={problem} again={again} />}
      {data === undefined && problem === undefined && <Waiting />}
      <AsAnswered isEarlier={isEarlier}>
        <Rows networkId={networkId} name={name} present={data} />
      </AsAnswered>
    </section>
  );
}

interface RowsProps {
  readonly networkId: string;
  readonly name: string;
  /** Undefined while loading. */
  readonly present: readonly TreeRow[] | undefined;
}

/** Subnets that match the search and the comparison filter. */
function Rows({ networkId, name, present }: RowsProps) {
  const sought = (parameter("q") ?? "").toLowerCase();
  const only = useContext(ShownComparison) === null ? null : shownOfComparison();
  const changeOf = useChangeOf();
  const isShown = ({ id }: { readonly id: string }) =>
    only === null || (only === "differences" ? changeOf(id) !== undefined : changeOf(id) === only);
  const isSought = (row: NamedSubnet) => `${row.cidr} ${row.name}`.toLowerCase().includes(sought);
  const found = (present ?? []).filter((row) => isSought(row) && isShown(row));
  const rows = isFullestFirst()
    ? found.toSorted((one, other) => other.utilization.percent - one.utilization.percent)
    : found;
  const gone = useGone<GoneSubnet>("subnet").filter(
    (row) => row.network_id === networkId && isSought(row) && isShown(row),
  );
  return (
    <>
      {present !== undefined && rows.length + gone.length === 0 && only === null && (
        <p class="aside">
          {present.length > 0
            ? "No subnet matches."
            : isPast.value
              ? "There were no subnets in this network at this instant."
              : "There are no subnets in this network. Discovery finds them, or you add one."}
        </p>
      )}
      {rows.length + gone.length > 0 && (
        <TreeTable
          rows={rows.slice(0, ROWS_MAX)}
          gone={gone}
          title={name}
          isFlat={sought !== "" || only !== null || isFullestFirst()}
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
  /** Removed since the comparison instant. */
  readonly gone: readonly GoneSubnet[];
  readonly title: string;
  /** Whether rows are missing or reordered, so that depth is meaningless. */
  readonly isFlat: boolean;
}

/** Free addresses of a large IPv6 prefix have too many digits for a table. */
const roughly = (value: number | string) =>
  BigInt(value) < 2n ** 32n ? groupedDigits(value) : `≈ 2^${Math.round(Math.log2(Number(value)))}`;

function TreeTable({ rows, gone, title, isFlat }: TreeTableProps) {
  const vs = compared.value?.from;
  const hasTags = [...rows, ...gone].some(({ tags }) => tags.length > 0);
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: scrollable content must be focusable
    <section class="table" tabIndex={0} aria-label={title}>
      <table class="rows subnet-tree">
        <thead>
          <tr>
            <th scope="col">CIDR</th>
            <th scope="col">Name</th>
            <th scope="col">Type</th>
            <th scope="col">VLAN</th>
            {hasTags && <th scope="col">{fieldLabel("tags")}</th>}
            <th scope="col">Utilization</th>
            <th scope="col">Including child subnets</th>
            <th scope="col" class="is-number">
              Free
            </th>
          </tr>
        </thead>
        <tbody>
          {gone.map((row) => (
            <GoneRow key={row.id} row={row} hasTags={hasTags} />
          ))}
          {rows.map(({ id, cidr, name, depth, subnet_type, vlan_id, tags, child_count, utilization, total }) => (
            <tr key={id}>
              <th scope="row">
                <span style={{ paddingInlineStart: `${isFlat ? 0 : Math.min(depth, 12) * 1.1}rem` }}>
                  <ChangeSign id={id} />
                  <Was id={id} field="cidr" />
                  <a href={hrefOf(`/subnets/${id}`, { vs })}>{cidr}</a>
                </span>
              </th>
              <td class="subnet-name">
                <Was id={id} field="name" />
                <bdi>{name}</bdi>
              </td>
              <td>
                <Was id={id} field="subnet_type" />
                {subnet_type}
              </td>
              <td>
                <Was id={id} field="vlan_id" />
                {vlan_id !== null && <Named kind="vlan" id={vlan_id} />}
              </td>
              {hasTags && (
                <td>
                  <Was id={id} field="tags" />
                  <Tags ids={tags} />
                </td>
              )}
              <td>
                <Fill {...utilization} />
              </td>
              <td>{child_count > 0 && <Fill {...total} />}</td>
              <td class="is-number">{roughly(utilization.free)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}

/** Last version of the subnet, without utilization. */
function GoneRow({
  row: { id, cidr, name, subnet_type, vlan_id, tags },
  hasTags,
}: {
  readonly row: GoneSubnet;
  readonly hasTags: boolean;
}) {
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
        <AsItWas id={id}>{vlan_id !== null && <Named kind="vlan" id={vlan_id} />}</AsItWas>
      </td>
      {hasTags && (
        <td>
          <AsItWas id={id}>
            <Tags ids={tags} />
          </AsItWas>
        </td>
      )}
      <td colSpan={3} />
    </tr>
  );
}
