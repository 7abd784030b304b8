// Scan list, newest first: running scans with progress, others with results.

import { useAnswer } from "../api/answer.ts";
import { type QueryOf, read } from "../api/client.ts";
import { usePoll } from "../api/poll.ts";
import { FilterField } from "../lists/filter-field.tsx";
import { Named } from "../names/named.tsx";
import { Page } from "../parts/page.tsx";
import { Pager } from "../parts/pager.tsx";
import { Problem } from "../parts/problem.tsx";
import { RowsTable } from "../parts/rows-table.tsx";
import { Waiting } from "../parts/waiting.tsx";
import { When } from "../parts/when.tsx";
import { mayStart, StartLink } from "../scanning/start-link.tsx";
import { counted } from "../text/digits.ts";
import { discoveryText } from "../text/discovery.ts";
import { isPast, scopeQuery } from "../time/at.ts";
import { hrefHere, hrefOf, pageOffset, parameter } from "../url/location.ts";
import { DiscoveryTabs } from "./discovery-tabs.tsx";
import { isAsked, ScanNow, ScanNowLink } from "./scan-now.tsx";
import { Counted, isUnderWay, lengthOf, type ScanData, ScanProgress, ScanState, Scope } from "./scan-words.tsx";

const PAGE_SCANS = 50;
/** Poll intervals while a scan runs, and while idle, to notice new ones. */
const RUNNING_MS = 1_500;
const IDLE_MS = 5_000;

export function ScansPage() {
  const filter = parameter("filter") ?? "";
  const query = { ...scopeQuery(), ...(filter === "" ? {} : { filter }), order_direction: "desc" as const };
  return <Scans query={query} filter={filter} />;
}

interface ScansProps {
  readonly query: QueryOf<"/api/v1/discovery/scans">;
  readonly filter: string;
}

function Scans({ query, filter }: ScansProps) {
  const offset = pageOffset.value;
  const asked = read("/api/v1/discovery/scans", { query: { ...query, limit: PAGE_SCANS, offset } });
  const answer = useAnswer(asked);
  const { data, meta, problem, again } = answer;
  // Older pages do not change, and must not move while being read.
  const everyMs = data?.some(isUnderWay) === true ? RUNNING_MS : IDLE_MS;
  usePoll(answer, isPast.value || offset > 0 ? null : everyMs);
  const isOfFilter = problem?.issues.some(({ path }) => path === "/filter") === true;
  return (
    <Page title="Discovery" reads={[asked.url]} actions={<ScanNowLink />}>
      <DiscoveryTabs />
      {isAsked() && <ScanNow />}
      <div class="list-tools">
        <FilterField
          kind="scan"
          filter={filter}
          example="status = Failed AND kind = full"
          problem={isOfFilter ? problem : undefined}
        />
        <p class="aside list-count" role="status">
          {data !== undefined && counted(meta?.pagination.total_count ?? data.length, "scan", "scans")}
        </p>
      </div>
      {problem !== undefined && !isOfFilter && <Problem problem={problem} again={again} />}
      {data === undefined && problem === undefined && <Waiting />}
      {data?.length === 0 && <NoScans isFiltered={filter !== ""} />}
      {data !== undefined && data.length > 0 && <ScanTable scans={data} />}
      <Pager
        offset={offset}
        rows={PAGE_SCANS}
        hasMore={meta?.pagination.has_more === true}
        newer="Newer"
        older="Older"
      />
    </Page>
  );
}

function NoScans({ isFiltered }: { readonly isFiltered: boolean }) {
  if (isFiltered)
    return (
      <p>
        No scans match this filter. <a href={hrefHere({ filter: null })}>Remove the filter</a>
      </p>
    );
  return (
    <p>
      No scans.
      {!isPast.value && (
        <>
          {" "}
          {mayStart() ? <StartLink /> : "An Admin starts the first scan."}{" "}
          <a href="/handbook/discovery">How discovery works</a>
        </>
      )}
    </p>
  );
}

function ScanTable({ scans }: { readonly scans: readonly ScanData[] }) {
  return (
    <RowsTable
      title="Scans"
      kind="scans"
      heads={["Requested", "Kind", "Network", "Scope", "By", "State", "Answered", "Written", "Not reached"]}
    >
      {scans.map((scan) => (
        <ScanRow key={scan.id} scan={scan} />
      ))}
    </RowsTable>
  );
}

function ScanRow({ scan }: { readonly scan: ScanData }) {
  const { id, kind, network_id, targets, requested_by, requested_at, reason, outcome, progress } = scan;
  const length = lengthOf(scan);
  return (
    <tr>
      <td>
        <a href={hrefOf(`/discovery/${id}`)}>
          <When instant={requested_at} />
        </a>
      </td>
      <td>{discoveryText.kinds[kind] ?? kind}</td>
      <td>
        <Named kind="network" id={network_id} />
      </td>
      <td class="scope">{targets === null ? "its subnets" : <Scope targets={targets} />}</td>
      <td class="by">
        <bdi>{requested_by.name}</bdi>
        {reason !== null && <bdi class="reason">{reason}</bdi>}
      </td>
      <td class="scan-state">
        <ScanState scan={scan} />
        {scan.status === "Running" && <ScanProgress scan={scan} />}
        {length !== null && <span class="aside counted">{discoveryText.took(length)}</span>}
        {outcome?.problem != null && <span class="counted">{outcome.problem}</span>}
      </td>
      <td class="is-number">{outcome?.hosts.found ?? progress?.hosts_found}</td>
      <td class="written">{outcome !== null && <Counted records={outcome.records} />}</td>
      <td class="is-number">{outcome?.hosts.unreached}</td>
    </tr>
  );
}
