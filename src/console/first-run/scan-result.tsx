// Result of the first scan: findings, unanswered or skipped targets with reasons, and next steps.

import { useAnswer } from "../api/answer.ts";
import { read } from "../api/client.ts";
import { FindingLine } from "../discovery/findings.tsx";
import { Counted, type ScanData } from "../discovery/scan-words.tsx";
import { NEW } from "../editing/edit-place.tsx";
import { Problem } from "../parts/problem.tsx";
import { may } from "../session/me.ts";
import { mayOpen } from "../settings/areas.ts";
import { counted } from "../text/digits.ts";
import { discoveryText } from "../text/discovery.ts";
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

const STATE = { Completed: "Done.", Cancelled: "It was stopped before it finished.", other: "It did not finish." };

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
          <strong>{STATE[ended]}</strong>{" "}
          {found === 0
            ? "Nothing answered. Is the subnet the right one, and may this machine reach it?"
            : scan.kind === "sweep"
              ? `${counted(found, "address", "addresses")} answered.`
              : `${counted(found, "address", "addresses")} answered, ${counted(outcome?.hosts.devices ?? 0, "device", "devices")} by SNMP.`}
        </p>
        {outcome?.problem != null && <p class="note">{outcome.problem}</p>}
      </div>
      {scan.kind !== "sweep" && found > 0 && <Silent scan={scan} own={own} />}
      <section>
        <h3>Written to the inventory</h3>
        <p class="way-counts">{wrote ? <Counted records={records} /> : "nothing new"}</p>
      </section>
      <Unread scan={scan} />
    </>
  );
}

const ERRORS: Readonly<Record<string, string>> = {
  no_answer: "no answer: silent, or the community is wrong",
  port_closed: "no SNMP agent listens",
  unreachable: "cannot be reached",
  wrong_user: "has no user with this name",
  wrong_password: "the authentication password or protocol is wrong",
  unsupported: "does not support what was asked for",
  refused: "refuses access",
};

const someSilent = (silent: number) =>
  `${counted(silent, "address", "addresses")} did not answer SNMP. They may have none, like most computers and printers, or need another community or user.`;

/** Number of devices without an SNMP answer. New devices have no finding for it, so only the count is known. */
function Silent({ scan: { progress, outcome }, own }: Pick<ScanResultProps, "scan" | "own">) {
  const asked = progress?.devices_asked ?? 0;
  const silent = asked - (progress?.devices_answered ?? 0);
  if (silent <= 0) return null;
  const errors = Object.entries(progress?.errors ?? {}).flatMap(([error, count]) => {
    const said = ownValue(ERRORS, error);
    return said === undefined ? [] : [`${counted(count, "address", "addresses")}: ${said}`];
  });
  const isNone = outcome?.hosts.devices === 0;
  // A closed port or a missing agent does not indicate a wrong community.
  const isAnySilent = (progress?.errors.no_answer ?? 0) > 0 || errors.length === 0;
  const names = own.map(({ name }) => `“${name}”`).join(", ");
  return (
    <div class={isNone ? "note" : undefined}>
      <p>
        {isNone
          ? `No device answered SNMP: ${counted(asked, "address was", "addresses were")} asked with ${names}.`
          : someSilent(silent)}
      </p>
      {isNone && isAnySilent && (
        <p>
          Devices ignore a wrong community silently. Check its spelling, and whether the devices allow SNMP from this
          machine.
        </p>
      )}
      {errors.length > 0 && (
        <ul class="way-list">
          {errors.map((sentence) => (
            <li key={sentence}>{sentence}</li>
          ))}
        </ul>
      )}
      <p>
        <a href={hrefOfStep("credentials", { [WAY.scan]: null, [WAY.credentials]: "v2c" })}>Give another credential</a>
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
          <h3>No answer or not scanned</h3>
          <ul class="difference">
            {data.map((finding) => (
              <FindingLine key={`${finding.type} ${finding.label} ${finding.reason}`} finding={finding} />
            ))}
          </ul>
        </>
      )}
      <p>
        <a href={hrefOf(`/discovery/${id}`)}>All findings of this scan</a>
      </p>
    </section>
  );
}

/** Next steps. */
export function AfterScan({ scan, of }: { readonly scan: ScanData; readonly of: Network }) {
  return (
    <section>
      <h3>What next</h3>
      <ul class="way-list">
        <li>
          <a href={hrefOf("/map", { isolated: "yes" })}>Open the map</a>
        </li>
        <li>
          <a href={hrefOf("/hosts")}>Hosts</a>
        </li>
        {scan.kind === "sweep" && (
          <li>
            <a href={hrefOfStep("credentials", { [WAY.scan]: null, [WAY.credentials]: null })}>
              Add credentials, and read devices by SNMP
            </a>
          </li>
        )}
        <li>
          <a href={hrefOfStep("where", { [WAY.scan]: null })}>Scan something else</a>
        </li>
        {may("createUser") && (
          <li>
            <a href={hrefOf("/settings/people", { [NEW]: "user" })}>New user</a>
          </li>
        )}
        {mayOpen("/settings/backups") && may("createBackup") && (
          <li>
            <a href={hrefOf("/settings/backups")}>Take a backup</a>
          </li>
        )}
      </ul>
      <Nightly scan={scan} of={of} />
    </section>
  );
}
