// Findings of a scan with reasons. Findings of a dry run include the old and new value of each field.

import { type DataOf, type QueryOf, read } from "../api/client.ts";
import { useReloadOn } from "../api/poll.ts";
import { useResponse } from "../api/response.ts";
import { ListPager } from "../components/list-pager.tsx";
import { NameLink } from "../components/name-link.tsx";
import { ResponseState } from "../components/response-state.tsx";
import { TabRow } from "../components/tabs.tsx";
import { OldToNew } from "../field-values/field-changes.tsx";
import { kindWords } from "../kinds/kinds.ts";
import { FilterTools, isFilterProblem, NoMatches } from "../lists/filter-tools.tsx";
import { fieldTitle } from "../names/custom-fields.ts";
import { recordPage } from "../names/record-page.ts";
import { counted } from "../text/digits.ts";
import { at, atQuery } from "../time/at.ts";
import { hrefHere, hrefOf, pageOffset, parameter } from "../url/location.ts";
import { isActive, type ScanData, WrittenRecords } from "./scan-details.tsx";

type FindingData = DataOf<"/api/v1/discovery/scans/{id}/findings">[number];
type FindingQuery = QueryOf<"/api/v1/discovery/scans/{id}/findings">;
type FindingType = FindingData["type"];

const PAGE_FINDINGS = 100;

/** Title, description and CSS class by type, in the order of their tabs. */
const TYPES: Readonly<Record<FindingType, readonly [title: string, help: string, sign?: string]>> = {
  Created: ["Created", "Records that did not exist before.", "added"],
  Changed: ["Changed", "Records whose values changed.", "changed"],
  Closed: ["Closed", "Records that the devices no longer report.", "removed"],
  Unreached: ["Not reached", "Known hosts and named targets that did not respond to SNMP."],
  Partial: ["Partially read", "Devices that could be read only in part. Known data of the unread part stays."],
  Skipped: ["Skipped", "Targets that were not scanned, with the reason."],
  Ignored: ["Ignored", "Records that were found but not restored because a user deleted them."],
  Undecided: ["Undecided", "New hosts that may be the same machine as another one."],
  Read: ["Readings", "Tables read from each device: the number of rows stored, and reasons for skipped rows."],
};
const TYPE_NAMES = Object.keys(TYPES) as FindingType[];

export function Findings({ scan }: { readonly scan: ScanData }) {
  const type = TYPE_NAMES.find((name) => name === parameter("type")) ?? null;
  const filter = parameter("filter") ?? "";
  return (
    <section class="findings">
      <h2>Findings</h2>
      <Types shown={type} counts={scan.outcome?.findings ?? null} />
      <FindingList key={`${type} ${filter}`} scan={scan} type={type} filter={filter} />
      {(scan.outcome?.findings_dropped ?? 0) > 0 && (
        <p class="aside">
          {counted(scan.outcome?.findings_dropped ?? 0, "finding", "findings")} more were counted but not stored.
        </p>
      )}
    </section>
  );
}

/** Tabs for the types of findings, with counts; counts are unknown while the scan runs. */
function Types({ shown, counts }: Readonly<{ shown: FindingType | null; counts: Record<string, number> | null }>) {
  const offered = TYPE_NAMES.filter((type) => counts === null || (counts[type] ?? 0) > 0 || type === shown);
  return (
    <TabRow label="Findings" shown={shown ?? ""}>
      <a href={hrefHere({ type: null })} aria-current={shown === null ? "true" : undefined}>
        Findings
      </a>
      {offered.map((type) => (
        <a key={type} href={hrefHere({ type })} aria-current={shown === type ? "true" : undefined}>
          {TYPES[type][0]}
          {counts !== null && <span class="aside"> {counts[type] ?? 0}</span>}
        </a>
      ))}
    </TabRow>
  );
}

function FindingList({ scan, type, filter }: Readonly<{ scan: ScanData; type: FindingType | null; filter: string }>) {
  const offset = pageOffset.value;
  const query: FindingQuery = {
    ...atQuery(),
    type: type === null ? TYPE_NAMES.filter((name) => name !== "Read") : [type],
    ...(filter === "" ? {} : { filter }),
    limit: PAGE_FINDINGS,
    offset,
  };
  const response = useResponse(read("/api/v1/discovery/scans/{id}/findings", { path: { id: scan.id }, query }));
  const { data, meta, problem, retry } = response;
  // Later pages stay as they are until the scan has ended.
  useReloadOn(response, `${scan.status} ${offset === 0 ? scan.progress?.findings : ""}`);
  return (
    <>
      {type !== null && <p class="aside">{TYPES[type][1]}</p>}
      <FilterTools kind="scan_finding" filter={filter} example={'reason : "wrong password"'} problem={problem}>
        <p class="aside list-count" role="status">
          {data !== undefined && counted(meta?.pagination.total_count ?? data.length, "finding", "findings")}
        </p>
      </FilterTools>
      {!isFilterProblem(problem) && <ResponseState data={data} problem={problem} retry={retry} />}
      {data?.length === 0 && filter !== "" && <NoMatches kinds="findings" />}
      {data?.length === 0 && filter === "" && <p>{isActive(scan) ? "Nothing yet." : "No findings."}</p>}
      {data !== undefined && data.length > 0 && (
        <ul class="difference">
          {data.map((finding, index) => (
            // Findings have no id and a stable order.
            <FindingLine key={offset + index} finding={finding} />
          ))}
        </ul>
      )}
      <ListPager rows={PAGE_FINDINGS} meta={meta} hasTotal={false} />
    </>
  );
}

/** Finding with its reason and changes. */
export function FindingLine({ finding }: { readonly finding: FindingData }) {
  const { type, entity, id, label, reason, other_id, records, addresses, changes } = finding;
  const [title, , sign = "told"] = TYPES[type];
  const page = entity === null || id === null ? null : recordPage(entity, id);
  return (
    <li class="finding">
      <span class={`sign ${sign}`}>{title}</span> {entity !== null && <span class="aside">{kindWords(entity)[0]}</span>}{" "}
      {page === null ? <bdi>{label}</bdi> : <NameLink href={hrefOf(page)} name={label} />}{" "}
      <bdi class="why">{reason}</bdi>
      {other_id !== undefined && (
        <>
          {" "}
          <a href={hrefOf(recordPage("host", other_id) as string)}>Other host</a>
        </>
      )}
      {records !== undefined && (
        <div class="aside below">
          <WrittenRecords records={records} />
        </div>
      )}
      {changes !== undefined && (
        <dl class="fields">
          {Object.entries(changes).map(([field, { from, to }]) => (
            <div key={field}>
              <dt>{fieldTitle(field)}</dt>
              <dd>
                <OldToNew field={field} before={from} after={to} from={at.value} to={at.value} />
              </dd>
            </div>
          ))}
        </dl>
      )}
      {addresses !== undefined && addresses.length > 0 && (
        <details class="more below">
          <summary>{counted(addresses.length, "address outside the subnets", "addresses outside the subnets")}</summary>
          {addresses.join(", ")}
        </details>
      )}
    </li>
  );
}
