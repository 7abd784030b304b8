// First scan result: written records, unanswered or skipped targets with reasons, and next steps.

import { read } from "../api/client.ts";
import { useResponse } from "../api/response.ts";
import { Problem } from "../components/problem.tsx";
import { FindingLine } from "../discovery/findings.tsx";
import { type ScanData, WrittenRecords } from "../discovery/scan-details.tsx";
import { NEW } from "../editing/edit-slot.tsx";
import { may } from "../session/me.ts";
import { mayOpen } from "../settings/areas.ts";
import { counted } from "../text/digits.ts";
import { discoveryText } from "../text/discovery.ts";
import { ownValue } from "../text/own-value.ts";
import { hrefOf } from "../url/location.ts";
import type { Credential } from "./credentials.ts";
import { Nightly } from "./nightly.tsx";
import type { Network } from "./scan-targets.ts";
import { hrefOfStep, WIZARD } from "./wizard-url.ts";

interface ScanResultProps {
  readonly scan: ScanData;
  /** Credentials of the network. */
  readonly credentials: readonly Credential[];
}

const STATE = { Completed: "Done.", Cancelled: "Canceled before it finished.", other: "Not finished." };

export function ScanResult({ scan, credentials }: ScanResultProps) {
  const { outcome, status } = scan;
  const ended = status === "Completed" || status === "Cancelled" ? status : "other";
  const found = outcome?.hosts.found ?? 0;
  const records = outcome?.records ?? {};
  const hasRecords = Object.values(records).some((counts) => discoveryText.counts(counts) !== "");
  return (
    <>
      <div role="status">
        <p>
          <strong>{STATE[ended]}</strong>{" "}
          {found === 0
            ? "Nothing responded. Is this the right subnet, and can this machine reach it?"
            : scan.kind === "sweep"
              ? `${counted(found, "address", "addresses")} responded.`
              : `${counted(found, "address", "addresses")} responded, ${counted(outcome?.hosts.devices ?? 0, "device", "devices")} by SNMP.`}
        </p>
        {outcome?.problem != null && <p class="note">{outcome.problem}</p>}
      </div>
      {scan.kind !== "sweep" && found > 0 && <UnansweredSnmp scan={scan} credentials={credentials} />}
      <section>
        <h3>Written to the inventory</h3>
        <p class="first-run-counts">{hasRecords ? <WrittenRecords records={records} /> : "nothing new"}</p>
      </section>
      <Unread scan={scan} />
    </>
  );
}

const ERRORS: Readonly<Record<string, string>> = {
  no_answer: "no response: no SNMP, or wrong community",
  port_closed: "no SNMP agent listens",
  unreachable: "unreachable",
  wrong_user: "unknown user name",
  wrong_password: "wrong authentication password or protocol",
  unsupported: "request not supported",
  refused: "access refused",
};

const someUnanswered = (unanswered: number) =>
  `${counted(unanswered, "address", "addresses")} did not respond to SNMP. Most computers and printers have no SNMP; others may need another community or user.`;

/** Number of devices without an SNMP response. New devices have no finding for it, so only the count is known. */
function UnansweredSnmp({ scan: { progress, outcome }, credentials }: ScanResultProps) {
  const requested = progress?.devices_asked ?? 0;
  const unanswered = requested - (progress?.devices_answered ?? 0);
  if (unanswered <= 0) return null;
  const errors = Object.entries(progress?.errors ?? {}).flatMap(([error, count]) => {
    const text = ownValue(ERRORS, error);
    return text === undefined ? [] : [`${counted(count, "address", "addresses")}: ${text}`];
  });
  const hasNoAnswer = outcome?.hosts.devices === 0;
  // A closed port or a missing agent does not indicate a wrong community.
  const mayBeWrongCommunity = (progress?.errors.no_answer ?? 0) > 0 || errors.length === 0;
  const names = credentials.map(({ name }) => `“${name}”`).join(", ");
  return (
    <div class={hasNoAnswer ? "note" : undefined}>
      <p>
        {hasNoAnswer
          ? `No device responded to SNMP: ${counted(requested, "address was", "addresses were")} queried with ${names}.`
          : someUnanswered(unanswered)}
      </p>
      {hasNoAnswer && mayBeWrongCommunity && (
        <p>
          Devices ignore a wrong community silently. Check its spelling, and whether the devices allow SNMP from this
          machine.
        </p>
      )}
      {errors.length > 0 && (
        <ul class="first-run-list">
          {errors.map((sentence) => (
            <li key={sentence}>{sentence}</li>
          ))}
        </ul>
      )}
      <p>
        <a href={hrefOfStep("credentials", { [WIZARD.scan]: null, [WIZARD.credentials]: "v2c" })}>
          Add another credential
        </a>
      </p>
    </div>
  );
}

const FINDINGS_MAX = 10;
const UNREAD = ["Unreached", "Partial", "Skipped"] as const;

/** Targets that were not reached, partially read or skipped, with reasons. */
function Unread({ scan: { id } }: { readonly scan: ScanData }) {
  const query = { type: [...UNREAD], limit: FINDINGS_MAX };
  const { data, problem, retry } = useResponse(read("/api/v1/discovery/scans/{id}/findings", { path: { id }, query }));
  return (
    <section>
      {problem !== undefined && <Problem problem={problem} retry={retry} />}
      {data !== undefined && data.length > 0 && (
        <>
          <h3>No response or not scanned</h3>
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

/** Suggested next steps. */
export function AfterScan({ scan, network }: { readonly scan: ScanData; readonly network: Network }) {
  const credentialsHref = hrefOfStep("credentials", { [WIZARD.scan]: null, [WIZARD.credentials]: null });
  const mayBackUp = mayOpen("/settings/backups") && may("createBackup");
  const links: readonly (readonly [text: string, href: string])[] = [
    ["Open the map", hrefOf("/map", { isolated: "yes" })],
    ["Hosts", hrefOf("/hosts")],
    ...(scan.kind === "sweep" ? [["Add credentials and read devices over SNMP", credentialsHref] as const] : []),
    ["Scan something else", hrefOfStep("where", { [WIZARD.scan]: null })],
    ...(may("createUser") ? [["New user", hrefOf("/settings/people", { [NEW]: "user" })] as const] : []),
    ...(mayBackUp ? [["Take a backup", hrefOf("/settings/backups")] as const] : []),
  ];
  return (
    <section>
      <h3>What next</h3>
      <ul class="first-run-list">
        {links.map(([text, href]) => (
          <li key={text}>
            <a href={href}>{text}</a>
          </li>
        ))}
      </ul>
      <Nightly scan={scan} network={network} />
    </section>
  );
}
