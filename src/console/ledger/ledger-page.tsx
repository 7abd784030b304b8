// Ledger page: head hash, checking it externally, verification results, and pruned periods.

import { type DataOf, read } from "../api/client.ts";
import { useResponse } from "../api/response.ts";
import { Copied } from "../components/copied.tsx";
import { Fact } from "../components/facts.tsx";
import { Page } from "../components/page.tsx";
import { ResponseState } from "../components/response-state.tsx";
import { RowsTable } from "../components/rows-table.tsx";
import { Section } from "../components/section.tsx";
import { When } from "../components/when.tsx";
import { may } from "../session/me.ts";
import { isPast } from "../time/at.ts";
import { hrefOf } from "../url/location.ts";
import { Verifications } from "./verifications.tsx";

type LedgerData = DataOf<"/api/v1/ledger">;

/** Minimum refresh interval: every write moves the head, and users need time to copy it. */
const REFRESH_MS = 2_000;

export function LedgerPage() {
  const request = read("/api/v1/ledger");
  const { data, problem, retry } = useResponse(request, { how: "refresh", everyMs: REFRESH_MS });
  return (
    <Page title="Ledger" reads={[request.url]}>
      {isPast.value && <p class="note">The ledger is always shown as it is now, regardless of the selected time.</p>}
      <ResponseState data={data} problem={problem} retry={retry} />
      {data !== undefined && (
        <>
          <Head ledger={data} />
          {may("listLedgerVerifications") ? (
            <Verifications head={data.sequence} />
          ) : (
            <Section className="part" title="Last verification">
              <p class="prose">
                Verification results are visible to signed-in Owners if the appliance has one organization. Ask one of
                them, or run the command above.
              </p>
            </Section>
          )}
          <PrunedPeriods ledger={data} />
        </>
      )}
    </Page>
  );
}

function Head({ ledger: { sequence, at, hash } }: { readonly ledger: LedgerData }) {
  if (hash === null) return <p>The ledger is empty.</p>;
  const headOption = `--head ${sequence}:${hash}`;
  return (
    <>
      <Section className="part" title="Head">
        <p class="prose">
          The newest transaction, and the hash over it and everything before it. Keep a copy of both elsewhere: any
          change to the past changes the hash.
        </p>
        <dl class="facts">
          <Fact name="Sequence">
            <Copied text={String(sequence)} /> · <a href={hrefOf(`/changes/${sequence}`, { at: null })}>show changes</a>
          </Fact>
          <Fact name="Instant">{at !== null && <When instant={at} as="both" precision="millisecond" />}</Fact>
          <Fact name="SHA-256">
            <Copied text={hash}>
              <span class="hash">{hash}</span>
            </Copied>
          </Fact>
        </dl>
      </Section>
      <Section className="part" title="External verification">
        <p class="prose">
          Keep this command and run it later on the machine with the data, even while the appliance runs: it verifies
          that the ledger still starts with its current content. DIR is the data folder.
        </p>
        <Command text={`netledger verify --data DIR ${headOption}`} />
        <p class="prose">Verify a backup the same way, on any machine:</p>
        <Command text={`netledger verify --backup FILE ${headOption}`} />
        <p class="prose">
          <a href="/handbook/verifying">More about verifying</a>
        </p>
      </Section>
    </>
  );
}

function Command({ text }: { readonly text: string }) {
  return (
    <p class="command">
      <Copied hasLabel text={text} />
    </p>
  );
}

const RESOLUTIONS: Readonly<Record<string, string>> = {
  daily: "last state of each day",
  monthly: "last state of each month",
  none: "final state only",
};

function PrunedPeriods({ ledger: { thinned } }: { readonly ledger: LedgerData }) {
  return (
    <Section className="part" title="Pruned periods">
      <p class="prose">
        {thinned.length === 0
          ? "The complete history is kept: nothing has been pruned."
          : "Queries for a time in these periods return the last retained state before it."}
      </p>
      {thinned.length > 0 && (
        <RowsTable title="Pruned periods" heads={["Until", "Transactions", "Retained", "Pruned by"]}>
          {thinned.map(({ first_sequence, last_sequence, until, resolution, pruned_by }) => (
            <tr key={first_sequence}>
              <td>
                <When instant={until} />
              </td>
              <td>
                {first_sequence}–{last_sequence}
              </td>
              <td>{RESOLUTIONS[resolution] ?? resolution}</td>
              <td>{pruned_by}</td>
            </tr>
          ))}
        </RowsTable>
      )}
    </Section>
  );
}
