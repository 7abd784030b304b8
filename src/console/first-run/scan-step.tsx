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
import { discoveryText } from "../text/discovery.ts";
import { firstScanText, wayText } from "../text/first-run.ts";
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
        <p>{firstScanText.nothing}</p>
        <StepEnd step="scan">
          <a class="button primary" href={hrefOfStep("where")}>
            {firstScanText.choose}
          </a>
        </StepEnd>
      </>
    );
  return (
    <>
      <dl class="facts">
        <Fact name={firstScanText.asked}>
          <bdi>{targets.slice(0, TARGETS_SHOWN).join(", ")}</bdi>
          {targets.length > TARGETS_SHOWN && ` ${firstScanText.more(targets.length - TARGETS_SHOWN)}`}{" "}
          <span class="aside">{firstScanText.size(size)}</span>{" "}
          <a href={hrefOfStep("where")} aria-label={firstScanText.changeOf(firstScanText.asked)}>
            {firstScanText.change}
          </a>
        </Fact>
        <Fact name={firstScanText.with}>
          {isSweep ? firstScanText.sweepOnly : <bdi>{own.map(({ name }) => name).join(", ")}</bdi>}{" "}
          <a href={hrefOfStep("credentials")} aria-label={firstScanText.changeOf(firstScanText.with)}>
            {firstScanText.change}
          </a>
        </Fact>
      </dl>
      {own.length === 0 && chosenCredentials() !== "none" && <p class="prose">{firstScanText.noCredential}</p>}
      <p class="prose">{firstScanText.says}</p>
      {problem !== null && <Refused problem={problem} targets={targets} />}
      <StepEnd step="scan">
        <button type="button" class="primary" disabled={isBusy} onClick={start}>
          {isBusy ? firstScanText.starting : firstScanText.start}
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
        {firstScanText.refused} <a href={hrefOfStep("where")}>{firstScanText.choose}</a>
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
        <p class="prose">{firstScanText.unknown}</p>
        <StepEnd step="scan">
          <a class="button primary" href={hrefHere({ [WAY.scan]: null })}>
            {firstScanText.anew}
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
          <p role="status">{firstScanText.soFar(progress.hosts_found, progress.devices_answered)}</p>
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
      <h3>{firstScanText.latest}</h3>
      {problem !== undefined && <p class="aside">{sentenceOf(problem)}</p>}
      {data?.length === 0 && <p class="aside">{firstScanText.latestNone}</p>}
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
