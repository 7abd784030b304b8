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
import { counted, groupedDigits } from "../text/digits.ts";
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
        <h2>Last verification</h2>
        {problem !== undefined && <Problem problem={problem} again={again} />}
        {data === undefined && problem === undefined && <Waiting />}
        {data !== undefined && last === undefined && (
          <p class="prose">None was made here yet. The line above does the same in a shell.</p>
        )}
        {refused !== null && <Problem problem={refused} />}
        {data !== undefined && (
          <Orders
            running={running?.id ?? null}
            send={(what, write) => void send(what, (header) => write(header).finally(again))}
          />
        )}
        {running !== undefined && running.backup !== null && (
          <p class="aside">The backup {running.backup} is being verified. The data are verified after it.</p>
        )}
        {last !== undefined && <Last verification={last} head={head} />}
      </section>
      {before.length > 0 && (
        <section class="part">
          <h2>Verifications before</h2>
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
            Cancel it
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
          Verify now
        </button>
        <span class="aside">
          {" "}
          It reads everything, which takes minutes where there is much. The appliance works meanwhile.
        </span>
      </p>
    )
  );
}

/** Result by word, shape and color. */
function Result({ verification: { status, is_sound, findings_total } }: { readonly verification: VerificationData }) {
  if (is_sound === true) return <span class="state state-up">Ledger intact – no problems found</span>;
  if (findings_total > 0)
    return <span class="state state-down">{counted(findings_total, "finding", "findings")}: the data are damaged</span>;
  return <span class="state state-other">{ledgerText.statuses[status] ?? status}</span>;
}

const sinceThen = (count: number) =>
  count === 0 ? "the head" : `${counted(count, "transaction was", "transactions were")} written since`;

function Last({ verification, head }: { readonly verification: VerificationData; readonly head: number }) {
  const { status, requested_by, started_at, ended_at, progress, verified, not_checked, problem } = verification;
  const length = ended_at === null ? null : (parseInstant(ended_at) ?? 0) - (parseInstant(started_at) ?? 0);
  return (
    <>
      <dl class="facts">
        <Fact name="Result">
          <Result verification={verification} />
          {status === "Running" && progress !== null && (
            <span class="aside"> {ledgerText.step(progress.step, progress.done, progress.total)}</span>
          )}
        </Fact>
        {problem !== null && <Fact name="Why">{problem}</Fact>}
        <Fact name="Started">
          <When instant={started_at} as="both" />
        </Fact>
        {length !== null && <Fact name="Took">{formatDuration(length)}</Fact>}
        <Fact name="By">
          <bdi>{requested_by.name}</bdi>
        </Fact>
        {verification.head !== null && (
          <Fact name="Verified up to">
            <Copied text={`${verification.head.sequence}:${verification.head.hash}`}>
              <span class="hash">
                {verification.head.sequence}:{verification.head.hash}
              </span>
            </Copied>
            <span class="aside counted">{sinceThen(head - verification.head.sequence)}</span>
          </Fact>
        )}
        {verified !== null && (
          <Fact name="Read">
            {groupedDigits(verified.transactions)} transactions, {groupedDigits(verified.records)} records,{" "}
            {groupedDigits(verified.versions)} versions
            {verified.dropped_versions > 0 &&
              ` and the hashes of ${groupedDigits(verified.dropped_versions)} versions that prunes dropped`}
          </Fact>
        )}
        {not_checked.length > 0 && <Fact name="Pages not checked">{not_checked.join(", ")}</Fact>}
      </dl>
      <Findings verification={verification} />
    </>
  );
}

function Findings({ verification: { findings, findings_total } }: { readonly verification: VerificationData }) {
  if (findings.length === 0) return null;
  return (
    <>
      <h3>What it found</h3>
      <RowsTable title="What it found" heads={["Check", "Where", "What"]}>
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
        <p class="aside">{groupedDigits(findings_total - findings.length)} more are not listed.</p>
      )}
    </>
  );
}
