// The subnets of a network within one another, and how full they are: each itself, and with all within it.

import { useAnswer } from "../api/answer.ts";
import { type DataOf, read } from "../api/client.ts";
import { Named } from "../names/named.tsx";
import { csvOf } from "../parts/curl.ts";
import { Page } from "../parts/page.tsx";
import { Problem } from "../parts/problem.tsx";
import { Waiting } from "../parts/waiting.tsx";
import { navigationText } from "../text/navigation.ts";
import { subnetText } from "../text/networks.ts";
import { atQuery, network, scopeQuery } from "../time/at.ts";
import { go, hrefHere, hrefOf, parameter } from "../url/location.ts";
import { Fill } from "./fill.tsx";

type TreeRow = DataOf<"/api/v1/subnets/tree">[number];

/** As many as one looks through without a filter. */
const ROWS_MAX = 1_000;

export function SubnetsPage() {
  const { data: networks, problem, again } = useAnswer(read("/api/v1/networks", { query: { ...atQuery(), limit: 0 } }));
  const shown = (networks ?? []).filter(({ id }) => network.value === null || id === network.value);
  const list = read("/api/v1/subnets", { query: { ...scopeQuery(), include: "utilization", limit: 0 } });
  return (
    <Page title={navigationText.subnets} reads={[list.url]} csv={csvOf(list.url)}>
      <p class="subnet-find">
        <label>
          {subnetText.find}{" "}
          <input
            type="search"
            value={parameter("q") ?? ""}
            title={subnetText.findHint}
            onInput={({ currentTarget: { value } }) => go(hrefHere({ q: value }), "replace")}
          />
        </label>
      </p>
      {problem !== undefined && <Problem problem={problem} again={again} />}
      {networks === undefined && problem === undefined && <Waiting />}
      {networks !== undefined && shown.length === 0 && <p>{subnetText.noNetworks}</p>}
      {shown.map(({ id, name }) => (
        <NetworkTree key={id} networkId={id} name={name} isOnly={shown.length === 1} />
      ))}
    </Page>
  );
}

interface NetworkTreeProps {
  readonly networkId: string;
  readonly name: string;
  readonly isOnly: boolean;
}

function NetworkTree({ networkId, name, isOnly }: NetworkTreeProps) {
  const { data, problem, again } = useAnswer(
    read("/api/v1/subnets/tree", { query: { ...atQuery(), network_id: networkId } }),
    { how: "offer", types: ["subnet"], network_id: networkId },
  );
  const sought = (parameter("q") ?? "").toLowerCase();
  const rows = (data ?? []).filter((row) => `${row.cidr} ${row.name}`.toLowerCase().includes(sought));
  return (
    <section>
      {!isOnly && (
        <h2>
          <bdi>{name}</bdi>
        </h2>
      )}
      {problem !== undefined && <Problem problem={problem} again={again} />}
      {data === undefined && problem === undefined && <Waiting />}
      {data !== undefined && rows.length === 0 && (
        <p class="aside">{data.length === 0 ? subnetText.noSubnets : subnetText.nothingFound}</p>
      )}
      {rows.length > 0 && <TreeTable rows={rows.slice(0, ROWS_MAX)} title={name} isFlat={sought !== ""} />}
      {rows.length > ROWS_MAX && <p class="aside">{subnetText.cut(ROWS_MAX)}</p>}
    </section>
  );
}

interface TreeTableProps {
  readonly rows: readonly TreeRow[];
  readonly title: string;
  /** Where some are left out, depth says nothing. */
  readonly isFlat: boolean;
}

function TreeTable({ rows, title, isFlat }: TreeTableProps) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls can be focused
    <section class="table" tabIndex={0} aria-label={title}>
      <table class="rows subnet-tree">
        <thead>
          <tr>
            <th scope="col">{subnetText.cidr}</th>
            <th scope="col">{subnetText.name}</th>
            <th scope="col">{subnetText.type}</th>
            <th scope="col">{subnetText.vlan}</th>
            <th scope="col">{subnetText.used}</th>
            <th scope="col">{subnetText.usedWithin}</th>
            <th scope="col" class="is-number">
              {subnetText.free}
            </th>
          </tr>
        </thead>
        <tbody>
          {rows.map(({ id, cidr, name, depth, subnet_type, vlan_id, child_count, utilization, total }) => (
            <tr key={id}>
              <th scope="row">
                <span style={{ paddingInlineStart: `${isFlat ? 0 : Math.min(depth, 12) * 1.1}rem` }}>
                  <a href={hrefOf(`/subnets/${id}`)}>{cidr}</a>
                </span>
              </th>
              <td class="subnet-name">
                <bdi>{name}</bdi>
              </td>
              <td>{subnet_type}</td>
              <td>{vlan_id !== null && <Named kind="vlans" id={vlan_id} />}</td>
              <td>
                <Fill {...utilization} />
              </td>
              <td>{child_count > 0 && <Fill {...total} />}</td>
              <td class="is-number">{subnetText.number(utilization.free)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}
