// Last step of the wizard: targets and credentials, the running scan, and its result.

import { useRef } from "preact/hooks";
import { type DataOf, read } from "../api/client.ts";
import { usePoll, useReloadOn } from "../api/poll.ts";
import type { Refusal } from "../api/refusal.ts";
import { useResponse } from "../api/response.ts";
import { LinkButton } from "../components/buttons.tsx";
import { Fact } from "../components/facts.tsx";
import { Problem, sentenceOf } from "../components/problem.tsx";
import { ResponseState } from "../components/response-state.tsx";
import { ScanActions } from "../discovery/scan-actions.tsx";
import { isActive, type ScanData, ScanProgress } from "../discovery/scan-details.tsx";
import { useWrite } from "../forms/use-write.ts";
import { kindWords } from "../kinds/kinds.ts";
import { RecordLink } from "../names/record-link.tsx";
import { startScan } from "../scanning/scan-requests.ts";
import { targetErrorsOf } from "../scanning/targets.ts";
import { counted, groupedDigits } from "../text/digits.ts";
import { discoveryText } from "../text/discovery.ts";
import { wizardText } from "../text/first-run.ts";
import { formatDuration } from "../time/instant.ts";
import { go, hrefHere, parameter } from "../url/location.ts";
import { type Credential, credentialsOf, useCredentials } from "./credentials.ts";
import { LiveMap } from "./live-map.tsx";
import { AfterScan, ScanResult } from "./scan-result.tsx";
import { type Network, useScanTargets } from "./scan-targets.ts";
import { StepEnd } from "./step-end.tsx";
import { hrefOfStep, selectedCredentials, WIZARD } from "./wizard-url.ts";

export function ScanStep({ network }: { readonly network: Network }) {
  const credentials = useCredentials();
  const id = parameter(WIZARD.scan);
  if (credentials.data === undefined) return <ResponseState problem={credentials.problem} retry={credentials.retry} />;
  const ownCredentials = credentialsOf(credentials.data, network.id);
  return id === null ? (
    <StartScanForm network={network} ownCredentials={ownCredentials} />
  ) : (
    <StartedScan key={id} id={id} network={network} ownCredentials={ownCredentials} />
  );
}

const TARGETS_SHOWN = 12;

interface ScanStepProps {
  readonly network: Network;
  /** Credentials of the network. */
  readonly ownCredentials: readonly Credential[];
}

const changeLabel = (name: string) => `Change: ${name}`;

function StartScanForm({ network, ownCredentials }: ScanStepProps) {
  const scanTargets = useScanTargets(network);
  const { isBusy, problem, send } = useWrite();
  const isSweep = selectedCredentials() === "none" || ownCredentials.length === 0;
  const { targets, size } = scanTargets;
  const scanParameters = {
    network_id: network.id,
    kind: isSweep ? ("sweep" as const) : ("full" as const),
    targets,
    commit: true,
    allow_large: scanTargets.isLarge && parameter(WIZARD.isLarge) !== null,
  };
  const start = () =>
    void send(scanParameters, async (header) => {
      const { id } = await startScan(scanParameters, wizardText.reason, header);
      go(hrefHere({ [WIZARD.scan]: id }), "replace");
    });
  if (scanTargets.subnets === undefined)
    return <ResponseState problem={scanTargets.problem} retry={scanTargets.retry} />;
  if (targets.length === 0)
    return (
      <>
        <p>No scan targets selected.</p>
        <StepEnd step="scan">
          <LinkButton label="Choose targets" class="button primary" href={hrefOfStep("where")} />
        </StepEnd>
      </>
    );
  return (
    <>
      <dl class="facts">
        <Fact name="Targets">
          <bdi>{targets.slice(0, TARGETS_SHOWN).join(", ")}</bdi>
          {targets.length > TARGETS_SHOWN && ` and ${groupedDigits(targets.length - TARGETS_SHOWN)} more`}{" "}
          <span class="aside">up to {counted(size, "address", "addresses")}</span>{" "}
          <a href={hrefOfStep("where")} aria-label={changeLabel("Targets")}>
            Change
          </a>
        </Fact>
        <Fact name="Credentials">
          {isSweep ? (
            "none: sweep only, sends no credentials"
          ) : (
            <bdi>{ownCredentials.map(({ name }) => name).join(", ")}</bdi>
          )}{" "}
          <a href={hrefOfStep("credentials")} aria-label={changeLabel("Credentials")}>
            Change
          </a>
        </Fact>
      </dl>
      {ownCredentials.length === 0 && selectedCredentials() !== "none" && (
        <p class="prose">This network has no credentials, so this will be a sweep.</p>
      )}
      <p class="prose">
        The remaining time is shown while the scan runs. You can cancel it at any time, and it continues if you leave
        this page.
      </p>
      {problem !== null && <RejectedTargets problem={problem} targets={targets} />}
      <StepEnd step="scan">
        <button type="button" class="primary" disabled={isBusy} onClick={start}>
          {isBusy ? "Starting…" : "Start the first scan"}
        </button>
      </StepEnd>
    </>
  );
}

