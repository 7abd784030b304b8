// Backups page: list with verification results, and actions to create, download, verify and delete.

import { api, type DataOf, read, throwRefusal, unwrap } from "../api/client.ts";
import { usePoll } from "../api/poll.ts";
import { refusalOf } from "../api/refusal.ts";
import { useResponse } from "../api/response.ts";
import { ActionButton } from "../components/buttons.tsx";
import { Copied } from "../components/copied.tsx";
import { Problem } from "../components/problem.tsx";
import { ResponseState } from "../components/response-state.tsx";
import { RowsTable } from "../components/rows-table.tsx";
import { saveFile } from "../components/save-file.ts";
import { When } from "../components/when.tsx";
import { ConfirmForm } from "../forms/confirm-form.tsx";
import { DoneNote } from "../forms/done-note.tsx";
import { CurrentPasswordField } from "../forms/fields.tsx";
import { useForm } from "../forms/use-form.ts";
import { useWrite } from "../forms/use-write.ts";
import { may, mayNow } from "../session/me.ts";
import { groupedDigits } from "../text/digits.ts";
import { ledgerText } from "../text/ledger.ts";
import { settingsText, sizeText } from "../text/settings.ts";
import { hrefOf } from "../url/location.ts";
import { SettingsPage } from "./settings-page.tsx";
import { useDialog } from "./use-dialog.ts";

type Backup = DataOf<"/api/v1/backups">[number];
type Verification = DataOf<"/api/v1/ledger/verifications">[number];
type BackupAction = { readonly action: "download" | "delete"; readonly backup: Backup };
type Outcome = { readonly result: "started" | "downloaded" | "deleted"; readonly backup: Backup };

const POLL_MS = 1_000;

const MESSAGES = {
  downloaded: (name: string) => `${name} was downloaded. Verify it where you keep it:`,
  deleted: (name: string) => `${name} was deleted.`,
  started: (name: string) => `${name} is being taken. You can leave this page.`,
};

export function BackupsPage() {
  const request = may("listBackups") ? read("/api/v1/backups", { query: { limit: 0 } }) : null;
  const response = useResponse(request);
  const { data, problem, retry } = response;
  const dialog = useDialog<BackupAction, Outcome>(retry);
  const { requested, outcome } = dialog;
  const { problem: sendProblem, send } = useWrite();
  const verifications = useResponse(may("listLedgerVerifications") ? read("/api/v1/ledger/verifications") : null);
  const isVerifying = verifications.data?.some(({ status }) => status === "Running") === true;
  usePoll(verifications, isVerifying ? POLL_MS : null);
  const isBackupRunning = data?.some(({ state }) => state === "Running") === true;
  usePoll(response, isBackupRunning ? POLL_MS : null);
  const finish = (result: Outcome["result"], backup: Backup) => dialog.finish({ result, backup });
  const takeBackup = () => {
    dialog.close();
    void send("take", async (header) =>
      finish("started", await unwrap(api.POST("/api/v1/backups", { params: { header } }))),
    );
  };
  const verify = ({ name }: Backup) => {
    dialog.close();
    void send(name, async (header) => {
      const params = { path: { name }, header };
      await unwrap(api.POST("/api/v1/backups/{name}/verify", { params })).finally(verifications.retry);
    });
  };
  const newest = data?.findLast(({ state }) => state === "Done");
  return (
    <SettingsPage
      title={settingsText.tabs.backups}
      operation="listBackups"
      forbidden={settingsText.ownersOnly}
      reads={request === null ? [] : [request.url]}
      actions={
        mayNow("createBackup") && <ActionButton label="Take a backup" disabled={isBackupRunning} onClick={takeBackup} />
      }
    >
      <p class="prose">
        A backup is a consistent snapshot of this appliance. It is taken while the appliance runs, verified, and stored
        in the backups folder of its data until you delete it.
      </p>
      <p class="prose">
        The file netledger.key is not included. It decrypts credential secrets: keep a copy of it elsewhere.{" "}
        <a href="/handbook/backup">More about backups</a>
      </p>
      {sendProblem !== null && <Problem problem={sendProblem} />}
      {outcome !== null && (
        <DoneNote
          key={outcome.result + outcome.backup.name}
          sentence={MESSAGES[outcome.result](outcome.backup.name)}
          onClose={dialog.close}
        >
          {outcome.result === "downloaded" && (
            <p class="command">
              <Copied hasLabel text={verifyCommand(outcome.backup)} />
            </p>
          )}
        </DoneNote>
      )}
      {requested !== null && (
        <ActionForm
          key={requested.action + requested.backup.name}
          {...requested}
          backups={data ?? []}
          onEnd={dialog.end}
          onDone={finish}
        />
      )}
      <ResponseState data={data} problem={problem} retry={retry} />
      {data?.length === 0 && <p>No backups.</p>}
      {newest !== undefined && (
        <p>
          Last backup: <When instant={newest.created_at} as="age" />
        </p>
      )}
      {data !== undefined && data.length > 0 && (
        <BackupTable
          backups={data.toReversed()}
          verifications={verifications.data ?? []}
          onRequest={dialog.request}
          onVerify={isVerifying ? null : verify}
        />
      )}
    </SettingsPage>
  );
}

function verifyCommand({ name, sequence, hash }: Backup): string {
  return `netledger verify --backup ${name} --head ${sequence}:${hash}`;
}

interface ActionFormProps extends BackupAction {
  readonly backups: readonly Backup[];
  onEnd(): void;
  onDone(result: Outcome["result"], backup: Backup): void;
}

const downloadTitle = (name: string) => `Download ${name}`;

