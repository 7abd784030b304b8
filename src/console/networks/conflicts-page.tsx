// Conflicts page: unique values claimed by several records, the records involved, and acceptances.

import { useAnswer } from "../api/answer.ts";
import { type DataOf, read } from "../api/client.ts";
import { FilterField } from "../lists/filter-field.tsx";
import { Named } from "../names/named.tsx";
import { recordPage } from "../names/record-page.ts";
import { shownName } from "../names/shown-name.ts";
import { Copied } from "../parts/copied.tsx";
import { csvOf } from "../parts/curl.ts";
import { Page } from "../parts/page.tsx";
import { Problem } from "../parts/problem.tsx";
import { RowsTable } from "../parts/rows-table.tsx";
import { TabRow } from "../parts/tabs.tsx";
import { Waiting } from "../parts/waiting.tsx";
import { When } from "../parts/when.tsx";
import { conflictText } from "../text/networks.ts";
import { scopeQuery } from "../time/at.ts";
import { hrefHere, hrefOf, parameter } from "../url/location.ts";
import { AcceptConflict } from "./accept-conflict.tsx";

type Conflict = DataOf<"/api/v1/conflicts">[number];

const ROWS_MAX = 500;
const SHOWN = ["open", "accepted", "all"] as const;

const NO_CONFLICTS = {
  open: "There are no open conflicts.",
  accepted: "No conflict has been accepted.",
  all: "There are no conflicts.",
};

const TAB_TITLES = { open: "Open", accepted: "Accepted", all: "All" };

export function ConflictsPage() {
  const shown = SHOWN.find((each) => each === parameter("show")) ?? "open";
  const accepted = shown === "all" ? {} : { accepted: shown === "accepted" };
  const filter = parameter("filter") ?? "";
  const asked = read("/api/v1/conflicts", {
    query: { ...scopeQuery(), ...accepted, ...(filter === "" ? {} : { filter }), limit: ROWS_MAX },
  });
  const { data, meta, problem, again } = useAnswer(asked, {
    how: "offer",
    types: ["host", "ip_address", "if_entry", "subnet"],
  });
  const isOfFilter = problem?.issues.some(({ path }) => path === "/filter") === true;
  const left = (meta?.pagination.total_count ?? 0) - (data?.length ?? 0);
  return (
    <Page title="Conflicts" reads={[asked.url]} csv={csvOf(asked.url)}>
      <TabRow label="Which conflicts" shown={shown}>
        {SHOWN.map((each) => (
          <a
            key={each}
            href={hrefHere({ show: each === "open" ? null : each })}
            aria-current={each === shown ? "true" : undefined}
          >
            {TAB_TITLES[each]}
          </a>
        ))}
      </TabRow>
      <div class="list-tools">
        <FilterField
          kind="conflict"
          filter={filter}
          example={'type = Address AND value : "10.20."'}
          problem={isOfFilter ? problem : undefined}
        />
      </div>
      {problem !== undefined && !isOfFilter && <Problem problem={problem} again={again} />}
      {data === undefined && problem === undefined && <Waiting />}
      {data?.length === 0 && <p>{filter === "" ? NO_CONFLICTS[shown] : "No conflict matches the filter."}</p>}
      {data !== undefined && data.length > 0 && <ConflictTable conflicts={data} onChanged={again} />}
      {left > 0 && <p class="aside">{conflictText.more(left)}</p>}
    </Page>
  );
}

interface ConflictTableProps {
  readonly conflicts: readonly Conflict[];
  onChanged(): void;
}

function ConflictTable({ conflicts, onChanged }: ConflictTableProps) {
  return (
    <RowsTable title="Conflicts" kind="address-rows" heads={["Type", "What", "Who claims it", "Accepted"]}>
      {conflicts.map((conflict) => {
        const { type, value, fingerprint, parties, acceptance } = conflict;
        return (
          <tr key={fingerprint}>
            <td>{type}</td>
            <td>
              <Copied text={value} />
            </td>
            <td>
              {parties.map((party) => (
                <Party key={party.id} party={party} />
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

function Party({
  party: { entity_type, id, name, network_id, host },
}: {
  readonly party: Conflict["parties"][number];
}) {
  const page = recordPage(entity_type, id);
  const shown = <bdi>{shownName(id, name)}</bdi>;
  return (
    <span class="station">
      {page === null ? shown : <a href={hrefOf(page)}>{shown}</a>}
      {host !== null && host !== undefined && host.id !== id && (
        <>
          {" "}
          of{" "}
          <a href={hrefOf(`/hosts/${host.id}`)}>
            <bdi>{shownName(host.id, host.name)}</bdi>
          </a>
        </>
      )}
      {entity_type === "subnet" && (
        <span class="aside">
          {" "}
          in <Named kind="network" id={network_id} />
        </span>
      )}
    </span>
  );
}
