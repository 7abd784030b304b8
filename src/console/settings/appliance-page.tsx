// Appliance status: concerns first, then all facts, each with its state in a word. Polled while visible.

import type { ComponentChildren } from "preact";
import { useAnswer } from "../api/answer.ts";
import { type DataOf, read } from "../api/client.ts";
import { usePoll } from "../api/poll.ts";
import { type ApplianceConcern, ConcernLine, SEVERITIES } from "../parts/concern.tsx";
import { Copied } from "../parts/copied.tsx";
import { Problem } from "../parts/problem.tsx";
import { RowsTable } from "../parts/rows-table.tsx";
import { Waiting } from "../parts/waiting.tsx";
import { When } from "../parts/when.tsx";
import { may } from "../session/me.ts";
import { counted, groupedDigits } from "../text/digits.ts";
import { settingsText, sizeText } from "../text/settings.ts";
import { formatDuration } from "../time/instant.ts";
import { SettingsPage } from "./settings-page.tsx";

type Appliance = DataOf<"/api/v1/appliance">;

const REFRESH_MS = 5_000;

export function AppliancePage() {
  const answer = useAnswer(may("getAppliance") ? read("/api/v1/appliance") : null);
  const { data, problem, again } = answer;
  usePoll(answer, REFRESH_MS);
  return (
    <SettingsPage title={settingsText.tabs.appliance} operation="getAppliance" forbidden={settingsText.ownersAlone}>
      {problem !== undefined && <Problem problem={problem} again={again} />}
      {data === undefined && problem === undefined && <Waiting />}
      {data !== undefined && <Told appliance={data} />}
    </SettingsPage>
  );
}

function Told({ appliance }: { readonly appliance: Appliance }) {
  const { concerns, limitations, read_only } = appliance;
  return (
    <>
      <section class="part">
        <h2>Needs attention</h2>
        {read_only && <p class="prose">It serves a backup, read-only.</p>}
        {concerns.length === 0 && <p>Nothing needs attention.</p>}
        <ul class="concerns">
          {concerns.map((concern) => (
            <ConcernLine key={concern.code + concern.message} concern={concern} />
          ))}
        </ul>
      </section>
      <section class="part">
        <h2>Status</h2>
        <RowsTable title="Status" heads={["What", "State", "Now"]} kind="appliance-facts">
          <Facts {...appliance} />
        </RowsTable>
        <p class="aside">
          Updated every few seconds while this page is seen.{" "}
          <a href="/handbook/running#status-and-concerns">When something needs attention</a>
        </p>
      </section>
      {limitations.length > 0 && (
        <section class="part">
          <h2>What this machine does not allow</h2>
          <ul class="prose">
            {limitations.map(({ code, message }) => (
              <li key={code}>{message}</li>
            ))}
          </ul>
        </section>
      )}
    </>
  );
}

const memoryOf = (own: string, left: string | null, all: string | null) =>
  left === null || all === null ? `${own} in use` : `${own} in use; ${left} of ${all} available`;

function Facts(appliance: Appliance) {
  const { concerns, disk, store, memory, work, log, started_at, url, version, schema_version } = appliance;
  const long = sizeText(store.log_bytes);
  return (
    <>
      <Row name="Disk of the data" of={concerns} codes={["disk_full", "disk_low", "no_room_for_backup"]}>
        {disk === null ? "not told" : `${sizeText(disk.free_bytes)} of ${sizeText(disk.size_bytes)} free`}
      </Row>
      <Row name="Database">{sizeText(store.database_bytes)}</Row>
      <Row name="Write-ahead log" of={concerns} codes={["log_large"]}>
        {long}; more than {sizeText(store.log_bound_bytes)} only while something reads for long
      </Row>
      <KeptRows {...appliance} />
      <Row name="Memory" of={concerns} codes={["memory_low"]}>
        {memoryOf(
          sizeText(memory.process_bytes),
          memory.available_bytes === null ? null : sizeText(memory.available_bytes),
          memory.total_bytes === null ? null : sizeText(memory.total_bytes),
        )}
      </Row>
      <Row name="Writes waiting" of={concerns} codes={["writes_delayed"]}>
        {work.writes_waiting === 0
          ? "none"
          : `${groupedDigits(work.writes_waiting)}, the oldest for ${formatDuration(work.oldest_write_wait_ms)}`}
      </Row>
      <Row name="Under way">
        {counted(work.long_reads, "long read", "long reads")}, {counted(work.scans, "scan", "scans")}
      </Row>
      <TrustRows {...appliance} />
      <Row name="Log" of={concerns} codes={["errors_logged"]}>
        {counted(log.errors, "error", "errors")}, {counted(log.warnings, "warning", "warnings")} since the start
      </Row>
      <Row name="Running since">
        <When instant={started_at} as="both" />
      </Row>
      {url !== null && (
        <Row name="Listens at">
          <Copied text={url} />
        </Row>
      )}
      <Row name="Version">
        {version}, schema {schema_version}
      </Row>
    </>
  );
}

