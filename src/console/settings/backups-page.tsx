// Backups page: list with verification results, and actions to create, download, verify and delete.

import { useAnswer } from "../api/answer.ts";
import { api, type DataOf, done, read, rethrown } from "../api/client.ts";
import { usePoll } from "../api/poll.ts";
import { refusalOf } from "../api/refusal.ts";
import { AskFirst } from "../forms/ask-first.tsx";
import { Told } from "../forms/done-note.tsx";
import { OwnPassword } from "../forms/fields.tsx";
import { useSending } from "../forms/sending.ts";
import { useForm } from "../forms/use-form.ts";
import { Copied } from "../parts/copied.tsx";
import { Problem } from "../parts/problem.tsx";
import { RowsTable } from "../parts/rows-table.tsx";
import { saveFile } from "../parts/save-file.ts";
import { Waiting } from "../parts/waiting.tsx";
import { When } from "../parts/when.tsx";
import { may, mayNow } from "../session/me.ts";
import { groupedDigits } from "../text/digits.ts";
import { ledgerText } from "../text/ledger.ts";
import { settingsText, sizeText } from "../text/settings.ts";
import { hrefOf } from "../url/location.ts";
import { SettingsPage } from "./settings-page.tsx";
import { useDialog } from "./use-dialog.ts";

type Backup = DataOf<"/api/v1/backups">[number];
type Verification = DataOf<"/api/v1/ledger/verifications">[number];
type Asked = { readonly what: "download" | "delete"; readonly backup: Backup };
type Done = { readonly what: "started" | "downloaded" | "deleted"; readonly backup: Backup };

const RUNNING_MS = 1_000;

// Texts of the backups page.
const TOLD = {
  downloaded: (name: string) => `${name} was downloaded. Verify it where you keep it:`,
  deleted: (name: string) => `${name} was deleted.`,
  started: (name: string) => `${name} is being taken. You can leave this page meanwhile.`,
};

export function BackupsPage() {
  const asked = may("listBackups") ? read("/api/v1/backups", { query: { limit: 0 } }) : null;
  const answer = useAnswer(asked);
  const { data, problem, again } = answer;
  const dialog = useDialog<Asked, Done>(again);
  const { asked: ask, told } = dialog;
  const { problem: failed, send } = useSending();
  const verifications = useAnswer(may("listLedgerVerifications") ? read("/api/v1/ledger/verifications") : null);
  const isVerifying = verifications.data?.some(({ status }) => status === "Running") === true;
  usePoll(verifications, isVerifying ? RUNNING_MS : null);
  const isTaking = data?.some(({ state }) => state === "Running") === true;
  usePoll(answer, isTaking ? RUNNING_MS : null);
  const finish = (what: Done["what"], backup: Backup) => dialog.finish({ what, backup });
  const take = () => {
    dialog.close();
    void send("take", async (header) =>
      finish("started", await done(api.POST("/api/v1/backups", { params: { header } }))),
    );
  };
  const verify = ({ name }: Backup) => {
    dialog.close();
    void send(name, async (header) => {
      const params = { path: { name }, header };
      await done(api.POST("/api/v1/backups/{name}/verify", { params })).finally(verifications.again);
    });
  };
  const newest = data?.filter(({ state }) => state === "Done").at(-1);
  return (
    <SettingsPage
      title={settingsText.tabs.backups}
      operation="listBackups"
      forbidden={settingsText.ownersAlone}
      reads={asked === null ? [] : [asked.url]}
      actions={
        mayNow("createBackup") && (
          <button type="button" disabled={isTaking} onClick={take}>
            Take a backup
          </button>
        )
      }
    >
      <p class="prose">
        A backup is one consistent state of everything on this appliance. It is taken while the appliance is running,
        verified, and kept in the folder backups of its data until you delete it.
      </p>
      <p class="prose">
        The file netledger.key is not in it. It decrypts the secrets of credentials: keep a copy of it elsewhere, once.{" "}
        <a href="/handbook/backup">More about backups</a>
      </p>
      {failed !== null && <Problem problem={failed} />}
      {told !== null && (
        <Told key={told.what + told.backup.name} sentence={TOLD[told.what](told.backup.name)} onClose={dialog.close}>
          {told.what === "downloaded" && (
            <p class="command">
              <Copied isOffered text={verifyCommand(told.backup)} />
            </p>
          )}
        </Told>
      )}
      {ask !== null && (
        <Ask key={ask.what + ask.backup.name} {...ask} all={data ?? []} onEnd={dialog.end} onDone={finish} />
      )}
      {problem !== undefined && <Problem problem={problem} again={again} />}
      {data === undefined && problem === undefined && <Waiting />}
      {data?.length === 0 && <p>There is no backup yet.</p>}
      {newest !== undefined && (
        <p>
          The last one was taken <When instant={newest.created_at} as="age" />
        </p>
      )}
      {data !== undefined && data.length > 0 && (
        <Table
          backups={data.toReversed()}
          verifications={verifications.data ?? []}
          onAsk={dialog.ask}
          onVerify={isVerifying ? null : verify}
        />
      )}
    </SettingsPage>
  );
}

