// Verification results of the ledger: the latest in full, earlier ones one line each.

import { useAnswer } from "../api/answer.ts";
import { api, type DataOf, done, read } from "../api/client.ts";
import { usePoll } from "../api/poll.ts";
import { type KeyHeader, useSending } from "../forms/sending.ts";
import { Copied } from "../parts/copied.tsx";
import { Fact } from "../parts/facts.tsx";
import { Problem } from "../parts/problem.tsx";
import { RowsTable } from "../parts/rows-table.tsx";
import { Waiting } from "../parts/waiting.tsx";
import { When } from "../parts/when.tsx";
import { mayNow } from "../session/me.ts";
import { ledgerText } from "../text/ledger.ts";
import { formatDuration, parseInstant } from "../time/instant.ts";

type VerificationData = DataOf<"/api/v1/ledger/verifications">[number];

const RUNNING_MS = 1_500;

/** @param head current head of the ledger, to count the transactions since a verification */
export function Verifications({ head }: { readonly head: number }) {
  const answer = useAnswer(read("/api/v1/ledger/verifications"));
  const { data, problem, again } = answer;
  const [last, ...before] = (data ?? []).filter(({ backup }) => backup === null);
  // At most one runs at a time, on the data or a backup.
  const running = data?.find(({ status }) => status === "Running");
  const isRunning = running !== undefined;
  usePoll(answer, isRunning ? RUNNING_MS : null);
  const { problem: refused, send } = useSending();
  return (
    <>
      <section class="part">
        <h2>{ledgerText.verification}</h2>
        {problem !== undefined && <Problem problem={problem} again={again} />}
        {data === undefined && problem === undefined && <Waiting />}
        {data !== undefined && last === undefined && <p class="prose">{ledgerText.none}</p>}
        {refused !== null && <Problem problem={refused} />}
        {data !== undefined && (
          <Orders
            running={running?.id ?? null}
            send={(what, write) => void send(what, (header) => write(header).finally(again))}
          />
        )}
        {running !== undefined && running.backup !== null && (
          <p class="aside">{ledgerText.backupRunning(running.backup)}</p>
        )}
        {last !== undefined && <Last verification={last} head={head} />}
      </section>
      {before.length > 0 && (
        <section class="part">
          <h2>{ledgerText.verifications}</h2>
          <ul class="difference">
            {before.map((each) => (
              <li key={each.id}>
                <When instant={each.started_at} /> <Result verification={each} />{" "}
                <bdi class="aside">{each.requested_by.name}</bdi>
              </li>
            ))}
          </ul>
        </section>
      )}
    </>
  );
}

interface OrdersProps {
  /** Verification in progress. */
  readonly running: string | null;
  send(what: string, write: (header: KeyHeader) => Promise<unknown>): void;
}

/** A single button that changes its action, so that the next action is at the same place. */
function Orders({ running, send }: OrdersProps) {
  if (running !== null)
    return (
      mayNow("cancelLedgerVerification") && (
        <p>
          <button
            type="button"
            key="order"
            onClick={() =>
              send(running, (header) => {
                const params = { path: { id: running }, header };
                return done(api.POST("/api/v1/ledger/verifications/{id}/cancel", { params }));
              })
            }
          >
            {ledgerText.cancel}
          </button>
        </p>
      )
    );
  return (
    mayNow("createLedgerVerification") && (
      <p>
        <button
          type="button"
          key="order"
          onClick={() =>
            send("verify", (header) => done(api.POST("/api/v1/ledger/verifications", { params: { header } })))
          }
        >
          {ledgerText.verifyNow}
        </button>
        <span class="aside"> {ledgerText.verifyNowSays}</span>
      </p>
    )
  );
}

/** Result by word, shape and color. */
function Result({ verification: { status, is_sound, findings_total } }: { readonly verification: VerificationData }) {
  if (is_sound === true) return <span class="state state-up">{ledgerText.sound}</span>;
  if (findings_total > 0) return <span class="state state-down">{ledgerText.notSound(findings_total)}</span>;
  return <span class="state state-other">{ledgerText.statuses[status] ?? status}</span>;
}

function Last({ verification, head }: { readonly verification: VerificationData; readonly head: number }) {
  const { status, requested_by, started_at, ended_at, progress, verified, not_checked, problem } = verification;
  const length = ended_at === null ? null : (parseInstant(ended_at) ?? 0) - (parseInstant(started_at) ?? 0);
  return (
    <>
      <dl class="facts">
        <Fact name={ledgerText.status}>
          <Result verification={verification} />
          {status === "Running" && progress !== null && (
            <span class="aside"> {ledgerText.step(progress.step, progress.done, progress.total)}</span>
          )}
        </Fact>
        {problem !== null && <Fact name={ledgerText.problem}>{problem}</Fact>}
        <Fact name={ledgerText.started}>
          <When instant={started_at} as="both" />
        </Fact>
        {length !== null && <Fact name={ledgerText.took}>{formatDuration(length)}</Fact>}
        <Fact name={ledgerText.by}>
          <bdi>{requested_by.name}</bdi>
        </Fact>
        {verification.head !== null && (
          <Fact name={ledgerText.upTo}>
            <Copied text={`${verification.head.sequence}:${verification.head.hash}`}>
              <span class="hash">
                {verification.head.sequence}:{verification.head.hash}
              </span>
            </Copied>
            <span class="aside counted">{ledgerText.sinceThen(head - verification.head.sequence)}</span>
          </Fact>
        )}
        {verified !== null && (
          <Fact name={ledgerText.read}>
            {ledgerText.readCounts(verified.transactions, verified.records, verified.versions)}
            {verified.dropped_versions > 0 && ` ${ledgerText.droppedVersions(verified.dropped_versions)}`}
          </Fact>
        )}
        {not_checked.length > 0 && <Fact name={ledgerText.notChecked}>{not_checked.join(", ")}</Fact>}
      </dl>
      <Findings verification={verification} />
    </>
  );
}

function Findings({ verification: { findings, findings_total } }: { readonly verification: VerificationData }) {
  if (findings.length === 0) return null;
  return (
    <>
      <h3>{ledgerText.findings}</h3>
      <RowsTable title={ledgerText.findings} heads={[ledgerText.check, ledgerText.where, ledgerText.message]}>
        {findings.map(({ check, where, message }) => (
          <tr key={`${check} ${where} ${message}`}>
            <td>{check}</td>
            <td>
              <bdi>{where}</bdi>
            </td>
            <td>{message}</td>
          </tr>
        ))}
      </RowsTable>
      {findings_total > findings.length && (
        <p class="aside">{ledgerText.moreFindings(findings_total - findings.length)}</p>
      )}
    </>
  );
}
