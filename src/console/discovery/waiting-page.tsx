// Items awaiting an Admin's approval before discovery may send them credentials: addresses to confirm and subnets to
// accept, with the effect of each. Approved singly or by selection; can be undone.

import { useEffect, useMemo, useState } from "preact/hooks";
import { useAnswer } from "../api/answer.ts";
import { read } from "../api/client.ts";
import { FilterField } from "../lists/filter-field.tsx";
import { Named } from "../names/named.tsx";
import { RecordLink } from "../names/record-link.tsx";
import { Copied } from "../parts/copied.tsx";
import { csvOf } from "../parts/curl.ts";
import { Page } from "../parts/page.tsx";
import { Pager } from "../parts/pager.tsx";
import { Problem } from "../parts/problem.tsx";
import { RowsTable } from "../parts/rows-table.tsx";
import { Waiting } from "../parts/waiting.tsx";
import { When } from "../parts/when.tsx";
import { may } from "../session/me.ts";
import { changesText } from "../text/changes.ts";
import { groupedDigits } from "../text/digits.ts";
import { isPast, scopeQuery, vs } from "../time/at.ts";
import { hrefHere, hrefOf, pageOffset, parameter } from "../url/location.ts";
import { PlannedWrite } from "../writes/planned-write.tsx";
import { Consent, consequence, WAITING_TYPES, type WaitingItem } from "./consent.ts";
import { DiscoveryTabs } from "./discovery-tabs.tsx";

const PAGE_ROWS = 100;

export function WaitingPage() {
  const offset = pageOffset.value;
  const filter = parameter("filter") ?? "";
  const asked = read("/api/v1/discovery/withheld", {
    query: { ...scopeQuery(), ...(filter === "" ? {} : { filter }), limit: PAGE_ROWS, offset },
  });
  const { data, meta, problem, again } = useAnswer(asked, { how: "refresh", types: WAITING_TYPES });
  const [marked, setMarked] = useState<ReadonlySet<string>>(new Set());
  const [acted, setActed] = useState<readonly WaitingItem[] | null>(null);
  const isOfFilter = problem?.issues.some(({ path }) => path === "/filter") === true;
  const isOffered = !isPast.value && vs.value === null && may("confirmIpAddress");
  useEffect(() => {
    if (!isOffered) setActed(null);
  }, [isOffered]);
  const toMark = data?.filter(({ id }) => marked.has(id)) ?? [];
  const mark = (id: string) =>
    setMarked((last) => (last.has(id) ? new Set([...last].filter((each) => each !== id)) : new Set(last).add(id)));
  return (
    <Page title="Waiting for an Admin" reads={[asked.url]} csv={csvOf(asked.url)}>
      <DiscoveryTabs />
      <p class="aside">
        Discovery sends credentials only where an admin has approved them. Additions by members and scans wait here and
        are scanned without credentials until then.{" "}
        {!isPast.value && !may("confirmIpAddress") && "Only an Admin can let credentials go to them."}
      </p>
      <div class="list-tools">
        <FilterField
          kind="withheld"
          filter={filter}
          example='type = Address AND host.name = "core-*"'
          problem={isOfFilter ? problem : undefined}
        />
        {isOffered && toMark.length > 0 && acted === null && (
          <p class="list-chosen">
            <button type="button" onClick={() => setActed(toMark)}>
              Let credentials go to the {groupedDigits(toMark.length)} marked
            </button>{" "}
            <button type="button" onClick={() => setMarked(new Set())}>
              Clear the marks
            </button>
          </p>
        )}
      </div>
      {acted !== null && isOffered && (
        <LetGo
          key={acted.map(({ id }) => id).join()}
          items={acted}
          onEnd={() => setActed(null)}
          onDone={() => {
            setMarked(new Set());
            again();
          }}
        />
      )}
      {problem !== undefined && !isOfFilter && <Problem problem={problem} again={again} />}
      {data === undefined && problem === undefined && <Waiting />}
      {data?.length === 0 && <Nothing isFiltered={filter !== ""} isBeyond={offset > 0} />}
      {data !== undefined && data.length > 0 && (
        <RowsTable
          title="Waiting for an Admin"
          kind="waiting-rows"
          heads={[
            isOffered && "Marked",
            "What",
            "What it would do",
            "Waiting since",
            "Entered by",
            isOffered && "Decide",
          ]}
        >
          {data.map((row) => (
            <Row
              key={row.id}
              row={row}
              isMarked={marked.has(row.id)}
              {...(isOffered ? { onMark: () => mark(row.id), onAct: () => setActed([row]) } : {})}
            />
          ))}
        </RowsTable>
      )}
      <Pager
        offset={offset}
        rows={PAGE_ROWS}
        hasMore={meta?.pagination.has_more === true}
        total={meta?.pagination.total_count}
        newer="Before"
        older="After"
      />
    </Page>
  );
}

function Nothing({ isFiltered, isBeyond }: { readonly isFiltered: boolean; readonly isBeyond: boolean }) {
  if (isFiltered)
    return (
      <p>
        Nothing that waits matches this filter. <a href={hrefHere({ filter: null })}>Remove the filter</a>
      </p>
    );
  if (isBeyond) return <p>Nothing waits on this page any more.</p>;
  return <p>{isPast.value ? "Nothing waited then." : "Nothing waits: credentials go wherever they are assigned."}</p>;
}

interface RowProps {
  readonly row: WaitingItem;
  readonly isMarked: boolean;
  /** Absent without permission. */
  onMark?(): void;
  onAct?(): void;
}

function Row({ row, isMarked, onMark, onAct }: RowProps) {
  const { type, id, value, host, network_id, since, entered_by: by } = row;
  const verb = type === "Subnet" ? "Accept" : "Confirm";
  return (
    <tr>
      {onMark !== undefined && (
        <td>
          <input type="checkbox" aria-label={`Mark ${value}`} checked={isMarked} onChange={onMark} />
        </td>
      )}
      <td class="waiting-what">
        {type === "Subnet" ? (
          <a href={hrefOf(`/subnets/${id}`)}>
            <bdi>{value}</bdi>
          </a>
        ) : (
          <Copied text={value} />
        )}{" "}
        <span class="aside">
          {type === "Subnet" ? "subnet" : "address"}{" "}
          {host !== null && (
            <>
              of <RecordLink type="host" id={host.id} name={host.name} />{" "}
            </>
          )}
          in <Named kind="network" id={network_id} />
        </span>
      </td>
      <td class="waiting-does">{consequence(row)}</td>
      <td>
        <When instant={since} as="both" precision="minute" />
      </td>
      <td class="waiting-by">
        <bdi>{by.name || "unknown"}</bdi>
        {by.type !== "User" && <span class="aside"> {changesText.actors[by.type]}</span>}
      </td>
      {onAct !== undefined && (
        <td>
          <button type="button" aria-label={`${verb}: ${value}`} onClick={onAct}>
            {verb}
          </button>
        </td>
      )}
    </tr>
  );
}

interface LetGoProps {
  readonly items: readonly WaitingItem[];
  onEnd(): void;
  onDone(): void;
}

/** Preview of the approval, with its consequences and an undo. */
function LetGo({ items, onEnd, onDone }: LetGoProps) {
  const consent = useMemo(() => new Consent(items), [items]);
  return (
    <PlannedWrite
      title="Where credentials will go"
      verb="Let them go there"
      says="From then on every scan may send them there, no matter who starts it. Undo the transaction to stop that; a secret that was sent cannot be recalled."
      isUndoable
      run={(sending) => consent.run(sending)}
      onEnd={onEnd}
      onDone={onDone}
    />
  );
}
