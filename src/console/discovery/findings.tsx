// Findings of a scan: found, created, closed, unreachable and skipped items with reasons. A dry run reads like a diff:
// old and new value per field.

import { useEffect, useRef } from "preact/hooks";
import { useAnswer } from "../api/answer.ts";
import { type DataOf, type QueryOf, read } from "../api/client.ts";
import { usePoll } from "../api/poll.ts";
import { kindWords } from "../kinds/kinds.ts";
import { FilterField } from "../lists/filter-field.tsx";
import { fieldTitle } from "../names/custom-fields.ts";
import { recordPage } from "../names/record-page.ts";
import { Pager } from "../parts/pager.tsx";
import { Problem } from "../parts/problem.tsx";
import { TabRow } from "../parts/tabs.tsx";
import { Waiting } from "../parts/waiting.tsx";
import { counted } from "../text/digits.ts";
import { at, atQuery } from "../time/at.ts";
import { hrefHere, hrefOf, pageOffset, parameter } from "../url/location.ts";
import { Value } from "../values/value.tsx";
import { Counted, isUnderWay, type ScanData } from "./scan-words.tsx";

type FindingData = DataOf<"/api/v1/discovery/scans/{id}/findings">[number];
type FindingQuery = QueryOf<"/api/v1/discovery/scans/{id}/findings">;
type FindingType = FindingData["type"];

const PAGE_FINDINGS = 100;
const POLL_MS = 2_000;

const TYPES: readonly FindingType[] = [
  "Created",
  "Changed",
  "Closed",
  "Unreached",
  "Partial",
  "Skipped",
  "Ignored",
  "Read",
];

const SIGNS: Readonly<Partial<Record<FindingType, string>>> = {
  Created: "added",
  Changed: "changed",
  Closed: "removed",
};

export function Findings({ scan }: { readonly scan: ScanData }) {
  const type = TYPES.find((each) => each === parameter("type")) ?? null;
  const filter = parameter("filter") ?? "";
  return (
    <section class="findings">
      <h2>Findings</h2>
      <Types shown={type} counts={scan.outcome?.findings ?? null} />
      <FindingList key={`${type} ${filter}`} scan={scan} type={type} filter={filter} />
      {(scan.outcome?.findings_dropped ?? 0) > 0 && (
        <p class="aside">
          {counted(scan.outcome?.findings_dropped ?? 0, "finding", "findings")} more were counted and not kept.
        </p>
      )}
    </section>
  );
}

const DISCOVERY_TYPES: Readonly<Record<string, string>> = {
  Created: "Created",
  Changed: "Changed",
  Closed: "Closed",
  Unreached: "Not reached",
  Partial: "Partially read",
  Skipped: "Skipped",
  Ignored: "Ignored",
  Read: "Readings",
};

/** Types with findings and their counts; unknown while the scan runs. */
function Types({
  shown,
  counts,
}: {
  readonly shown: FindingType | null;
  readonly counts: Readonly<Record<string, number>> | null;
}) {
  const offered = TYPES.filter((type) => counts === null || (counts[type] ?? 0) > 0 || type === shown);
  return (
    <TabRow label="Findings" shown={shown ?? ""}>
      <a href={hrefHere({ type: null })} aria-current={shown === null ? "true" : undefined}>
        Findings
      </a>
      {offered.map((type) => (
        <a key={type} href={hrefHere({ type })} aria-current={shown === type ? "true" : undefined}>
          {DISCOVERY_TYPES[type]}
          {counts !== null && <span class="aside"> {counts[type] ?? 0}</span>}
        </a>
      ))}
    </TabRow>
  );
}

interface FindingListProps {
  readonly scan: ScanData;
  readonly type: FindingType | null;
  readonly filter: string;
}

const TYPE_MEANS: Readonly<Record<string, string>> = {
  Created: "Records that were not there before.",
  Changed: "Records that differ from the last time.",
  Closed: "What the devices no longer have.",
  Unreached: "Known hosts and named targets that did not answer SNMP.",
  Partial: "Devices of which some could not be read. What was known of that stays.",
  Skipped: "What was not asked, and why.",
  Ignored: "What was found and is not brought back, as a person has deleted it.",
  Read: "Each table of each device that was read: how many rows were kept, and why others were not.",
};