function verifyCommand({ name, sequence, hash }: Backup): string {
  return `netledger verify --backup ${name} --head ${sequence}:${hash}`;
}

interface AskProps extends Asked {
  readonly all: readonly Backup[];
  onEnd(): void;
  onDone(what: Done["what"], backup: Backup): void;
}

const downloadTitle = (name: string) => `Download ${name}`;

function Ask({ what, backup, all, onEnd, onDone }: AskProps) {
  const { name, state } = backup;
  const form = useForm();
  if (what === "download")
    return (
      <AskFirst
        form={form}
        title={downloadTitle(name)}
        says={[
          "The file has everything of the appliance, and the hashes of passwords and API keys. Keep it as you keep the appliance itself.",
          "Enter your password to confirm.",
        ]}
        verb="Download"
        hasReason={false}
        onEnd={onEnd}
        run={async () => {
          saveFile(await downloaded(name, form.secret("password")), name);
          onDone("downloaded", backup);
        }}
      >
        <OwnPassword form={form} label="Your password" />
      </AskFirst>
    );
  const newest = all.filter((each) => each.state === "Done").at(-1);
  const says =
    state === "Failed"
      ? ["It left no file. Only the note that it failed goes; the log keeps it."]
      : ["The file is removed from the appliance's disk, for good. This cannot be undone."];
  return (
    <AskFirst
      title={removalTitle(backup)}
      says={newest?.name === name ? ["It is the newest backup that is complete.", ...says] : says}
      verb={state === "Failed" ? "Forget" : "Delete the backup"}
      takesAway
      hasReason={false}
      onEnd={onEnd}
      run={async ({ header }) => {
        await done(api.DELETE("/api/v1/backups/{name}", { params: { path: { name }, header } }));
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
    .catch(rethrown);
  if (data === undefined) throw refusalOf(response, error);
  return data as Blob;
}

interface TableProps extends Omit<ActionsProps, "backup"> {
  /** Newest first. */
  readonly backups: readonly Backup[];
  /** Newest first, including those of live data. */
  readonly verifications: readonly Verification[];
}

const BACKUPS_STATES: Readonly<Record<string, string>> = { Running: "Being taken", Done: "Verified", Failed: "Failed" };

function Table({ backups, verifications, onAsk, onVerify }: TableProps) {
  return (
    <RowsTable title="Backups" heads={["Taken", "State", "Size", "Up to", "File", settingsText.actions]}>
      {backups.map((backup) => (
        <tr key={backup.name}>
          <td>
            <When instant={backup.created_at} as="both" />
          </td>
          <td>
            <span class={`state state-${STATES[backup.state]}`}>{BACKUPS_STATES[backup.state]}</span>
            {backup.reason !== null && <p>{backup.reason}</p>}
            <VerifiedAgain verification={verifications.find((each) => each.backup === backup.name)} />
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
                <span title="Copy the command that verifies it">{backup.name}</span>
              </Copied>
            ) : (
              backup.name
            )}
          </td>
          <td>
            <Actions backup={backup} onAsk={onAsk} onVerify={onVerify} />
          </td>
        </tr>
      ))}
    </RowsTable>
  );
}

const STATES = { Running: "other", Done: "up", Failed: "down" } as const;

/** Result of the latest verification after the backup was created. */
function VerifiedAgain({ verification }: { readonly verification: Verification | undefined }) {
  if (verification === undefined) return null;
  const { status, is_sound, findings, findings_total, progress, problem, started_at } = verification;
  if (status === "Running")
    return (
      <p class="aside" role="status">
        Being read again
        {progress !== null && `: ${ledgerText.step(progress.step, progress.done, progress.total)}`}
      </p>
    );
  if (is_sound === true)
    return (
      <p class="aside">
        Read again and sound <When instant={started_at} as="age" />
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
  onAsk(asked: Asked): void;
  /** Null while another verification runs. */
  readonly onVerify: ((backup: Backup) => void) | null;
}

function Actions({ backup, onAsk, onVerify }: ActionsProps) {
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
        <button
          type="button"
          aria-label={downloadTitle(backup.name)}
          onClick={() => onAsk({ what: "download", backup })}
        >
          Download
        </button>
      )}
      {mayNow("deleteBackup") && (
        <button type="button" aria-label={removalTitle(backup)} onClick={() => onAsk({ what: "delete", backup })}>
          {isDone ? "Delete" : "Forget"}
        </button>
      )}
    </span>
  );
}
