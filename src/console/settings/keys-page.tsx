// API keys page: user, permissions and last use. The text of a new key exists only in this page's memory.

import { api, type DataOf, read, unwrap } from "../api/client.ts";
import { useResponse } from "../api/response.ts";
import { ActionButton } from "../components/buttons.tsx";
import { Copied } from "../components/copied.tsx";
import { Paged } from "../components/paged.tsx";
import { ResponseState } from "../components/response-state.tsx";
import { RowsTable } from "../components/rows-table.tsx";
import { When } from "../components/when.tsx";
import { ConfirmForm } from "../forms/confirm-form.tsx";
import { DoneNote } from "../forms/done-note.tsx";
import { shownName } from "../names/shown-name.ts";
import { may, mayNow, me } from "../session/me.ts";
import { isolated } from "../text/isolated.ts";
import { settingsText } from "../text/settings.ts";
import { now } from "../time/clock.ts";
import { parseInstant } from "../time/instant.ts";
import { KeyForm } from "./key-form.tsx";
import { NetworkNames } from "./network-names.tsx";
import { mayGrant } from "./roles.ts";
import { SettingsPage } from "./settings-page.tsx";
import { type DialogEvents, useDialog } from "./use-dialog.ts";

type Key = DataOf<"/api/v1/auth/keys">[number];
type User = DataOf<"/api/v1/users">[number];

interface KeyAction {
  readonly action: "edit" | "rotate" | "delete";
  readonly key: Key;
}
/** Outcome of the last action. `text` is the text of a new key, shown only once. */
interface CompletedAction {
  readonly sentence: string;
  readonly text?: string;
}

export function KeysPage() {
  const { data, problem, retry } = useResponse(read("/api/v1/auth/keys", { query: { limit: 0 } }));
  const users = useResponse(read("/api/v1/users", { query: { limit: 0, order_by: "name" } })).data ?? [];
  const dialog = useDialog<KeyAction, CompletedAction>(retry, mayNow("createApiKey") ? "api_key" : null);
  const { requested, outcome } = dialog;
  return (
    <SettingsPage
      title={settingsText.tabs.keys}
      operation="listApiKeys"
      actions={mayNow("createApiKey") && <ActionButton label="New key" onClick={dialog.openNew} />}
    >
      <p class="prose">
        An API key lets a program use the API with a user's permissions or fewer. It stops working when that account is
        removed. <a href="/handbook/security">More about API keys</a>
      </p>
      {outcome !== null && <Outcome key={outcome.sentence + outcome.text} {...outcome} onClose={dialog.close} />}
      {dialog.isNew && (
        <KeyForm
          edited={null}
          users={users}
          onEnd={dialog.end}
          onDone={(name, text) =>
            dialog.finish({ sentence: `The key ${isolated(name)} was created.`, ...(text === null ? {} : { text }) })
          }
        />
      )}
      {requested !== null && (
        <ActionForm
          key={requested.action + requested.key.id}
          requested={requested}
          users={users}
          onEnd={dialog.end}
          onDone={dialog.finish}
        />
      )}
      <ResponseState data={data} problem={problem} retry={retry} />
      {data?.length === 0 && <p>No API keys.</p>}
      {data !== undefined && data.length > 0 && <KeyTable keys={data} users={users} onRequest={dialog.request} />}
    </SettingsPage>
  );
}

function Outcome({ sentence, text, onClose }: CompletedAction & { onClose(): void }) {
  return (
    <DoneNote sentence={sentence} onClose={onClose} closing={text === undefined ? "Close" : "I have copied it"}>
      {text !== undefined && (
        <>
          <p>Copy it now: only its hash is stored, and it is never shown again.</p>
          <p class="command">
            <Copied hasLabel text={text} />
          </p>
        </>
      )}
    </DoneNote>
  );
}

interface ActionFormProps extends DialogEvents<CompletedAction> {
  readonly requested: KeyAction;
  readonly users: readonly User[];
}

const deleteTitle = (name: string) => `Delete the key ${isolated(name)}`;
const editTitle = (name: string) => `Edit the key ${isolated(name)}`;
const rotateTitle = (name: string) => `Rotate the key ${isolated(name)}`;

