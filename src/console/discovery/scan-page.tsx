// Scan page: parameters and requester, progress while running, result, and findings.

import { read } from "../api/client.ts";
import { usePoll } from "../api/poll.ts";
import { useResponse } from "../api/response.ts";
import { TextFact, TimeFact } from "../components/fact-values.tsx";
import { Fact } from "../components/facts.tsx";
import { NameLink } from "../components/name-link.tsx";
import { Page } from "../components/page.tsx";
import { ResponseState } from "../components/response-state.tsx";
import { Section } from "../components/section.tsx";
import { When } from "../components/when.tsx";
import { Named } from "../names/named.tsx";
import { counted, groupedDigits } from "../text/digits.ts";
import { discoveryText } from "../text/discovery.ts";
import { atQuery, isPast } from "../time/at.ts";
import { formatDuration } from "../time/instant.ts";
import { hrefHere, hrefOf } from "../url/location.ts";
import { Findings } from "./findings.tsx";
import { ScanActions, ScanAgain } from "./scan-actions.tsx";
import { isActive, lengthOf, type ScanData, ScanProgress, ScanState, Scope, WrittenRecords } from "./scan-details.tsx";

/** The appliance updates the progress four times a second, faster than needed for reading. */
const POLL_MS = 1_000;

export function ScanPage({ params: { id = "" } }: { readonly params: Readonly<Record<string, string>> }) {
  const request = read("/api/v1/discovery/scans/{id}", { path: { id }, query: atQuery() });
  const response = useResponse(request);
  const { data: scan, problem, retry } = response;
  usePoll(response, !isPast.value && scan !== undefined && isActive(scan) ? POLL_MS : null);
  if (problem?.status === 404 || (problem?.status === 400 && scan === undefined)) return <NoScan />;
  if (scan === undefined)
    return (
      <Page title="Scan">
        <ResponseState problem={problem} retry={retry} />
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
      reads={[request.url]}
      actions={<ScanAgain scan={scan} />}
    >
      <ResponseState data={scan} problem={problem} retry={retry} />
      {!scan.commit && <p class="note">Dry run – nothing was saved. The changes below would be made.</p>}
      <ScanActions key={scan.id} scan={scan} onCanceled={retry} />
      <div class="columns">
        <Section title="Request">
          <Request scan={scan} />
        </Section>
        <Section title={isActive(scan) ? "Progress" : "Result"}>
          {isActive(scan) ? <Progress scan={scan} /> : <Outcome scan={scan} />}
        </Section>
      </div>
      {!(isPast.value && isActive(scan)) && <Findings key={id} scan={scan} />}
    </Page>
  );
}

function NoScan() {
  return (
    <Page title="Scan">
      <p>
        {isPast.value
          ? "This scan did not exist at this time, or you don't have access to it."
          : "Scan not found, or you don't have access to it. Only the last 1,000 scans of each network are kept."}{" "}
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
      <Fact name="Kind">{discoveryText.kindDescriptions[kind] ?? kind}</Fact>
      <Fact name="Scope">
        <Scope targets={targets} />
        {are_targets_permitted && <span class="aside counted">{discoveryText.permitted}</span>}
      </Fact>
      <Fact name="By">
        {schedule_id === null ? (
          <bdi>{requested_by.name}</bdi>
        ) : (
          <NameLink href={hrefOf(`/discovery/schedules/${schedule_id}`)} name={requested_by.name} />
        )}
      </Fact>
      {reason !== null && <TextFact name="Reason" text={reason} />}
      <TimeFact name="Requested" instant={requested_at} />
      {started_at !== null && <TimeFact name="Started" instant={started_at} as="time" />}
      {scan.ended_at !== null && (
        <Fact name="Ended">
          <When instant={scan.ended_at} />
          {length !== null && `, ${discoveryText.took(length)}`}
        </Fact>
      )}
    </dl>
  );
}

const respondingText = (count: number) => counted(count, "address responded", "addresses responded");

/** For a running or queued scan. Progress at past timestamps is unknown. */
function Progress({ scan }: { readonly scan: ScanData }) {
  const { progress, status } = scan;
  if (isPast.value)
    return (
      <p>
        {status === "Queued"
          ? "It was queued at this time."
          : "It was running at this time. Results are available from its end."}{" "}
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
      <Fact name="Responded">{respondingText(hosts_found)}</Fact>
      <Fact name="Devices">
        {devices_answered} of {devices_asked} responded to SNMP
      </Fact>
      <Fact name="Requests sent">{groupedDigits(requests)}</Fact>
      <Errors errors={progress.errors} />
    </dl>
  );
}

function Outcome({ scan: { outcome, progress, commit } }: { readonly scan: ScanData }) {
  if (outcome === null) return null;
  const { hosts, transactions, icmp, problem, records } = outcome;
  const hasRecords = Object.values(records).some((counts) => discoveryText.counts(counts) !== "");
  return (
    <dl class="facts">
      {problem !== null && <Fact name="Problem">{problem}</Fact>}
      <Fact name={commit ? "Written" : "Would be written"}>
        {hasRecords ? <WrittenRecords records={records} /> : "nothing"}
      </Fact>
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
      <Fact name="Responded">
        {respondingText(hosts.found)}, {counted(hosts.devices, "device responded to SNMP", "devices responded to SNMP")}
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
  const entries = Object.entries(errors).map(([error, count]) => `${error.replaceAll("_", " ")}: ${count}`);
  return entries.length === 0 ? null : <Fact name="Errors">{entries.join(", ")}</Fact>;
}
