// Ledger page: head to archive, how to verify it externally, prunes, and verification results.

import { useAnswer } from "../api/answer.ts";
import { type DataOf, read } from "../api/client.ts";
import { Copied } from "../parts/copied.tsx";
import { Fact } from "../parts/facts.tsx";
import { Page } from "../parts/page.tsx";
import { Problem } from "../parts/problem.tsx";
import { RowsTable } from "../parts/rows-table.tsx";
import { Waiting } from "../parts/waiting.tsx";
import { When } from "../parts/when.tsx";
import { may } from "../session/me.ts";
import { isPast } from "../time/at.ts";
import { hrefOf } from "../url/location.ts";
import { Verifications } from "./verifications.tsx";

type LedgerData = DataOf<"/api/v1/ledger">;

/** Every write moves the head; the reader needs time to copy it. */
const REFRESH_MS = 2_000;

export function LedgerPage() {
  const asked = read("/api/v1/ledger");
  const { data, problem, again } = useAnswer(asked, { how: "refresh", everyMs: REFRESH_MS });
  return (
    <Page title="Ledger" reads={[asked.url]}>
      {isPast.value && <p class="note">The ledger is shown as it is now, whatever instant is chosen.</p>}
      {problem !== undefined && <Problem problem={problem} again={again} />}
      {data === undefined && problem === undefined && <Waiting />}
      {data !== undefined && (
        <>
          <Head ledger={data} />
          {may("listLedgerVerifications") ? (
            <Verifications head={data.sequence} />
          ) : (
            <section class="part">
              <h2>Last verification</h2>
              <p class="prose">
                What verifications found is for Owners who are signed in, while the appliance has one organization. Ask
                one of them, or run the line above.
              </p>
            </section>
          )}
          <Thinned ledger={data} />
        </>
      )}
    </Page>
  );
}

function Head({ ledger: { sequence, at, hash } }: { readonly ledger: LedgerData }) {
  if (hash === null) return <p>The ledger is empty.</p>;
  const known = `--head ${sequence}:${hash}`;
  return (
    <>
      <section class="part">
        <h2>Head</h2>
        <p class="prose">
          The newest transaction, and the hash over it and everything before it. Keep a copy of both elsewhere: any
          change to the past changes the hash.
        </p>
        <dl class="facts">
          <Fact name="Sequence">
            <Copied text={String(sequence)} /> ·{" "}
            <a href={hrefOf(`/changes/${sequence}`, { at: null })}>what it changed</a>
          </Fact>
          <Fact name="Instant">{at !== null && <When instant={at} as="both" precision="millisecond" />}</Fact>
          <Fact name="SHA-256">
            <Copied text={hash}>
              <span class="hash">{hash}</span>
            </Copied>
          </Fact>
        </dl>
      </section>
      <section class="part">
        <h2>Check it elsewhere</h2>
        <p class="prose">
          Keep this line. Run it later where the data are, also while the appliance serves: it says whether the ledger
          still begins with what it is now. DIR is the folder of the data.
        </p>
        <Command text={`netledger verify --data DIR ${known}`} />
        <p class="prose">A backup is checked the same way, wherever it is:</p>
        <Command text={`netledger verify --backup FILE ${known}`} />
        <p class="prose">
          <a href="/handbook/verifying">More about verifying</a>
        </p>
      </section>
    </>
  );
}

function Command({ text }: { readonly text: string }) {
  return (
    <p class="command">
      <Copied isOffered text={text} />
    </p>
  );
}

const RESOLUTIONS: Readonly<Record<string, string>> = {
  daily: "the last state of each day",
  monthly: "the last state of each month",
  none: "only the state at the end",
};

function Thinned({ ledger: { thinned } }: { readonly ledger: LedgerData }) {
  return (
    <section class="part">
      <h2>Pruned periods</h2>
      <p class="prose">
        {thinned.length === 0
          ? "All of history is kept: nothing was ever pruned."
          : "In these periods a question about an instant gets the last state before it that was kept."}
      </p>
      {thinned.length > 0 && (
        <RowsTable title="Pruned periods" heads={["Until", "Transactions", "What is kept", "Pruned by"]}>
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
    </section>
  );
}