function ActionForm({ requested, users, onEnd, onDone }: ActionFormProps) {
  const { id, name } = requested.key;
  if (requested.action === "edit")
    return (
      <KeyForm
        edited={requested.key}
        users={users}
        onEnd={onEnd}
        onDone={(saved) => onDone({ sentence: `The key ${isolated(saved)} was saved.` })}
      />
    );
  const isRotated = requested.action === "rotate";
  return (
    <ConfirmForm
      title={isRotated ? rotateTitle(name) : deleteTitle(name)}
      consequences={
        isRotated
          ? [
              "The key gets a new value, shown once. The old one stops working immediately: programs need the new one.",
              "This cannot be undone.",
            ]
          : [
              "The key stops working immediately, including for event streams. This cannot be undone.",
              "History keeps its name. To suspend it, edit it and clear Enabled.",
            ]
      }
      submitLabel={isRotated ? "Rotate the key" : "Delete the key"}
      isDestructive
      onEnd={onEnd}
      run={async ({ header, headers }) => {
        const params = { path: { id }, header };
        if (isRotated) {
          const { key: text } = await unwrap(api.POST("/api/v1/auth/keys/{id}/rotate", { params, headers }));
          onDone({ sentence: `The key ${isolated(name)} was rotated. The old value no longer works.`, text });
        } else {
          await unwrap(api.DELETE("/api/v1/auth/keys/{id}", { params, headers }));
          onDone({ sentence: `The key ${isolated(name)} was deleted. It no longer works.` });
        }
      }}
    />
  );
}

const HEADS = ["Name", "User, permissions", "Networks", "From", "State", "Expires", "Last used"];

interface KeyTableProps {
  readonly keys: readonly Key[];
  readonly users: readonly User[];
  onRequest(action: KeyAction): void;
}

function KeyTable({ keys, users, onRequest }: KeyTableProps) {
  const userOf = (key: Key) => users.find(({ id }) => id === key.user_id);
  return (
    <Paged rows={keys} title={settingsText.tabs.keys} textOf={(key) => `${key.name} ${key.key} ${userOf(key)?.name}`}>
      {(rows) => (
        <RowsTable title={settingsText.tabs.keys} heads={[...HEADS, may("updateApiKey") && settingsText.actions]}>
          {rows.map((key) => (
            <KeyRow key={key.id} apiKey={key} user={userOf(key)} onRequest={onRequest} />
          ))}
        </RowsTable>
      )}
    </Paged>
  );
}

interface KeyRowProps {
  readonly apiKey: Key;
  readonly user: User | undefined;
  onRequest(action: KeyAction): void;
}

function KeyRow({ apiKey: key, user, onRequest }: KeyRowProps) {
  const { name, permissions, all_networks, network_ids, allowed_sources, expires_at, last_used } = key;
  return (
    <tr>
      <th scope="row">
        <bdi>{name}</bdi>
        <div class="mono aside" title="Prefix">
          {key.key}
        </div>
      </th>
      <td>
        <bdi>{shownName(key.user_id, user?.name)}</bdi>
        <div class="aside">{permissions}</div>
      </td>
      <td>
        {all_networks && "same as user"}
        {!all_networks && <NetworkNames ids={network_ids} />}
      </td>
      <td>{allowed_sources === null ? "everywhere" : allowed_sources.join(", ")}</td>
      <td>
        <KeyState apiKey={key} user={user} />
      </td>
      <td>{expires_at === null ? "never" : <When instant={expires_at} precision="minute" />}</td>
      <td>{last_used === null ? "never" : <When instant={last_used} as="age" />}</td>
      {may("updateApiKey") && (
        <td>
          <KeyActions apiKey={key} user={user} onRequest={onRequest} />
        </td>
      )}
    </tr>
  );
}

function KeyState({ apiKey: { is_enabled, expires_at }, user }: Pick<KeyRowProps, "apiKey" | "user">) {
  if (!is_enabled || user?.is_enabled === false) return <span class="state">Disabled</span>;
  if (expires_at !== null && (parseInstant(expires_at) ?? 0) <= now.value)
    return <span class="state state-down">Expired</span>;
  return <span class="state state-up">Enabled</span>;
}

/** For another user's key, shown only if the signed-in user could grant that user's role. */
function KeyActions({ apiKey: key, user, onRequest }: KeyRowProps) {
  if (key.user_id !== me.value?.id && !mayGrant(user?.role)) return null;
  const { name } = key;
  const request = (action: KeyAction["action"]) => () => onRequest({ action, key });
  return (
    <span class="settings-actions">
      {mayNow("updateApiKey") && <ActionButton label="Edit" aria-label={editTitle(name)} onClick={request("edit")} />}
      {mayNow("rotateApiKey") && (
        <ActionButton label="Rotate" aria-label={rotateTitle(name)} onClick={request("rotate")} />
      )}
      {mayNow("deleteApiKey") && (
        <ActionButton label="Delete" aria-label={deleteTitle(name)} onClick={request("delete")} />
      )}
    </span>
  );
}
