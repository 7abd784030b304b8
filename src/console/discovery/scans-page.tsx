// Scan list, newest first: running scans with progress, others with results.

import { type QueryOf, read } from "../api/client.ts";
import { usePoll } from "../api/poll.ts";
import { useResponse } from "../api/response.ts";
import { ListPager } from "../components/list-pager.tsx";
import { Page } from "../components/page.tsx";
import { ResponseState } from "../components/response-state.tsx";
import { RowsTable } from "../components/rows-table.tsx";
import { When } from "../components/when.tsx";
import { FilterTools, isFilterProblem, NoMatches } from "../lists/filter-tools.tsx";
import { Named } from "../names/named.tsx";
import { mayStart, StartLink } from "../scanning/start-link.tsx";
import { counted } from "../text/digits.ts";
import { discoveryText } from "../text/discovery.ts";
import { isPast, scopeQuery } from "../time/at.ts";
import { hrefOf, pageOffset, parameter } from "../url/location.ts";
import { DiscoveryTabs } from "./discovery-tabs.tsx";
import { isActive, lengthOf, type ScanData, ScanProgress, ScanState, Scope, WrittenRecords } from "./scan-details.tsx";
import { isScanFormOpen, ScanNow, ScanNowLink } from "./scan-now.tsx";

const PAGE_SCANS = 50;
/** Poll interval while a scan runs, and while idle, to notice new scans. */
const RUNNING_MS = 1_500;
const IDLE_MS = 5_000;

export function ScansPage() {
  const filter = parameter("filter") ?? "";
  const query = { ...scopeQuery(), ...(filter === "" ? {} : { filter }), order_direction: "desc" as const };
  return <Scans query={query} filter={filter} />;
}

function Scans({ query, filter }: { readonly query: QueryOf<"/api/v1/discovery/scans">; readonly filter: string }) {
  const offset = pageOffset.value;
  const request = read("/api/v1/discovery/scans", { query: { ...query, limit: PAGE_SCANS, offset } });
  const response = useResponse(request);
  const { data, meta, problem, retry } = response;
  // Older pages do not change, and must not move while being read.
  const everyMs = data?.some(isActive) === true ? RUNNING_MS : IDLE_MS;
  usePoll(response, isPast.value || offset > 0 ? null : everyMs);
  return (
    <Page title="Discovery" reads={[request.url]} actions={<ScanNowLink />}>
      <DiscoveryTabs />
      {isScanFormOpen() && <ScanNow />}
      <FilterTools kind="scan" filter={filter} example="status = Failed AND kind = full" problem={problem}>
        <p class="aside list-count" role="status">
          {data !== undefined && counted(meta?.pagination.total_count ?? data.length, "scan", "scans")}
        </p>
      </FilterTools>
      {!isFilterProblem(problem) && <ResponseState data={data} problem={problem} retry={retry} />}
      {data?.length === 0 && <NoScans isFiltered={filter !== ""} />}
      {data !== undefined && data.length > 0 && <ScanTable scans={data} />}
      <ListPager rows={PAGE_SCANS} meta={meta} hasTotal={false} newer="Newer" older="Older" />
    </Page>
  );
}

function NoScans({ isFiltered }: { readonly isFiltered: boolean }) {
  if (isFiltered) return <NoMatches kinds="scans" />;
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
      className="scans"
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
      <td class="written">{outcome !== null && <WrittenRecords records={outcome.records} />}</td>
      <td class="is-number">{outcome?.hosts.unreached}</td>
    </tr>
  );
}
