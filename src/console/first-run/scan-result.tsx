// Result of the first scan: findings, unanswered or skipped targets with reasons, and next steps.

import { useAnswer } from "../api/answer.ts";
import { read } from "../api/client.ts";
import { FindingLine } from "../discovery/findings.tsx";
import { Counted, type ScanData } from "../discovery/scan-words.tsx";
import { NEW } from "../editing/edit-place.tsx";
import { Problem } from "../parts/problem.tsx";
import { may } from "../session/me.ts";
import { mayOpen } from "../settings/areas.ts";
import { discoveryText } from "../text/discovery.ts";
import { firstScanText } from "../text/first-run.ts";
import { ownValue } from "../text/own-value.ts";
import { hrefOf } from "../url/location.ts";
import type { Network } from "./chosen.ts";
import type { Credential } from "./credentials.ts";
import { Nightly } from "./nightly.tsx";
import { hrefOfStep, WAY } from "./step-address.ts";

interface ScanResultProps {
  readonly scan: ScanData;
  /** Credentials of the network. */
  readonly own: readonly Credential[];
}

export function ScanResult({ scan, own }: ScanResultProps) {
  const { outcome, status } = scan;
  const ended = status === "Completed" || status === "Cancelled" ? status : "other";
  const found = outcome?.hosts.found ?? 0;
  const records = outcome?.records ?? {};
  const wrote = Object.values(records).some((counts) => discoveryText.counts(counts) !== "");
  return (
    <>
      <div role="status">
        <p>
          <strong>{firstScanText.state[ended]}</strong>{" "}
          {found === 0
            ? firstScanText.foundNone
            : scan.kind === "sweep"
              ? firstScanText.foundSweep(found)
              : firstScanText.found(found, outcome?.hosts.devices ?? 0)}
        </p>
        {outcome?.problem != null && <p class="note">{outcome.problem}</p>}
      </div>
      {scan.kind !== "sweep" && found > 0 && <Silent scan={scan} own={own} />}
      <section>
        <h3>{firstScanText.written}</h3>
        <p class="way-counts">{wrote ? <Counted records={records} /> : firstScanText.nothingWritten}</p>
      </section>
      <Unread scan={scan} />
    </>
  );
}

/** Number of devices without an SNMP answer. New devices have no finding for it, so only the count is known. */
function Silent({ scan: { progress, outcome }, own }: Pick<ScanResultProps, "scan" | "own">) {
  const asked = progress?.devices_asked ?? 0;
  const silent = asked - (progress?.devices_answered ?? 0);
  if (silent <= 0) return null;
  const errors = Object.entries(progress?.errors ?? {}).flatMap(([error, count]) => {
    const said = ownValue(firstScanText.errors, error);
    return said === undefined ? [] : [firstScanText.errorOf(count, said)];
  });
  const isNone = outcome?.hosts.devices === 0;
  // A closed port or a missing agent does not indicate a wrong community.
  const isAnySilent = (progress?.errors.no_answer ?? 0) > 0 || errors.length === 0;
  const names = own.map(({ name }) => `“${name}”`).join(", ");
  return (
    <div class={isNone ? "note" : undefined}>
      <p>{isNone ? firstScanText.noDevice(asked, names) : firstScanText.someSilent(silent)}</p>
      {isNone && isAnySilent && <p>{firstScanText.noDeviceWhy}</p>}
      {errors.length > 0 && (
        <ul class="way-list">
          {errors.map((sentence) => (
            <li key={sentence}>{sentence}</li>
          ))}
        </ul>
      )}
      <p>
        <a href={hrefOfStep("credentials", { [WAY.scan]: null, [WAY.credentials]: "v2c" })}>
          {firstScanText.otherCredential}
        </a>
      </p>
    </div>
  );
}

const SHOWN = 10;
const UNREAD = ["Unreached", "Partial", "Skipped"] as const;

/** Unread devices with reasons. */
function Unread({ scan: { id } }: { readonly scan: ScanData }) {
  const query = { type: [...UNREAD], limit: SHOWN };
  const { data, problem, again } = useAnswer(read("/api/v1/discovery/scans/{id}/findings", { path: { id }, query }));
  return (
    <section>
      {problem !== undefined && <Problem problem={problem} again={again} />}
      {data !== undefined && data.length > 0 && (
        <>
          <h3>{firstScanText.unreadWhy}</h3>
          <ul class="difference">
            {data.map((finding) => (
              <FindingLine key={`${finding.type} ${finding.label} ${finding.reason}`} finding={finding} />
            ))}
          </ul>
        </>
      )}
      <p>
        <a href={hrefOf(`/discovery/${id}`)}>{firstScanText.moreFindings}</a>
      </p>
    </section>
  );
}

/** Next steps. */
export function AfterScan({ scan, of }: { readonly scan: ScanData; readonly of: Network }) {
  return (
    <section>
      <h3>{firstScanText.nextTitle}</h3>
      <ul class="way-list">
        <li>
          <a href={hrefOf("/map", { isolated: "yes" })}>{firstScanText.openMap}</a>
        </li>
        <li>
          <a href={hrefOf("/hosts")}>{firstScanText.hosts}</a>
        </li>
        {scan.kind === "sweep" && (
          <li>
            <a href={hrefOfStep("credentials", { [WAY.scan]: null, [WAY.credentials]: null })}>
              {firstScanText.addCredentials}
            </a>
          </li>
        )}
        <li>
          <a href={hrefOfStep("where", { [WAY.scan]: null })}>{firstScanText.again}</a>
        </li>
        {may("createUser") && (
          <li>
            <a href={hrefOf("/settings/people", { [NEW]: "user" })}>{firstScanText.people}</a>
          </li>
        )}
        {mayOpen("/settings/backups") && may("createBackup") && (
          <li>
            <a href={hrefOf("/settings/backups")}>{firstScanText.backup}</a>
          </li>
        )}
      </ul>
      <Nightly scan={scan} of={of} />
    </section>
  );
}
