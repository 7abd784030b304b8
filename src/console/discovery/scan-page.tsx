// Scan page: parameters and requester, progress while running, result, and findings.

import { useAnswer } from "../api/answer.ts";
import { read } from "../api/client.ts";
import { usePoll } from "../api/poll.ts";
import { Named } from "../names/named.tsx";
import { Fact } from "../parts/facts.tsx";
import { Page } from "../parts/page.tsx";
import { Problem } from "../parts/problem.tsx";
import { Waiting } from "../parts/waiting.tsx";
import { When } from "../parts/when.tsx";
import { groupedDigits } from "../text/digits.ts";
import { discoveryText } from "../text/discovery.ts";
import { atQuery, isPast } from "../time/at.ts";
import { formatDuration } from "../time/instant.ts";
import { hrefHere, hrefOf } from "../url/location.ts";
import { Findings } from "./findings.tsx";
import { ScanActions, ScanAgain } from "./scan-actions.tsx";
import { Counted, isUnderWay, lengthOf, type ScanData, ScanProgress, ScanState, Scope } from "./scan-words.tsx";

/** The appliance updates the progress four times a second, faster than needed for reading. */
const POLL_MS = 1_000;

export function ScanPage({ params: { id = "" } }: { readonly params: Readonly<Record<string, string>> }) {
  const asked = read("/api/v1/discovery/scans/{id}", { path: { id }, query: atQuery() });
  const answer = useAnswer(asked);
  const { data: scan, problem, again } = answer;
  usePoll(answer, !isPast.value && scan !== undefined && isUnderWay(scan) ? POLL_MS : null);
  if (problem?.status === 404 || (problem?.status === 400 && scan === undefined)) return <NoScan />;
  if (scan === undefined)
    return (
      <Page title={discoveryText.scan}>
        {problem === undefined ? <Waiting /> : <Problem problem={problem} again={again} />}
      </Page>
    );
  return (
    <Page
      title={discoveryText.kinds[scan.kind] ?? scan.kind}
      about={
        <>
          <Named kind="network" id={scan.network_id} /> <ScanState scan={scan} />
        </>
      }
      reads={[asked.url]}
      actions={<ScanAgain scan={scan} />}
    >
      {problem !== undefined && <Problem problem={problem} again={again} />}
      {!scan.commit && <p class="note">{discoveryText.dryRunSays}</p>}
      <ScanActions key={scan.id} scan={scan} onEnded={again} />
      <div class="columns">
        <section>
          <h2>{discoveryText.request}</h2>
          <Request scan={scan} />
        </section>
        <section>
          <h2>{isUnderWay(scan) ? discoveryText.progress : discoveryText.outcome}</h2>
          {isUnderWay(scan) ? <Progress scan={scan} /> : <Outcome scan={scan} />}
        </section>
      </div>
      {!(isPast.value && isUnderWay(scan)) && <Findings key={id} scan={scan} />}
    </Page>
  );
}

function NoScan() {
  return (
    <Page title={discoveryText.scan}>
      <p>
        {isPast.value ? discoveryText.unknownThen : discoveryText.unknown}{" "}
        {isPast.value && <a href={hrefHere({ at: null })}>{discoveryText.showNow}</a>}
      </p>
    </Page>
  );
}

