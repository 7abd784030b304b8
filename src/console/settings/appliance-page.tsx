// Appliance status: concerns first, then all facts, each with its state as a word. Polled while visible.

import type { ComponentChildren } from "preact";
import { type DataOf, read } from "../api/client.ts";
import { usePoll } from "../api/poll.ts";
import { useResponse } from "../api/response.ts";
import { type ApplianceConcern, ConcernLine, SEVERITIES } from "../components/concern.tsx";
import { Copied } from "../components/copied.tsx";
import { ResponseState } from "../components/response-state.tsx";
import { RowsTable } from "../components/rows-table.tsx";
import { Section } from "../components/section.tsx";
import { When } from "../components/when.tsx";
import { may } from "../session/me.ts";
import { counted, groupedDigits } from "../text/digits.ts";
import { settingsText, sizeText } from "../text/settings.ts";
import { formatDuration } from "../time/instant.ts";
import { SettingsPage } from "./settings-page.tsx";

type Appliance = DataOf<"/api/v1/appliance">;

const REFRESH_MS = 5_000;

export function AppliancePage() {
  const response = useResponse(may("getAppliance") ? read("/api/v1/appliance") : null);
  const { data, problem, retry } = response;
  usePoll(response, REFRESH_MS);
  return (
    <SettingsPage title={settingsText.tabs.appliance} operation="getAppliance" forbidden={settingsText.ownersOnly}>
      <ResponseState data={data} problem={problem} retry={retry} />
      {data !== undefined && <ApplianceStatus appliance={data} />}
    </SettingsPage>
  );
}

function ApplianceStatus({ appliance }: { readonly appliance: Appliance }) {
  const { concerns, limitations, read_only } = appliance;
  return (
    <>
      <Section title="Needs attention" className="part">
        {read_only && <p class="prose">Serving a backup, read-only.</p>}
        {concerns.length === 0 && <p>Nothing needs attention.</p>}
        <ul class="concerns">
          {concerns.map((concern) => (
            <ConcernLine key={concern.code + concern.message} concern={concern} />
          ))}
        </ul>
      </Section>
      <Section title="Status" className="part">
        <RowsTable title="Status" heads={["Item", "State", "Value"]} className="appliance-facts">
          <Facts {...appliance} />
        </RowsTable>
        <p class="aside">
          Updated every few seconds while this page is visible.{" "}
          <a href="/handbook/running#status-and-concerns">When something needs attention</a>
        </p>
      </Section>
      {limitations.length > 0 && (
        <Section title="Restrictions of this machine" className="part">
          <ul class="prose">
            {limitations.map(({ code, message }) => (
              <li key={code}>{message}</li>
            ))}
          </ul>
        </Section>
      )}
    </>
  );
}

function Facts(appliance: Appliance) {
  const { concerns, disk, store, memory, work, log, started_at, url, version, schema_version } = appliance;
  const { available_bytes: available, total_bytes: total } = memory;
  return (
    <>
      <Row name="Disk of the data" concerns={concerns} codes={["disk_full", "disk_low", "no_room_for_backup"]}>
        {disk === null ? "unknown" : `${sizeText(disk.free_bytes)} of ${sizeText(disk.size_bytes)} free`}
      </Row>
      <Row name="Database">{sizeText(store.database_bytes)}</Row>
      <Row name="Write-ahead log" concerns={concerns} codes={["log_large"]}>
        {sizeText(store.log_bytes)}; exceeds {sizeText(store.log_bound_bytes)} only during long reads
      </Row>
      <RecoveryRows {...appliance} />
      <Row name="Memory" concerns={concerns} codes={["memory_low"]}>
        {sizeText(memory.process_bytes)} in use
        {available !== null && total !== null && `; ${sizeText(available)} of ${sizeText(total)} available`}
      </Row>
      <Row name="Writes waiting" concerns={concerns} codes={["writes_delayed"]}>
        {work.writes_waiting === 0
          ? "none"
          : `${groupedDigits(work.writes_waiting)}, the oldest for ${formatDuration(work.oldest_write_wait_ms)}`}
      </Row>
      <Row name="In progress">
        {counted(work.long_reads, "long read", "long reads")}, {counted(work.scans, "scan", "scans")}
      </Row>
      <TrustRows {...appliance} />
      <Row name="Log" concerns={concerns} codes={["errors_logged"]}>
        {counted(log.errors, "error", "errors")}, {counted(log.warnings, "warning", "warnings")} since the start
      </Row>
      <Row name="Running since">
        <When instant={started_at} as="both" />
      </Row>
      {url !== null && (
        <Row name="Listening at">
          <Copied text={url} />
        </Row>
      )}
      <Row name="Version">
        {version}, schema {schema_version}
      </Row>
    </>
  );
}

