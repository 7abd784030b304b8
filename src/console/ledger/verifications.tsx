// Ledger verification results: the latest in full, earlier ones in one line each.

import { api, type DataOf, read, unwrap } from "../api/client.ts";
import { usePoll } from "../api/poll.ts";
import { useResponse } from "../api/response.ts";
import { ActionButton } from "../components/buttons.tsx";
import { Copied } from "../components/copied.tsx";
import { TextFact, TimeFact } from "../components/fact-values.tsx";
import { Fact } from "../components/facts.tsx";
import { Problem } from "../components/problem.tsx";
import { ResponseState } from "../components/response-state.tsx";
import { RowsTable } from "../components/rows-table.tsx";
import { Section } from "../components/section.tsx";
import { When } from "../components/when.tsx";
import { type KeyHeader, useWrite } from "../forms/use-write.ts";
import { mayNow } from "../session/me.ts";
import { counted, groupedDigits } from "../text/digits.ts";
import { ledgerText } from "../text/ledger.ts";
import { formatDuration, parseInstant } from "../time/instant.ts";

type VerificationData = DataOf<"/api/v1/ledger/verifications">[number];

/** Poll interval while a verification runs. */
const POLL_MS = 1_500;

/** @param head sequence of the ledger's head, to count the transactions since a verification */
export function Verifications({ head }: { readonly head: number }) {
  const response = useResponse(read("/api/v1/ledger/verifications"));
  const { data, problem, retry } = response;
  const [last, ...earlier] = (data ?? []).filter(({ backup }) => backup === null);
  // At most one verification runs at a time, of the data or of a backup.
  const running = data?.find(({ status }) => status === "Running");
  const isRunning = running !== undefined;
  usePoll(response, isRunning ? POLL_MS : null);
  const { problem: refusal, send } = useWrite();
  return (
    <>
      <Section className="part" title="Last verification">
        <ResponseState data={data} problem={problem} retry={retry} />
        {data !== undefined && last === undefined && (
          <p class="prose">No verification yet. You can also run the command above in a shell.</p>
        )}
        {refusal !== null && <Problem problem={refusal} />}
        {data !== undefined && (
          <VerificationButton
            running={running?.id ?? null}
            send={(request, write) => void send(request, (header) => write(header).finally(retry))}
          />
        )}
        {running !== undefined && running.backup !== null && (
          <p class="aside">Backup {running.backup} is being verified. The data can be verified afterwards.</p>
        )}
        {last !== undefined && <LastVerification verification={last} head={head} />}
      </Section>
      {earlier.length > 0 && (
        <Section className="part" title="Earlier verifications">
          <ul class="difference">
            {earlier.map((verification) => (
              <li key={verification.id}>
                <When instant={verification.started_at} /> <Result verification={verification} />{" "}
                <bdi class="aside">{verification.requested_by.name}</bdi>
              </li>
            ))}
          </ul>
        </Section>
      )}
    </>
  );
}

interface VerificationButtonProps {
  /** Id of the verification in progress; null for none. */
  readonly running: string | null;
  send(request: string, write: (header: KeyHeader) => Promise<unknown>): void;
}

/** A single button that changes its action, so that the next action is in the same place. */
function VerificationButton({ running, send }: VerificationButtonProps) {
  if (running !== null)
    return (
      mayNow("cancelLedgerVerification") && (
        <p>
          <ActionButton
            key="order"
            label="Cancel"
            onClick={() =>
              send(running, (header) => {
                const params = { path: { id: running }, header };
                return unwrap(api.POST("/api/v1/ledger/verifications/{id}/cancel", { params }));
              })
            }
          />
        </p>
      )
    );
  return (
    mayNow("createLedgerVerification") && (
      <p>
        <ActionButton
          key="order"
          label="Verify now"
          onClick={() =>
            send("verify", (header) => unwrap(api.POST("/api/v1/ledger/verifications", { params: { header } })))
          }
        />
        <span class="aside"> Reads all data, which may take minutes. The appliance stays available.</span>
      </p>
    )
  );
}

/** Result, conveyed by text, shape and color. */
function Result({ verification: { status, is_sound, findings_total } }: { readonly verification: VerificationData }) {
  if (is_sound === true) return <span class="state state-up">Ledger intact – no problems found</span>;
  if (findings_total > 0)
    return <span class="state state-down">{counted(findings_total, "finding", "findings")}: the data is damaged</span>;
  return <span class="state state-other">{ledgerText.statuses[status] ?? status}</span>;
}

const writtenSince = (count: number) =>
  count === 0 ? "the head" : `${counted(count, "transaction was", "transactions were")} written since`;

function LastVerification({ verification, head }: { readonly verification: VerificationData; readonly head: number }) {
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
        <TimeFact name="Started" instant={started_at} />
        {length !== null && <Fact name="Took">{formatDuration(length)}</Fact>}
        <TextFact name="By" text={requested_by.name} />
        {verification.head !== null && (
          <Fact name="Verified up to">
            <Copied text={`${verification.head.sequence}:${verification.head.hash}`}>
              <span class="hash">
                {verification.head.sequence}:{verification.head.hash}
              </span>
            </Copied>
            <span class="aside counted">{writtenSince(head - verification.head.sequence)}</span>
          </Fact>
        )}
        {verified !== null && (
          <Fact name="Read">
            {groupedDigits(verified.transactions)} transactions, {groupedDigits(verified.records)} records,{" "}
            {groupedDigits(verified.versions)} versions
            {verified.dropped_versions > 0 &&
              ` and the hashes of ${groupedDigits(verified.dropped_versions)} pruned versions`}
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
      <h3>Findings</h3>
      <RowsTable title="Findings" heads={["Check", "Location", "Problem"]}>
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
