// Appliance status: concerns first, then all facts, each with its state in a word. Polled while visible.

import type { ComponentChildren } from "preact";
import { useAnswer } from "../api/answer.ts";
import { type DataOf, read } from "../api/client.ts";
import { usePoll } from "../api/poll.ts";
import { type ApplianceConcern, ConcernLine } from "../parts/concern.tsx";
import { Copied } from "../parts/copied.tsx";
import { Problem } from "../parts/problem.tsx";
import { RowsTable } from "../parts/rows-table.tsx";
import { Waiting } from "../parts/waiting.tsx";
import { When } from "../parts/when.tsx";
import { may } from "../session/me.ts";
import { applianceText } from "../text/appliance.ts";
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
        <h2>{applianceText.attention}</h2>
        {read_only && <p class="prose">{applianceText.readOnly}</p>}
        {concerns.length === 0 && <p>{applianceText.nothing}</p>}
        <ul class="concerns">
          {concerns.map((concern) => (
            <ConcernLine key={concern.code + concern.message} concern={concern} />
          ))}
        </ul>
      </section>
      <section class="part">
        <h2>{applianceText.facts}</h2>
        <RowsTable
          title={applianceText.facts}
          heads={[applianceText.fact, applianceText.state, applianceText.value]}
          kind="appliance-facts"
        >
          <Facts {...appliance} />
        </RowsTable>
        <p class="aside">
          {applianceText.says} <a href="/handbook/running#status-and-concerns">{applianceText.handbook}</a>
        </p>
      </section>
      {limitations.length > 0 && (
        <section class="part">
          <h2>{applianceText.limitations}</h2>
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

function Facts(appliance: Appliance) {
  const { concerns, disk, store, memory, work, log, started_at, url, version, schema_version } = appliance;
  const long = sizeText(store.log_bytes);
  return (
    <>
      <Row name={applianceText.disk} of={concerns} codes={["disk_full", "disk_low", "no_room_for_backup"]}>
        {disk === null
          ? applianceText.notTold
          : applianceText.diskOf(sizeText(disk.free_bytes), sizeText(disk.size_bytes))}
      </Row>
      <Row name={applianceText.database}>{sizeText(store.database_bytes)}</Row>
      <Row name={applianceText.log} of={concerns} codes={["log_large"]}>
        {applianceText.logOf(long, sizeText(store.log_bound_bytes))}
      </Row>
      <KeptRows {...appliance} />
      <Row name={applianceText.memory} of={concerns} codes={["memory_low"]}>
        {applianceText.memoryOf(
          sizeText(memory.process_bytes),
          memory.available_bytes === null ? null : sizeText(memory.available_bytes),
          memory.total_bytes === null ? null : sizeText(memory.total_bytes),
        )}
      </Row>
      <Row name={applianceText.writes} of={concerns} codes={["writes_delayed"]}>
        {applianceText.writesOf(work.writes_waiting, formatDuration(work.oldest_write_wait_ms))}
      </Row>
      <Row name={applianceText.work}>{applianceText.workOf(work.long_reads, work.scans)}</Row>
      <TrustRows {...appliance} />
      <Row name={applianceText.logLines} of={concerns} codes={["errors_logged"]}>
        {applianceText.logLinesOf(log.errors, log.warnings)}
      </Row>
      <Row name={applianceText.started}>
        <When instant={started_at} as="both" />
      </Row>
      {url !== null && (
        <Row name={applianceText.url}>
          <Copied text={url} />
        </Row>
      )}
      <Row name={applianceText.version}>{applianceText.versionOf(version, schema_version)}</Row>
    </>
  );
}

/** What a recovery depends on: backups and ledger verification. */
function KeptRows({ concerns, backups: { last, count, size_bytes }, ledger }: Appliance) {
  return (
    <>
      <Row
        name={applianceText.backup}
        of={concerns}
        // A missing first backup is neither fine nor yet a concern.
        codes={stated(last !== null, concerns, ["backup_missing", "backup_old", "backup_failed", "backup_damaged"])}
      >
        {last === null ? (
          applianceText.noBackup
        ) : (
          <>
            <When instant={last.created_at} as="both" />{" "}
            <span class="aside">{applianceText.backupOf(sizeText(last.size_bytes), count, sizeText(size_bytes))}</span>
          </>
        )}
      </Row>
      <Row
        name={applianceText.verified}
        of={concerns}
        codes={stated(ledger.verified_at !== null, concerns, [
          "data_damaged",
          "verification_missing",
          "verification_failed",
        ])}
      >
        {ledger.verified_at === null ? applianceText.neverVerified : <When instant={ledger.verified_at} as="both" />}
        {ledger.is_verifying && <span class="aside"> {applianceText.verifying}</span>}
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

/** Clock and certificate, which clients rely on. */
function TrustRows({ concerns, clock, certificate }: Appliance) {
  const { is_synchronized, last_transaction_at } = clock;
  const kept = is_synchronized === null ? "unknown" : is_synchronized ? "yes" : "no";
  return (
    <>
      <Row name={applianceText.clock} of={concerns} codes={["clock_ahead", "clock_not_synchronized"]}>
        <When instant={clock.now} />{" "}
        <span class="aside">
          {applianceText.synchronized[kept]}
          {last_transaction_at !== null && (
            <>
              ; {applianceText.lastWrite} <When instant={last_transaction_at} as="age" />
            </>
          )}
        </span>
      </Row>
      <Row
        name={applianceText.certificate}
        of={concerns}
        codes={["certificate_expired", "certificate_not_yet_valid", "certificate_expires"]}
      >
        {certificate === null ? (
          applianceText.plain
        ) : (
          <>
            {applianceText.until} <When instant={certificate.not_after} precision="day" />,{" "}
            {applianceText.daysLeft(certificate.days_left)}{" "}
            <span class="aside">
              <bdi>{certificate.names}</bdi>;{" "}
              <bdi>{certificate.is_own ? applianceText.own : applianceText.givenBy(certificate.issuer)}</bdi>
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
  if (severity === null) return <span class="state state-up">{applianceText.fine}</span>;
  return (
    <span class={`state state-${severity === "error" ? "down" : "warning"}`}>{applianceText.severities[severity]}</span>
  );
}
