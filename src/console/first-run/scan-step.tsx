// Last step of the wizard: targets and credentials, the running scan, and its result.

import { useRef } from "preact/hooks";
import { useAnswer } from "../api/answer.ts";
import { type DataOf, read } from "../api/client.ts";
import { usePoll } from "../api/poll.ts";
import type { Refusal } from "../api/refusal.ts";
import { ScanActions } from "../discovery/scan-actions.tsx";
import { isUnderWay, type ScanData, ScanProgress } from "../discovery/scan-words.tsx";
import { useSending } from "../forms/sending.ts";
import { kindWords } from "../kinds/kinds.ts";
import { RecordLink } from "../names/record-link.tsx";
import { Fact } from "../parts/facts.tsx";
import { Problem, sentenceOf } from "../parts/problem.tsx";
import { Waiting } from "../parts/waiting.tsx";
import { startScan } from "../scanning/scan-requests.ts";
import { refusedTargets } from "../scanning/targets.ts";
import { counted, groupedDigits } from "../text/digits.ts";
import { discoveryText } from "../text/discovery.ts";
import { wayText } from "../text/first-run.ts";
import { formatDuration } from "../time/instant.ts";
import { go, hrefHere, parameter } from "../url/location.ts";
import { type Network, useChosen } from "./chosen.ts";
import { type Credential, credentialsOf, useCredentials } from "./credentials.ts";
import { LiveMap } from "./live-map.tsx";
import { AfterScan, ScanResult } from "./scan-result.tsx";
import { chosenCredentials, hrefOfStep, WAY } from "./step-address.ts";
import { StepEnd } from "./step-end.tsx";

export function ScanStep({ of }: { readonly of: Network }) {
  const credentials = useCredentials();
  const id = parameter(WAY.scan);
  if (credentials.data === undefined)
    return credentials.problem === undefined ? (
      <Waiting />
    ) : (
      <Problem problem={credentials.problem} again={credentials.again} />
    );
  const own = credentialsOf(credentials.data, of.id);
  return id === null ? <Order of={of} own={own} /> : <Asked key={id} id={id} of={of} own={own} />;
}

const TARGETS_SHOWN = 12;

interface OrderProps {
  readonly of: Network;
  /** Credentials of the network. */
  readonly own: readonly Credential[];
}

const changeOf = (what: string) => `Change: ${what}`;

function Order({ of, own }: OrderProps) {
  const chosen = useChosen(of);
  const { isBusy, problem, send } = useSending();
  const isSweep = chosenCredentials() === "none" || own.length === 0;
  const { targets, size } = chosen;
  const order = {
    network_id: of.id,
    kind: isSweep ? ("sweep" as const) : ("full" as const),
    targets,
    commit: true,
    allow_large: chosen.isLarge && parameter(WAY.isLarge) !== null,
  };
  const start = () =>
    void send(order, async (header) => {
      const { id } = await startScan(order, wayText.reason, header);
      go(hrefHere({ [WAY.scan]: id }), "replace");
    });
  if (chosen.subnets === undefined)
    return chosen.problem === undefined ? <Waiting /> : <Problem problem={chosen.problem} again={chosen.again} />;
  if (targets.length === 0)
    return (
      <>
        <p>Nothing is chosen to be scanned.</p>
        <StepEnd step="scan">
          <a class="button primary" href={hrefOfStep("where")}>
            Choose what to scan
          </a>
        </StepEnd>
      </>
    );
  return (
    <>
      <dl class="facts">
        <Fact name="Asked">
          <bdi>{targets.slice(0, TARGETS_SHOWN).join(", ")}</bdi>
          {targets.length > TARGETS_SHOWN && ` and ${groupedDigits(targets.length - TARGETS_SHOWN)} more`}{" "}
          <span class="aside">up to {counted(size, "address", "addresses")}</span>{" "}
          <a href={hrefOfStep("where")} aria-label={changeOf("Asked")}>
            Change
          </a>
        </Fact>
        <Fact name="With">
          {isSweep ? (
            "nothing: only a sweep, which sends no secret"
          ) : (
            <bdi>{own.map(({ name }) => name).join(", ")}</bdi>
          )}{" "}
          <a href={hrefOfStep("credentials")} aria-label={changeOf("With")}>
            Change
          </a>
        </Fact>
      </dl>
      {own.length === 0 && chosenCredentials() !== "none" && (
        <p class="prose">This network has no credential: this will be a sweep.</p>
      )}
      <p class="prose">
        How long it takes is told while it runs. You can end it at any time, and you need not stay: it goes on without
        this page.
      </p>
      {problem !== null && <Refused problem={problem} targets={targets} />}
      <StepEnd step="scan">
        <button type="button" class="primary" disabled={isBusy} onClick={start}>
          {isBusy ? "Starting…" : "Start the first scan"}
        </button>
      </StepEnd>
    </>
  );
}