const VERIFICATION_CODES = ["data_damaged", "verification_missing", "verification_failed"] as const;

/** Prerequisites for recovery: backups and ledger verification. */
function RecoveryRows({ concerns, backups: { last, count, size_bytes }, ledger }: Appliance) {
  return (
    <>
      <Row
        name="Last backup"
        concerns={concerns}
        // A missing first backup is neither fine nor yet a concern.
        codes={stateCodes(last !== null, concerns, ["backup_missing", "backup_old", "backup_failed", "backup_damaged"])}
      >
        {last === null ? (
          "none"
        ) : (
          <>
            <When instant={last.created_at} as="both" />{" "}
            <span class="aside">
              {sizeText(last.size_bytes)}; {counted(count, "backup", "backups")} in total, {sizeText(size_bytes)}
            </span>
          </>
        )}
      </Row>
      <Row
        name="Data verified"
        concerns={concerns}
        codes={stateCodes(ledger.verified_at !== null, concerns, VERIFICATION_CODES)}
      >
        {ledger.verified_at === null ? "never" : <When instant={ledger.verified_at} as="both" />}
        {ledger.is_verifying && <span class="aside"> being verified now</span>}
      </Row>
    </>
  );
}

/** Codes that determine the state of a row: none before the first run, unless there already is a concern. */
function stateCodes<Code extends string>(
  hasAny: boolean,
  concerns: readonly { readonly code: string }[],
  codes: readonly Code[],
): readonly Code[] {
  return hasAny || concerns.some(({ code }) => (codes as readonly string[]).includes(code)) ? codes : [];
}

/** Clock and certificate, which clients rely on. */
function TrustRows({ concerns, clock, certificate }: Appliance) {
  const { is_synchronized, last_transaction_at } = clock;
  const syncText = is_synchronized ? "synchronized by systemd-timesyncd" : "not synchronized";
  return (
    <>
      <Row name="Clock" concerns={concerns} codes={["clock_ahead", "clock_not_synchronized"]}>
        <When instant={clock.now} />{" "}
        <span class="aside">
          {is_synchronized === null ? "synchronization unknown" : syncText}
          {last_transaction_at !== null && (
            <>
              ; last transaction <When instant={last_transaction_at} as="age" />
            </>
          )}
        </span>
      </Row>
      <Row
        name="TLS certificate"
        concerns={concerns}
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
                {certificate.is_own ? "created and renewed by the appliance" : `issued by ${certificate.issuer}`}
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
  readonly concerns?: readonly ApplianceConcern[];
  /** Concern codes of the row; empty for a row without a state. */
  readonly codes?: readonly ApplianceConcern["code"][];
  readonly children: ComponentChildren;
}

function Row({ name, concerns = [], codes = [], children }: RowProps) {
  const rowConcerns = concerns.filter(({ code }) => codes.includes(code));
  return (
    <tr>
      <th scope="row">{name}</th>
      <td>{codes.length > 0 && <State severity={rowConcerns[0]?.severity ?? null} />}</td>
      <td>{children}</td>
    </tr>
  );
}

/** State as a word, a shape and a color. */
function State({ severity }: { readonly severity: ApplianceConcern["severity"] | null }) {
  if (severity === null) return <span class="state state-up">Fine</span>;
  return <span class={`state state-${severity === "error" ? "down" : "warning"}`}>{SEVERITIES[severity]}</span>;
}
