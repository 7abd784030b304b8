// Users page: roles and networks of everyone who can sign in, with forms to create, change and delete them.

import { api, type DataOf, read, unwrap } from "../api/client.ts";
import { useResponse } from "../api/response.ts";
import { ActionButton } from "../components/buttons.tsx";
import { Paged } from "../components/paged.tsx";
import { Problem } from "../components/problem.tsx";
import { ResponseState } from "../components/response-state.tsx";
import { RowsTable } from "../components/rows-table.tsx";
import { Waiting } from "../components/waiting.tsx";
import { When } from "../components/when.tsx";
import { ConfirmForm } from "../forms/confirm-form.tsx";
import { DoneNote } from "../forms/done-note.tsx";
import { may, mayNow, me } from "../session/me.ts";
import { groupedDigits } from "../text/digits.ts";
import { editText } from "../text/editing.ts";
import { isolated } from "../text/isolated.ts";
import { settingsText } from "../text/settings.ts";
import { NetworkNames } from "./network-names.tsx";
import { mayGrant, reachesAll } from "./roles.ts";
import { SettingsPage } from "./settings-page.tsx";
import { type DialogEvents, useDialog } from "./use-dialog.ts";
import { UserForm } from "./user-form.tsx";

type User = DataOf<"/api/v1/users">[number];
interface UserAction {
  readonly action: "edit" | "delete";
  readonly user: User;
}

export function PeoplePage() {
  const request = read("/api/v1/users", { query: { limit: 0, order_by: "name" } });
  const { data, problem, retry } = useResponse(request, { how: "refresh", types: ["user"] });
  const dialog = useDialog<UserAction>(retry, mayNow("createUser") ? "user" : null);
  return (
    <SettingsPage
      title={settingsText.tabs.people}
      operation="listUsers"
      reads={[request.url]}
      actions={mayNow("createUser") && <ActionButton label="New user" onClick={dialog.openNew} />}
    >
      <p class="prose">
        Users who may sign in, with their roles and networks. You can't grant or revoke a role higher than your own.
      </p>
      {dialog.outcome !== null && <DoneNote key={dialog.outcome} sentence={dialog.outcome} onClose={dialog.close} />}
      {dialog.isNew && (
        <UserForm
          edited={null}
          onEnd={dialog.end}
          onDone={(name) =>
            dialog.finish(
              `${isolated(name)} can sign in now. Give them the password; they can change it under Settings, Account.`,
            )
          }
        />
      )}
      {dialog.requested !== null && (
        <ActionForm
          key={dialog.requested.action + dialog.requested.user.id}
          request={dialog.requested}
          onEnd={dialog.end}
          onDone={dialog.finish}
        />
      )}
      <ResponseState data={data} problem={problem} retry={retry} />
      {data !== undefined && <UserTable users={data} onRequest={dialog.request} />}
    </SettingsPage>
  );
}

function ActionForm({ request, onEnd, onDone }: DialogEvents & { readonly request: UserAction }) {
  if (request.action === "edit")
    return <UserForm edited={request.user} onEnd={onEnd} onDone={(name) => onDone(`${isolated(name)} was saved.`)} />;
  return (
    <Removal user={request.user} onEnd={onEnd} onDone={() => onDone(`${isolated(request.user.name)} was deleted.`)} />
  );
}

const deletedKeysText = (count: number) =>
  count === 0
    ? "They have no API keys."
    : `${count === 1 ? "Their API key is" : `Their ${groupedDigits(count)} API keys are`} deleted as well, at once.`;

const deleteTitle = (name: string) => `Delete ${isolated(name)}`;

/** Waits for the number of keys deleted along with the user. */
function Removal({ user: { id, name }, onEnd, onDone }: { readonly user: User; onEnd(): void; onDone(): void }) {
  const keysRequest = read("/api/v1/auth/keys", { query: { filter: `user_id = "${id}"`, limit: 1 } });
  const { meta, problem } = useResponse(keysRequest);
  const count = meta?.pagination.total_count;
  if (problem !== undefined) return <Problem problem={problem} />;
  if (count === undefined) return <Waiting />;
  return (
    <ConfirmForm
      title={deleteTitle(name)}
      consequences={[
        deletedKeysText(count),
        "Their sessions end. This cannot be undone: a user who is added again has a new id and needs new keys.",
        "History keeps their name. To suspend a user, edit them and clear “May sign in”.",
      ]}
      submitLabel="Delete the user"
      isDestructive
      onEnd={onEnd}
      run={async ({ header, headers }) => {
        await unwrap(api.DELETE("/api/v1/users/{id}", { params: { path: { id }, header }, headers }));
        onDone();
      }}
    />
  );
}

const HEADS = ["Name", "E-mail", "Role", "Networks", "State", "Last sign-in"];

function UserTable({ users, onRequest }: { readonly users: readonly User[]; onRequest(action: UserAction): void }) {
  return (
    <Paged rows={users} title={settingsText.tabs.people} textOf={({ name, email, role }) => `${name} ${email} ${role}`}>
      {(rows) => (
        <RowsTable title={settingsText.tabs.people} heads={[...HEADS, may("updateUser") && settingsText.actions]}>
          {rows.map((user) => (
            <UserRow key={user.id} user={user} onRequest={onRequest} />
          ))}
        </RowsTable>
      )}
    </Paged>
  );
}

function UserRow({ user, onRequest }: { readonly user: User; onRequest(action: UserAction): void }) {
  const { id, name, email, role, network_ids, is_enabled, last_login } = user;
  return (
    <tr>
      <th scope="row">
        <bdi>{name}</bdi> {id === me.value?.id && <span class="label">you</span>}
      </th>
      <td>
        <bdi class="mail">{email}</bdi>
      </td>
      <td>{role}</td>
      <td>{reachesAll(role) ? "all" : <NetworkNames ids={network_ids} />}</td>
      <td>
        <span class={is_enabled ? "state state-up" : "state"}>{is_enabled ? "Enabled" : "Disabled"}</span>
      </td>
      <td>{last_login === null ? "never" : <When instant={last_login} as="age" />}</td>
      {may("updateUser") && (
        <td>
          <UserActions user={user} onRequest={onRequest} />
        </td>
      )}
    </tr>
  );
}

/** Shown only for users whose role the signed-in user could grant. */
function UserActions({ user, onRequest }: { readonly user: User; onRequest(action: UserAction): void }) {
  if (!mayGrant(user.role)) return null;
  const { id, name } = user;
  const request = (action: UserAction["action"]) => () => onRequest({ action, user });
  return (
    <span class="settings-actions">
      {mayNow("updateUser") && (
        <ActionButton label="Edit" aria-label={editText.title(name)} onClick={request("edit")} />
      )}
      {mayNow("deleteUser") && id !== me.value?.id && (
        <ActionButton label="Delete" aria-label={deleteTitle(name)} onClick={request("delete")} />
      )}
    </span>
  );
}