/** Rejected parts of the order; targets as typed. */
function Refused({ problem, targets }: { readonly problem: Refusal; readonly targets: readonly string[] }) {
  const said = refusedTargets(problem, targets);
  if (said.length === 0 || said.length < problem.issues.length) return <Problem problem={problem} />;
  return (
    <div class="problem" role="alert">
      <p>
        The appliance does not take this: <a href={hrefOfStep("where")}>Choose what to scan</a>
      </p>
      <ul>
        {said.map((sentence) => (
          <li key={sentence}>{sentence}</li>
        ))}
      </ul>
    </div>
  );
}

const POLL_MS = 1_000;

function Asked({ id, of, own }: OrderProps & { readonly id: string }) {
  const answer = useAnswer(read("/api/v1/discovery/scans/{id}", { path: { id } }));
  const { data: scan, problem, again } = answer;
  usePoll(answer, scan !== undefined && isUnderWay(scan) ? POLL_MS : null);
  const isUnknown =
    problem?.status === 404 || problem?.status === 400 || (scan !== undefined && scan.network_id !== of.id);
  if (isUnknown)
    return (
      <>
        <p class="prose">There is no such scan in this network. It may be of another one, or no longer kept.</p>
        <StepEnd step="scan">
          <a class="button primary" href={hrefHere({ [WAY.scan]: null })}>
            Start another scan
          </a>
        </StepEnd>
      </>
    );
  if (scan === undefined) return problem === undefined ? <Waiting /> : <Problem problem={problem} again={again} />;
  const isOver = !isUnderWay(scan);
  return (
    <>
      {problem !== undefined && <Problem problem={problem} again={again} />}
      <div class="columns">
        <div class="stack">
          {isOver ? <ScanResult scan={scan} own={own} /> : <Progress scan={scan} onEnded={again} />}
        </div>
        <div class="stack">
          <LiveMap networkId={of.id} isOver={isOver} />
          {isOver && <AfterScan scan={scan} of={of} />}
        </div>
      </div>
    </>
  );
}

function Progress({ scan, onEnded }: { readonly scan: ScanData; onEnded(): void }) {
  const { progress } = scan;
  return (
    <>
      {progress === null ? (
        <p role="status">{discoveryText.waiting}</p>
      ) : (
        <>
          <p>
            <ScanProgress scan={scan} />
            {(progress.seconds_left ?? 0) > 0 && (
              <span class="aside counted">
                {discoveryText.left(formatDuration((progress.seconds_left ?? 0) * 1_000))}
              </span>
            )}
          </p>
          <p role="status">
            {counted(progress.hosts_found, "address", "addresses")} answered so far,{" "}
            {counted(progress.devices_answered, "device", "devices")} by SNMP.
          </p>
        </>
      )}
      <ScanActions scan={scan} onEnded={onEnded} />
      <Latest id={scan.id} />
    </>
  );
}

const LATEST = 8;
type Finding = DataOf<"/api/v1/discovery/scans/{id}/findings">[number];

/** Latest findings, newest first. */
function Latest({ id }: { readonly id: string }) {
  // Findings are in the order of discovery: the latest precede the last known total.
  const total = useRef(0);
  const query = { type: ["Created" as const], limit: LATEST, offset: Math.max(0, total.current - LATEST) };
  const answer = useAnswer(read("/api/v1/discovery/scans/{id}/findings", { path: { id }, query }));
  usePoll(answer, POLL_MS);
  const { data, meta, problem } = answer;
  total.current = meta?.pagination.total_count ?? total.current;
  return (
    <section>
      <h3>Found last</h3>
      {problem !== undefined && <p class="aside">{sentenceOf(problem)}</p>}
      {data?.length === 0 && <p class="aside">Nothing yet.</p>}
      {data !== undefined && data.length > 0 && (
        <ul class="way-latest">
          {data.toReversed().map((finding) => (
            <LatestLine key={`${finding.id} ${finding.label}`} finding={finding} />
          ))}
        </ul>
      )}
    </section>
  );
}

function LatestLine({ finding: { entity, id, label, reason } }: { readonly finding: Finding }) {
  return (
    <li>
      {entity !== null && <span class="aside">{kindWords(entity)[0]} </span>}
      {entity === null || id === null ? <bdi>{label}</bdi> : <RecordLink type={entity} id={id} name={label} />}{" "}
      <bdi class="aside">{reason}</bdi>
    </li>
  );
}