function Request({ scan }: { readonly scan: ScanData }) {
  const { kind, targets, are_targets_permitted, requested_by, reason, schedule_id, requested_at, started_at } = scan;
  const length = lengthOf(scan);
  return (
    <dl class="facts">
      <Fact name={discoveryText.kind}>{discoveryText.kindMeans[kind] ?? kind}</Fact>
      <Fact name={discoveryText.scope}>
        <Scope targets={targets} />
        {are_targets_permitted && <span class="aside counted">{discoveryText.permitted}</span>}
      </Fact>
      <Fact name={discoveryText.by}>
        {schedule_id === null ? (
          <bdi>{requested_by.name}</bdi>
        ) : (
          <a href={hrefOf(`/discovery/schedules/${schedule_id}`)}>
            <bdi>{requested_by.name}</bdi>
          </a>
        )}
      </Fact>
      {reason !== null && (
        <Fact name={discoveryText.reason}>
          <bdi>{reason}</bdi>
        </Fact>
      )}
      <Fact name={discoveryText.requested}>
        <When instant={requested_at} as="both" />
      </Fact>
      {started_at !== null && (
        <Fact name={discoveryText.started}>
          <When instant={started_at} />
        </Fact>
      )}
      {scan.ended_at !== null && (
        <Fact name={discoveryText.ended}>
          <When instant={scan.ended_at} />
          {length !== null && `, ${discoveryText.took(length)}`}
        </Fact>
      )}
    </dl>
  );
}

/** For a running or queued scan; progress at past instants is unknown. */
function Progress({ scan }: { readonly scan: ScanData }) {
  const { progress, status } = scan;
  if (isPast.value)
    return (
      <p>
        {status === "Queued" ? discoveryText.wasWaiting : discoveryText.wasRunning}{" "}
        <a href={hrefHere({ at: null })}>{discoveryText.showNow}</a>
      </p>
    );
  if (progress === null) return <p>{discoveryText.waiting}</p>;
  const { seconds_left, devices_asked, devices_answered, hosts_found, requests } = progress;
  return (
    <dl class="facts">
      <Fact name={discoveryText.addresses}>
        <ScanProgress scan={scan} />
        {seconds_left !== null && (
          <span class="aside counted">{discoveryText.left(formatDuration(seconds_left * 1_000))}</span>
        )}
      </Fact>
      <Fact name={discoveryText.answered}>{discoveryText.found(hosts_found)}</Fact>
      <Fact name={discoveryText.devices}>{discoveryText.devicesAnswered(devices_answered, devices_asked)}</Fact>
      <Fact name={discoveryText.requests}>{groupedDigits(requests)}</Fact>
      <Errors errors={progress.errors} />
    </dl>
  );
}

function Outcome({ scan: { outcome, progress, commit } }: { readonly scan: ScanData }) {
  if (outcome === null) return null;
  const { hosts, transactions, icmp, problem, records } = outcome;
  const wrote = Object.values(records).some((counts) => discoveryText.counts(counts) !== "");
  return (
    <dl class="facts">
      {problem !== null && <Fact name={discoveryText.problem}>{problem}</Fact>}
      <Fact name={commit ? discoveryText.written : discoveryText.wouldWrite}>
        {wrote ? <Counted records={records} /> : discoveryText.nothingWritten}
      </Fact>
      {transactions !== null && (
        <Fact name={discoveryText.transactions}>
          <a href={hrefOf(`/changes/${transactions.first}`)}>{transactions.first}</a>
          {transactions.last !== transactions.first && (
            <>
              {" "}
              {discoveryText.through} <a href={hrefOf(`/changes/${transactions.last}`)}>{transactions.last}</a>
            </>
          )}
        </Fact>
      )}
      <Fact name={discoveryText.answered}>
        {discoveryText.found(hosts.found)}, {discoveryText.devicesRead(hosts.devices)}
      </Fact>
      <Fact name={discoveryText.notReached}>
        {hosts.unreached === 0 ? (
          discoveryText.noneUnreached
        ) : (
          <a href={hrefHere({ type: "Unreached" })}>{discoveryText.unreached(hosts.unreached)}</a>
        )}
      </Fact>
      {icmp !== null && <Fact name={discoveryText.methods}>{icmp}</Fact>}
      {progress !== null && <Errors errors={progress.errors} />}
    </dl>
  );
}

function Errors({ errors }: { readonly errors: Readonly<Record<string, number>> }) {
  const said = Object.entries(errors).map(([error, count]) => `${error.replaceAll("_", " ")}: ${count}`);
  return said.length === 0 ? null : <Fact name={discoveryText.errors}>{said.join(", ")}</Fact>;
}
