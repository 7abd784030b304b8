// Page of addresses and subnets that await an Admin's approval for credentials, with the effect of each approval.

import { useEffect, useMemo, useState } from "preact/hooks";
import { read } from "../api/client.ts";
import { useResponse } from "../api/response.ts";
import { ActionButton } from "../components/buttons.tsx";
import { Copied } from "../components/copied.tsx";
import { csvOf } from "../components/curl.ts";
import { ListPager } from "../components/list-pager.tsx";
import { NameLink } from "../components/name-link.tsx";
import { Page } from "../components/page.tsx";
import { ResponseState } from "../components/response-state.tsx";
import { RowsTable } from "../components/rows-table.tsx";
import { When } from "../components/when.tsx";
import { FilterTools, isFilterProblem, NoMatches } from "../lists/filter-tools.tsx";
import { Named } from "../names/named.tsx";
import { RecordLink } from "../names/record-link.tsx";
import { PlannedWrite } from "../plans/planned-write.tsx";
import { may } from "../session/me.ts";
import { changesText } from "../text/changes.ts";
import { groupedDigits } from "../text/digits.ts";
import { isPast, scopeQuery, vs } from "../time/at.ts";
import { hrefOf, pageOffset, parameter } from "../url/location.ts";
import { Consent, consequence, WAITING_TYPES, type WaitingItem } from "./consent.ts";
import { DiscoveryTabs } from "./discovery-tabs.tsx";

const PAGE_ROWS = 100;

export function WaitingPage() {
  const offset = pageOffset.value;
  const filter = parameter("filter") ?? "";
  const request = read("/api/v1/discovery/withheld", {
    query: { ...scopeQuery(), ...(filter === "" ? {} : { filter }), limit: PAGE_ROWS, offset },
  });
  const { data, meta, problem, retry } = useResponse(request, { how: "refresh", types: WAITING_TYPES });
  const [selected, setSelected] = useState<ReadonlySet<string>>(new Set());
  const [approving, setApproving] = useState<readonly WaitingItem[] | null>(null);
  const isOffered = !isPast.value && vs.value === null && may("confirmIpAddress");
  useEffect(() => {
    if (!isOffered) setApproving(null);
  }, [isOffered]);
  const selectedItems = data?.filter(({ id }) => selected.has(id)) ?? [];
  const toggle = (id: string) =>
    setSelected((last) => (last.has(id) ? new Set([...last].filter((kept) => kept !== id)) : new Set(last).add(id)));
  return (
    <Page title="Waiting for an Admin" reads={[request.url]} csv={csvOf(request.url)}>
      <DiscoveryTabs />
      <p class="aside">
        Discovery sends credentials only where an admin has approved them. Additions by members and scans wait here and
        are scanned without credentials until then.{" "}
        {!isPast.value && !may("confirmIpAddress") && "Only an Admin can approve them."}
      </p>
      <FilterTools kind="withheld" filter={filter} example='type = Address AND host.name = "core-*"' problem={problem}>
        {isOffered && selectedItems.length > 0 && approving === null && (
          <p class="list-chosen">
            <ActionButton
              label={`Approve ${groupedDigits(selectedItems.length)} selected`}
              onClick={() => setApproving(selectedItems)}
            />{" "}
            <ActionButton label="Clear selection" onClick={() => setSelected(new Set())} />
          </p>
        )}
      </FilterTools>
      {approving !== null && isOffered && (
        <Approval
          key={approving.map(({ id }) => id).join()}
          items={approving}
          onEnd={() => setApproving(null)}
          onDone={() => {
            setSelected(new Set());
            retry();
          }}
        />
      )}
      {!isFilterProblem(problem) && <ResponseState data={data} problem={problem} retry={retry} />}
      {data?.length === 0 && <NoItems isFiltered={filter !== ""} isPastEnd={offset > 0} />}
      {data !== undefined && data.length > 0 && (
        <RowsTable
          title="Waiting for an Admin"
          className="waiting-rows"
          heads={[isOffered && "Selected", "Item", "Effect", "Waiting since", "Entered by", isOffered && "Actions"]}
        >
          {data.map((row) => (
            <Row
              key={row.id}
              row={row}
              isSelected={selected.has(row.id)}
              {...(isOffered ? { onToggle: () => toggle(row.id), onApprove: () => setApproving([row]) } : {})}
            />
          ))}
        </RowsTable>
      )}
      <ListPager rows={PAGE_ROWS} meta={meta} />
    </Page>
  );
}

function NoItems({ isFiltered, isPastEnd }: { readonly isFiltered: boolean; readonly isPastEnd: boolean }) {
  if (isFiltered) return <NoMatches kinds="waiting items" />;
  if (isPastEnd) return <p>No more items on this page.</p>;
  return <p>{isPast.value ? "No items were waiting then." : "No items are waiting for approval."}</p>;
}

interface RowProps {
  readonly row: WaitingItem;
  readonly isSelected: boolean;
  /** Absent without permission. */
  onToggle?(): void;
  onApprove?(): void;
}

function Row({ row, isSelected, onToggle, onApprove }: RowProps) {
  const { type, id, value, host, network_id, since, entered_by: enteredBy } = row;
  const verb = type === "Subnet" ? "Accept" : "Confirm";
  return (
    <tr>
      {onToggle !== undefined && (
        <td>
          <input type="checkbox" aria-label={`Select ${value}`} checked={isSelected} onChange={onToggle} />
        </td>
      )}
      <td class="waiting-what">
        {type === "Subnet" ? <NameLink href={hrefOf(`/subnets/${id}`)} name={value} /> : <Copied text={value} />}{" "}
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
        <bdi>{enteredBy.name || "unknown"}</bdi>
        {enteredBy.type !== "User" && <span class="aside"> {changesText.actors[enteredBy.type]}</span>}
      </td>
      {onApprove !== undefined && (
        <td>
          <ActionButton label={verb} aria-label={`${verb}: ${value}`} onClick={onApprove} />
        </td>
      )}
    </tr>
  );
}

/** Preview of the approval, with its consequences and an undo. */
function Approval({ items, onEnd, onDone }: { readonly items: readonly WaitingItem[]; onEnd(): void; onDone(): void }) {
  const consent = useMemo(() => new Consent(items), [items]);
  return (
    <PlannedWrite
      title="Approve credentials"
      submitLabel="Approve"
      consequence="From then on, every scan may send them there, regardless of who starts it. Undo the transaction to stop that; a secret already sent cannot be recalled."
      isUndoable
      run={(options) => consent.run(options)}
      onEnd={onEnd}
      onDone={onDone}
    />
  );
}
