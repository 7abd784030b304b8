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
import { counted, groupedDigits } from "../text/digits.ts";
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
      <Page title="Scan">{problem === undefined ? <Waiting /> : <Problem problem={problem} again={again} />}</Page>
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
      {!scan.commit && <p class="note">Dry run – nothing was saved. The changes below would be made.</p>}
      <ScanActions key={scan.id} scan={scan} onEnded={again} />
      <div class="columns">
        <section>
          <h2>Request</h2>
          <Request scan={scan} />
        </section>
        <section>
          <h2>{isUnderWay(scan) ? "Progress" : "Result"}</h2>
          {isUnderWay(scan) ? <Progress scan={scan} /> : <Outcome scan={scan} />}
        </section>
      </div>
      {!(isPast.value && isUnderWay(scan)) && <Findings key={id} scan={scan} />}
    </Page>
  );
}

function NoScan() {
  return (
    <Page title="Scan">
      <p>
        {isPast.value
          ? "This scan did not exist at this time, or you don't have access to it."
          : "Scan not found, or you don't have access to it. The last 1,000 scans of each network are kept."}{" "}
        {isPast.value && <a href={hrefHere({ at: null })}>Show it now</a>}
      </p>
    </Page>
  );
}

function Request({ scan }: { readonly scan: ScanData }) {
  const { kind, targets, are_targets_permitted, requested_by, reason, schedule_id, requested_at, started_at } = scan;
  const length = lengthOf(scan);
  return (
    <dl class="facts">
      <Fact name="Kind">{discoveryText.kindMeans[kind] ?? kind}</Fact>
      <Fact name="Scope">
        <Scope targets={targets} />
        {are_targets_permitted && <span class="aside counted">{discoveryText.permitted}</span>}
      </Fact>
      <Fact name="By">
        {schedule_id === null ? (
          <bdi>{requested_by.name}</bdi>
        ) : (
          <a href={hrefOf(`/discovery/schedules/${schedule_id}`)}>
            <bdi>{requested_by.name}</bdi>
          </a>
        )}
      </Fact>
      {reason !== null && (
        <Fact name="Reason">
          <bdi>{reason}</bdi>
        </Fact>
      )}
      <Fact name="Requested">
        <When instant={requested_at} as="both" />
      </Fact>
      {started_at !== null && (
        <Fact name="Started">
          <When instant={started_at} />
        </Fact>
      )}
      {scan.ended_at !== null && (
        <Fact name="Ended">
          <When instant={scan.ended_at} />
          {length !== null && `, ${discoveryText.took(length)}`}
        </Fact>
      )}
    </dl>
  );
}

const found = (count: number) => counted(count, "address answered", "addresses answered");

/** For a running or queued scan; progress at past instants is unknown. */
function Progress({ scan }: { readonly scan: ScanData }) {
  const { progress, status } = scan;
  if (isPast.value)
    return (
      <p>
        {status === "Queued"
          ? "It was waiting for its turn at this instant."
          : "It was running at this instant. What it found is known from its end on."}{" "}
        <a href={hrefHere({ at: null })}>Show it now</a>
      </p>
    );
  if (progress === null) return <p>{discoveryText.waiting}</p>;
  const { seconds_left, devices_asked, devices_answered, hosts_found, requests } = progress;
  return (
    <dl class="facts">
      <Fact name="Addresses">
        <ScanProgress scan={scan} />
        {seconds_left !== null && (
          <span class="aside counted">{discoveryText.left(formatDuration(seconds_left * 1_000))}</span>
        )}
      </Fact>
      <Fact name="Answered">{found(hosts_found)}</Fact>
      <Fact name="Devices">
        {devices_answered} of {devices_asked} answered SNMP
      </Fact>
      <Fact name="Requests sent">{groupedDigits(requests)}</Fact>
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
      {problem !== null && <Fact name="Why it ended so">{problem}</Fact>}
      <Fact name={commit ? "Written" : "Would be written"}>{wrote ? <Counted records={records} /> : "nothing"}</Fact>
      {transactions !== null && (
        <Fact name="Transactions">
          <a href={hrefOf(`/changes/${transactions.first}`)}>{transactions.first}</a>
          {transactions.last !== transactions.first && (
            <>
              {" "}
              through <a href={hrefOf(`/changes/${transactions.last}`)}>{transactions.last}</a>
            </>
          )}
        </Fact>
      )}
      <Fact name="Answered">
        {found(hosts.found)}, {counted(hosts.devices, "device answered SNMP", "devices answered SNMP")}
      </Fact>
      <Fact name="Not reached">
        {hosts.unreached === 0 ? (
          "none"
        ) : (
          <a href={hrefHere({ type: "Unreached" })}>
            {counted(hosts.unreached, "known host or target", "known hosts and targets")}
          </a>
        )}
      </Fact>
      {icmp !== null && <Fact name="Sweep by">{icmp}</Fact>}
      {progress !== null && <Errors errors={progress.errors} />}
    </dl>
  );
}

function Errors({ errors }: { readonly errors: Readonly<Record<string, number>> }) {
  const said = Object.entries(errors).map(([error, count]) => `${error.replaceAll("_", " ")}: ${count}`);
  return said.length === 0 ? null : <Fact name="Without an answer">{said.join(", ")}</Fact>;
}