function FindingList({ scan, type, filter }: FindingListProps) {
  const offset = pageOffset.value;
  const query: FindingQuery = {
    ...atQuery(),
    type: type === null ? TYPES.filter((each) => each !== "Read") : [type],
    ...(filter === "" ? {} : { filter }),
    limit: PAGE_FINDINGS,
    offset,
  };
  const answer = useAnswer(read("/api/v1/discovery/scans/{id}/findings", { path: { id: scan.id }, query }));
  const { data, meta, problem, again } = answer;
  usePoll(answer, isUnderWay(scan) && offset === 0 ? POLL_MS : null);
  // The last findings arrive after the last poll.
  const wasUnderWay = useRef(isUnderWay(scan));
  useEffect(() => {
    if (wasUnderWay.current && !isUnderWay(scan)) again();
    wasUnderWay.current = isUnderWay(scan);
  }, [scan.status]);
  const isOfFilter = problem?.issues.some(({ path }) => path === "/filter") === true;
  return (
    <>
      {type !== null && <p class="aside">{TYPE_MEANS[type]}</p>}
      <div class="list-tools">
        <FilterField
          kind="scan_finding"
          filter={filter}
          example={'reason : "wrong password"'}
          problem={isOfFilter ? problem : undefined}
        />
        <p class="aside list-count" role="status">
          {data !== undefined && counted(meta?.pagination.total_count ?? data.length, "finding", "findings")}
        </p>
      </div>
      {problem !== undefined && !isOfFilter && <Problem problem={problem} again={again} />}
      {data === undefined && problem === undefined && <Waiting />}
      {data?.length === 0 && <NoFindings isUnderWay={isUnderWay(scan)} isFiltered={filter !== ""} />}
      {data !== undefined && data.length > 0 && (
        <ul class="difference">
          {data.map((finding, position) => (
            // Findings have no id and a stable order.
            <FindingLine key={offset + position} finding={finding} />
          ))}
        </ul>
      )}
      <Pager
        offset={offset}
        rows={PAGE_FINDINGS}
        hasMore={meta?.pagination.has_more === true}
        newer="Previous"
        older="Next"
      />
    </>
  );
}

function NoFindings({ isUnderWay, isFiltered }: { readonly isUnderWay: boolean; readonly isFiltered: boolean }) {
  if (isFiltered)
    return (
      <p>
        No findings match this filter. <a href={hrefHere({ filter: null })}>Remove the filter</a>
      </p>
    );
  return <p>{isUnderWay ? "Nothing yet." : "No findings."}</p>;
}

/** Finding with its reason and differences. */
export function FindingLine({ finding }: { readonly finding: FindingData }) {
  const { type, entity, id, label, reason, records, addresses, changes } = finding;
  const page = entity === null || id === null ? null : recordPage(entity, id);
  return (
    <li class="finding">
      <span class={`sign ${SIGNS[type] ?? "told"}`}>{DISCOVERY_TYPES[type]}</span>{" "}
      {entity !== null && <span class="aside">{kindWords(entity)[0]}</span>}{" "}
      {page === null ? (
        <bdi>{label}</bdi>
      ) : (
        <a href={hrefOf(page)}>
          <bdi>{label}</bdi>
        </a>
      )}{" "}
      <bdi class="why">{reason}</bdi>
      {records !== undefined && (
        <div class="aside below">
          <Counted records={records} />
        </div>
      )}
      {changes !== undefined && (
        <dl class="fields">
          {Object.entries(changes).map(([field, { from, to }]) => (
            <div key={field}>
              <dt>{fieldTitle(field)}</dt>
              <dd>
                <del>
                  <Value field={field} value={from} at={at.value} />
                </del>{" "}
                <span aria-hidden="true">→</span>{" "}
                <ins>
                  <Value field={field} value={to} at={at.value} />
                </ins>
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