/** What a recovery depends on: backups and ledger verification. */
function KeptRows({ concerns, backups: { last, count, size_bytes }, ledger }: Appliance) {
  return (
    <>
      <Row
        name="Last backup"
        of={concerns}
        // A missing first backup is neither fine nor yet a concern.
        codes={stated(last !== null, concerns, ["backup_missing", "backup_old", "backup_failed", "backup_damaged"])}
      >
        {last === null ? (
          "none"
        ) : (
          <>
            <When instant={last.created_at} as="both" />{" "}
            <span class="aside">
              {sizeText(last.size_bytes)}; {counted(count, "backup", "backups")} in all, {sizeText(size_bytes)}
            </span>
          </>
        )}
      </Row>
      <Row
        name="Data verified"
        of={concerns}
        codes={stated(ledger.verified_at !== null, concerns, [
          "data_damaged",
          "verification_missing",
          "verification_failed",
        ])}
      >
        {ledger.verified_at === null ? "never" : <When instant={ledger.verified_at} as="both" />}
        {ledger.is_verifying && <span class="aside"> being verified now</span>}
      </Row>
    </>
  );
}

/** Codes that determine the state of a row: none before the first run, unless one is already a concern. */
function stated<Code extends string>(
  hasAny: boolean,
  concerns: readonly { readonly code: string }[],
  codes: readonly Code[],
): readonly Code[] {
  return hasAny || concerns.some(({ code }) => (codes as readonly string[]).includes(code)) ? codes : [];
}

const SYNCHRONIZED = {
  yes: "kept by systemd-timesyncd",
  no: "not synchronized",
  unknown: "not known whether it is synchronized",
};

/** Clock and certificate, which clients rely on. */
function TrustRows({ concerns, clock, certificate }: Appliance) {
  const { is_synchronized, last_transaction_at } = clock;
  const kept = is_synchronized === null ? "unknown" : is_synchronized ? "yes" : "no";
  return (
    <>
      <Row name="Clock" of={concerns} codes={["clock_ahead", "clock_not_synchronized"]}>
        <When instant={clock.now} />{" "}
        <span class="aside">
          {SYNCHRONIZED[kept]}
          {last_transaction_at !== null && (
            <>
              ; last transaction <When instant={last_transaction_at} as="age" />
            </>
          )}
        </span>
      </Row>
      <Row
        name="TLS certificate"
        of={concerns}
        codes={["certificate_expired", "certificate_not_yet_valid", "certificate_expires"]}
      >
        {certificate === null ? (
          "none: plain HTTP"
        ) : (
          <>
            valid until <When instant={certificate.not_after} precision="day" />,{" "}
            {certificate.days_left < 0 ? "expired" : counted(certificate.days_left, "day left", "days left")}{" "}
            <span class="aside">
              <bdi>{certificate.names}</bdi>;{" "}
              <bdi>
                {certificate.is_own ? "made by the appliance, which renews it" : `issued by ${certificate.issuer}`}
              </bdi>
            </span>
          </>
        )}
      </Row>
    </>
  );
}

interface RowProps {
  readonly name: string;
  readonly of?: readonly ApplianceConcern[];
  /** Concern codes of the row; empty for a row without a state. */
  readonly codes?: readonly ApplianceConcern["code"][];
  readonly children: ComponentChildren;
}

function Row({ name, of = [], codes = [], children }: RowProps) {
  const own = of.filter(({ code }) => codes.includes(code));
  return (
    <tr>
      <th scope="row">{name}</th>
      <td>{codes.length > 0 && <State severity={own[0]?.severity ?? null} />}</td>
      <td>{children}</td>
    </tr>
  );
}

/** State as a word, a shape and a color. */
function State({ severity }: { readonly severity: ApplianceConcern["severity"] | null }) {
  if (severity === null) return <span class="state state-up">Fine</span>;
  return <span class={`state state-${severity === "error" ? "down" : "warning"}`}>{SEVERITIES[severity]}</span>;
}
