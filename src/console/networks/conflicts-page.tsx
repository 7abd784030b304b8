// Conflicts page: unique values claimed by several records, the records involved, and acceptances.

import { type DataOf, read } from "../api/client.ts";
import { useResponse } from "../api/response.ts";
import { Copied } from "../components/copied.tsx";
import { csvOf } from "../components/curl.ts";
import { Page } from "../components/page.tsx";
import { ResponseState } from "../components/response-state.tsx";
import { RowsTable } from "../components/rows-table.tsx";
import { TabRow } from "../components/tabs.tsx";
import { When } from "../components/when.tsx";
import { FilterTools, isFilterProblem } from "../lists/filter-tools.tsx";
import { conflictText } from "../text/networks.ts";
import { scopeQuery } from "../time/at.ts";
import { hrefHere, parameter } from "../url/location.ts";
import { AcceptConflict } from "./accept-conflict.tsx";
import { ConflictParty } from "./conflict-party.tsx";

type Conflict = DataOf<"/api/v1/conflicts">[number];

const ROWS_MAX = 500;
const VIEWS = ["open", "accepted", "all"] as const;

const NO_CONFLICTS = {
  open: "There are no open conflicts.",
  accepted: "No conflict has been accepted.",
  all: "There are no conflicts.",
};

const TAB_TITLES = { open: "Open", accepted: "Accepted", all: "All" };

export function ConflictsPage() {
  const shown = VIEWS.find((view) => view === parameter("show")) ?? "open";
  const accepted = shown === "all" ? {} : { accepted: shown === "accepted" };
  const filter = parameter("filter") ?? "";
  const request = read("/api/v1/conflicts", {
    query: { ...scopeQuery(), ...accepted, ...(filter === "" ? {} : { filter }), limit: ROWS_MAX },
  });
  const live = { how: "offer", types: ["host", "ip_address", "if_entry", "subnet"] } as const;
  const { data, meta, problem, retry } = useResponse(request, live);
  const remaining = (meta?.pagination.total_count ?? 0) - (data?.length ?? 0);
  return (
    <Page title="Conflicts" reads={[request.url]} csv={csvOf(request.url)}>
      <TabRow label="Conflicts" shown={shown}>
        {VIEWS.map((view) => (
          <a
            key={view}
            href={hrefHere({ show: view === "open" ? null : view })}
            aria-current={view === shown ? "true" : undefined}
          >
            {TAB_TITLES[view]}
          </a>
        ))}
      </TabRow>
      <FilterTools kind="conflict" filter={filter} example={'type = Address AND value : "10.20."'} problem={problem} />
      {!isFilterProblem(problem) && <ResponseState data={data} problem={problem} retry={retry} />}
      {data?.length === 0 && <p>{filter === "" ? NO_CONFLICTS[shown] : "No conflict matches the filter."}</p>}
      {data !== undefined && data.length > 0 && <ConflictTable conflicts={data} onChanged={retry} />}
      {remaining > 0 && <p class="aside">{conflictText.more(remaining)}</p>}
    </Page>
  );
}

function ConflictTable({ conflicts, onChanged }: { readonly conflicts: readonly Conflict[]; onChanged(): void }) {
  return (
    <RowsTable title="Conflicts" className="address-rows" heads={["Type", "Value", "Since", "Claimed by", "Accepted"]}>
      {conflicts.map((conflict) => {
        const { type, value, fingerprint, since, parties, acceptance } = conflict;
        return (
          <tr key={fingerprint}>
            <td>{type}</td>
            <td>
              <Copied text={value} />
            </td>
            <td>{since !== null && <When instant={since} precision="minute" />}</td>
            <td class="conflict-claims">
              {parties.map((party) => (
                <ConflictParty key={party.id} party={party} />
              ))}
            </td>
            <td class="subnet-name">
              {acceptance !== null && (
                <>
                  <bdi>{acceptance.accepted_by.name}</bdi> <When instant={acceptance.accepted_at} precision="minute" />
                  {acceptance.reason !== null && (
                    <>
                      : <bdi>{acceptance.reason}</bdi>
                    </>
                  )}{" "}
                </>
              )}
              <AcceptConflict conflict={conflict} onDone={onChanged} />
            </td>
          </tr>
        );
      })}
    </RowsTable>
  );
}