/** Messages about rejected targets, or about any other problem. */
function RejectedTargets({ problem, targets }: { readonly problem: Refusal; readonly targets: readonly string[] }) {
  const sentences = targetErrorsOf(problem, targets);
  if (sentences.length === 0 || sentences.length < problem.issues.length) return <Problem problem={problem} />;
  return (
    <div class="problem" role="alert">
      <p>
        The appliance rejected these targets: <a href={hrefOfStep("where")}>Choose targets</a>
      </p>
      <ul>
        {sentences.map((sentence) => (
          <li key={sentence}>{sentence}</li>
        ))}
      </ul>
    </div>
  );
}

const POLL_MS = 1_000;

function StartedScan({ id, network, ownCredentials }: ScanStepProps & { readonly id: string }) {
  const response = useResponse(read("/api/v1/discovery/scans/{id}", { path: { id } }));
  const { data: scan, problem, retry } = response;
  usePoll(response, scan !== undefined && isActive(scan) ? POLL_MS : null);
  const isUnknown =
    problem?.status === 404 || problem?.status === 400 || (scan !== undefined && scan.network_id !== network.id);
  if (isUnknown)
    return (
      <>
        <p class="prose">Scan not found in this network. It may belong to another network or have been deleted.</p>
        <StepEnd step="scan">
          <LinkButton label="Start another scan" class="button primary" href={hrefHere({ [WIZARD.scan]: null })} />
        </StepEnd>
      </>
    );
  if (scan === undefined) return <ResponseState problem={problem} retry={retry} />;
  const isFinished = !isActive(scan);
  return (
    <>
      {problem !== undefined && <Problem problem={problem} retry={retry} />}
      <div class="columns">
        <div class="stack">
          {isFinished ? (
            <ScanResult scan={scan} credentials={ownCredentials} />
          ) : (
            <Progress scan={scan} onEnded={retry} />
          )}
        </div>
        <div class="stack">
          <LiveMap networkId={network.id} isFinished={isFinished} />
          {isFinished && <AfterScan scan={scan} network={network} />}
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
            {counted(progress.hosts_found, "address", "addresses")} responded so far,{" "}
            {counted(progress.devices_answered, "device", "devices")} by SNMP.
          </p>
        </>
      )}
      <ScanActions scan={scan} onCanceled={onEnded} />
      <Latest scan={scan} />
    </>
  );
}

const FINDINGS_MAX = 8;
type Finding = DataOf<"/api/v1/discovery/scans/{id}/findings">[number];

/** List of the latest findings, newest first. */
function Latest({ scan: { id, progress } }: { readonly scan: ScanData }) {
  // The API lists findings in the order of discovery: the latest are at the end of the last known total.
  const total = useRef(0);
  const query = { type: ["Created" as const], limit: FINDINGS_MAX, offset: Math.max(0, total.current - FINDINGS_MAX) };
  const response = useResponse(read("/api/v1/discovery/scans/{id}/findings", { path: { id }, query }));
  useReloadOn(response, `${progress?.findings}`);
  const { data, meta, problem } = response;
  total.current = meta?.pagination.total_count ?? total.current;
  return (
    <section>
      <h3>Latest findings</h3>
      {problem !== undefined && <p class="aside">{sentenceOf(problem)}</p>}
      {data?.length === 0 && <p class="aside">Nothing yet.</p>}
      {data !== undefined && data.length > 0 && (
        <ul class="first-run-latest">
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
