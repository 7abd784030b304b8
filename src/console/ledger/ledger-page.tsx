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
import { ledgerText } from "../text/ledger.ts";
import { navigationText } from "../text/navigation.ts";
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
    <Page title={navigationText.ledger} reads={[asked.url]}>
      {isPast.value && <p class="note">{ledgerText.ofNow}</p>}
      {problem !== undefined && <Problem problem={problem} again={again} />}
      {data === undefined && problem === undefined && <Waiting />}
      {data !== undefined && (
        <>
          <Head ledger={data} />
          {may("listLedgerVerifications") ? (
            <Verifications head={data.sequence} />
          ) : (
            <section class="part">
              <h2>{ledgerText.verification}</h2>
              <p class="prose">{ledgerText.notPermitted}</p>
            </section>
          )}
          <Thinned ledger={data} />
        </>
      )}
    </Page>
  );
}

function Head({ ledger: { sequence, at, hash } }: { readonly ledger: LedgerData }) {
  if (hash === null) return <p>{ledgerText.empty}</p>;
  const known = `--head ${sequence}:${hash}`;
  return (
    <>
      <section class="part">
        <h2>{ledgerText.head}</h2>
        <p class="prose">{ledgerText.headSays}</p>
        <dl class="facts">
          <Fact name={ledgerText.sequence}>
            <Copied text={String(sequence)} /> ·{" "}
            <a href={hrefOf(`/changes/${sequence}`, { at: null })}>{ledgerText.show}</a>
          </Fact>
          <Fact name={ledgerText.instant}>
            {at !== null && <When instant={at} as="both" precision="millisecond" />}
          </Fact>
          <Fact name={ledgerText.hash}>
            <Copied text={hash}>
              <span class="hash">{hash}</span>
            </Copied>
          </Fact>
        </dl>
      </section>
      <section class="part">
        <h2>{ledgerText.elsewhere}</h2>
        <p class="prose">{ledgerText.elsewhereSays}</p>
        <Command text={`netledger verify --data DIR ${known}`} />
        <p class="prose">{ledgerText.backup}</p>
        <Command text={`netledger verify --backup FILE ${known}`} />
        <p class="prose">
          <a href="/handbook/verifying">{ledgerText.handbook}</a>
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

function Thinned({ ledger: { thinned } }: { readonly ledger: LedgerData }) {
  return (
    <section class="part">
      <h2>{ledgerText.thinned}</h2>
      <p class="prose">{thinned.length === 0 ? ledgerText.neverThinned : ledgerText.thinnedSays}</p>
      {thinned.length > 0 && (
        <RowsTable
          title={ledgerText.thinned}
          heads={[ledgerText.until, ledgerText.transactions, ledgerText.kept, ledgerText.prunedBy]}
        >
          {thinned.map(({ first_sequence, last_sequence, until, resolution, pruned_by }) => (
            <tr key={first_sequence}>
              <td>
                <When instant={until} />
              </td>
              <td>
                {first_sequence}–{last_sequence}
              </td>
              <td>{ledgerText.resolutions[resolution] ?? resolution}</td>
              <td>{pruned_by}</td>
            </tr>
          ))}
        </RowsTable>
      )}
    </section>
  );
}