function ActionForm({ action, backup, backups, onEnd, onDone }: ActionFormProps) {
  const { name, state } = backup;
  const form = useForm();
  if (action === "download")
    return (
      <ConfirmForm
        form={form}
        title={downloadTitle(name)}
        consequences={[
          "The file contains all data, including hashes of passwords and API keys. Protect it like the appliance itself.",
          "Enter your password to confirm.",
        ]}
        submitLabel="Download"
        hasReason={false}
        onEnd={onEnd}
        run={async () => {
          saveFile(await downloaded(name, form.secret("password")), name);
          onDone("downloaded", backup);
        }}
      >
        <CurrentPasswordField form={form} label="Your password" />
      </ConfirmForm>
    );
  const newest = backups.findLast((candidate) => candidate.state === "Done");
  const consequences =
    state === "Failed"
      ? ["There is no file. Only the failure entry is removed; the log keeps it."]
      : ["The file is permanently removed from the appliance's disk. This cannot be undone."];
  return (
    <ConfirmForm
      title={removalTitle(backup)}
      consequences={newest?.name === name ? ["This is the newest complete backup.", ...consequences] : consequences}
      submitLabel={state === "Failed" ? "Forget" : "Delete the backup"}
      isDestructive
      hasReason={false}
      onEnd={onEnd}
      run={async ({ header }) => {
        await unwrap(api.DELETE("/api/v1/backups/{name}", { params: { path: { name }, header } }));
        onDone("deleted", backup);
      }}
    />
  );
}

function removalTitle({ name, state }: Backup): string {
  return state === "Failed" ? `Forget ${name}` : `Delete ${name}`;
}

/** Downloads a backup. @throws Refusal */
async function downloaded(name: string, password: string): Promise<Blob> {
  const { data, error, response } = await api
    .POST("/api/v1/backups/{name}/download", { params: { path: { name } }, body: { password }, parseAs: "blob" })
    .catch(throwRefusal);
  if (data === undefined) throw refusalOf(response, error);
  return data as Blob;
}

interface BackupTableProps extends Omit<ActionsProps, "backup"> {
  /** Newest first. */
  readonly backups: readonly Backup[];
  /** Newest first, including those of live data. */
  readonly verifications: readonly Verification[];
}

function BackupTable({ backups, verifications, onRequest, onVerify }: BackupTableProps) {
  return (
    <RowsTable title="Backups" heads={["Taken", "State", "Size", "Up to", "File", settingsText.actions]}>
      {backups.map((backup) => (
        <tr key={backup.name}>
          <td>
            <When instant={backup.created_at} as="both" />
          </td>
          <td>
            <span class={`state state-${STATES[backup.state][1]}`}>{STATES[backup.state][0]}</span>
            {backup.reason !== null && <p>{backup.reason}</p>}
            <Reverification verification={verifications.find((candidate) => candidate.backup === backup.name)} />
          </td>
          <td>{backup.size_bytes !== null && sizeText(backup.size_bytes)}</td>
          <td>
            {backup.sequence !== null && (
              <a href={hrefOf(`/changes/${backup.sequence}`, { at: null })}>
                transaction {groupedDigits(backup.sequence)}
              </a>
            )}
          </td>
          <td>
            {backup.state === "Done" ? (
              <Copied text={verifyCommand(backup)}>
                <span title="Copy the verification command">{backup.name}</span>
              </Copied>
            ) : (
              backup.name
            )}
          </td>
          <td>
            <Actions backup={backup} onRequest={onRequest} onVerify={onVerify} />
          </td>
        </tr>
      ))}
    </RowsTable>
  );
}

/** Word and CSS class. */
const STATES = { Running: ["Running", "other"], Done: ["Verified", "up"], Failed: ["Failed", "down"] } as const;

/** Result of the latest verification after the backup was created. */
function Reverification({ verification }: { readonly verification: Verification | undefined }) {
  if (verification === undefined) return null;
  const { status, is_sound, findings, findings_total, progress, problem, started_at } = verification;
  if (status === "Running")
    return (
      <p class="aside" role="status">
        Verifying again
        {progress !== null && `: ${ledgerText.step(progress.step, progress.done, progress.total)}`}
      </p>
    );
  if (is_sound === true)
    return (
      <p class="aside">
        Verified again, no problems <When instant={started_at} as="age" />
      </p>
    );
  return (
    <p>
      <span class="state state-down">
        {findings_total > 0
          ? `Damaged: ${findings_total} ${findings_total === 1 ? "finding" : "findings"}`
          : (ledgerText.statuses[status] ?? status)}
      </span>{" "}
      {problem ?? findings[0]?.message}
    </p>
  );
}

interface ActionsProps {
  readonly backup: Backup;
  onRequest(request: BackupAction): void;
  /** Null while another verification runs. */
  readonly onVerify: ((backup: Backup) => void) | null;
}

function Actions({ backup, onRequest, onVerify }: ActionsProps) {
  if (backup.state === "Running") return null;
  const isDone = backup.state === "Done";
  return (
    <span class="settings-actions">
      {isDone && mayNow("verifyBackup") && (
        <button
          type="button"
          aria-label={`Verify ${backup.name}`}
          // Not `disabled`, so that the button keeps the focus.
          aria-disabled={onVerify === null}
          onClick={() => onVerify?.(backup)}
        >
          Verify
        </button>
      )}
      {isDone && mayNow("downloadBackup") && (
        <ActionButton
          label="Download"
          aria-label={downloadTitle(backup.name)}
          onClick={() => onRequest({ action: "download", backup })}
        />
      )}
      {mayNow("deleteBackup") && (
        <button type="button" aria-label={removalTitle(backup)} onClick={() => onRequest({ action: "delete", backup })}>
          {isDone ? "Delete" : "Forget"}
        </button>
      )}
    </span>
  );
}
