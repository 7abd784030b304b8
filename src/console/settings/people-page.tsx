// Users page: roles and networks of everyone who may sign in, with creation, changes and deletion.

import { useAnswer } from "../api/answer.ts";
import { api, type DataOf, done, read } from "../api/client.ts";
import { AskFirst } from "../forms/ask-first.tsx";
import { Told } from "../forms/done-note.tsx";
import { Named } from "../names/named.tsx";
import { Paged } from "../parts/paged.tsx";
import { Problem } from "../parts/problem.tsx";
import { RowsTable } from "../parts/rows-table.tsx";
import { Waiting } from "../parts/waiting.tsx";
import { When } from "../parts/when.tsx";
import { may, mayNow, me } from "../session/me.ts";
import { groupedDigits } from "../text/digits.ts";
import { editText } from "../text/editing.ts";
import { isolated } from "../text/isolated.ts";
import { settingsText } from "../text/settings.ts";
import { reachesAll, rolesUpTo } from "./roles.ts";
import { SettingsPage } from "./settings-page.tsx";
import { useDialog } from "./use-dialog.ts";
import { UserForm } from "./user-form.tsx";

type User = DataOf<"/api/v1/users">[number];
interface Asked {
  readonly what: "edit" | "delete";
  readonly user: User;
}

export function PeoplePage() {
  const asked = read("/api/v1/users", { query: { limit: 0, order_by: "name" } });
  const { data, problem, again } = useAnswer(asked, { how: "refresh", types: ["user"] });
  const dialog = useDialog<Asked>(again, mayNow("createUser") ? "user" : null);
  return (
    <SettingsPage
      title={settingsText.tabs.people}
      operation="listUsers"
      reads={[asked.url]}
      actions={
        mayNow("createUser") && (
          <button type="button" onClick={dialog.openNew}>
            New user
          </button>
        )
      }
    >
      <p class="prose">
        Who may sign in, what they may do, and which networks they reach. You can't grant or revoke a role higher than
        your own.
      </p>
      {dialog.told !== null && <Told key={dialog.told} sentence={dialog.told} onClose={dialog.close} />}
      {dialog.isNew && (
        <UserForm
          edited={null}
          onEnd={dialog.end}
          onDone={(name) =>
            dialog.finish(
              `${isolated(name)} can sign in now. Tell them the password; they change it under Settings, Account.`,
            )
          }
        />
      )}
      {dialog.asked !== null && (
        <Ask
          key={dialog.asked.what + dialog.asked.user.id}
          asked={dialog.asked}
          onEnd={dialog.end}
          onDone={dialog.finish}
        />
      )}
      {problem !== undefined && <Problem problem={problem} again={again} />}
      {data === undefined && problem === undefined && <Waiting />}
      {data !== undefined && <UserTable users={data} onAsk={dialog.ask} />}
    </SettingsPage>
  );
}

interface AskProps {
  readonly asked: Asked;
  onEnd(): void;
  onDone(sentence: string): void;
}

function Ask({ asked, onEnd, onDone }: AskProps) {
  if (asked.what === "edit")
    return <UserForm edited={asked.user} onEnd={onEnd} onDone={(name) => onDone(`${isolated(name)} was saved.`)} />;
  return <Removal user={asked.user} onEnd={onEnd} onDone={() => onDone(`${isolated(asked.user.name)} was deleted.`)} />;
}

interface RemovalProps {
  readonly user: User;
  onEnd(): void;
  onDone(): void;
}

const deleteKeys = (count: number) =>
  count === 0
    ? "They have no API keys."
    : `${count === 1 ? "Their API key is" : `Their ${groupedDigits(count)} API keys are`} deleted as well, at once.`;

const deleteTitle = (name: string) => `Delete ${isolated(name)}`;

/** Waits for the number of keys that are deleted with the user. */
function Removal({ user: { id, name }, onEnd, onDone }: RemovalProps) {
  const ofUser = read("/api/v1/auth/keys", { query: { filter: `user_id = "${id}"`, limit: 1 } });
  const { meta, problem } = useAnswer(ofUser);
  const count = meta?.pagination.total_count;
  if (problem !== undefined) return <Problem problem={problem} />;
  if (count === undefined) return <Waiting />;
  return (
    <AskFirst
      title={deleteTitle(name)}
      says={[
        deleteKeys(count),
        ...[
          "Their sessions end. This cannot be undone: a user who is added again has a new id and needs new keys.",
          "History keeps their name. To suspend a user, edit them and untick “May sign in”.",
        ],
      ]}
      verb="Delete the user"
      takesAway
      onEnd={onEnd}
      run={async ({ header, headers }) => {
        await done(api.DELETE("/api/v1/users/{id}", { params: { path: { id }, header }, headers }));
        onDone();
      }}
    />
  );
}

function UserTable({ users, onAsk }: { readonly users: readonly User[]; onAsk(what: Asked): void }) {
  return (
    <Paged rows={users} title={settingsText.tabs.people} textOf={({ name, email, role }) => `${name} ${email} ${role}`}>
      {(rows) => (
        <RowsTable
          title={settingsText.tabs.people}
          heads={[
            "Name",
            "E-mail",
            "Role",
            "Networks",
            "State",
            "Last sign-in",
            may("updateUser") && settingsText.actions,
          ]}
        >
          {rows.map((user) => (
            <UserRow key={user.id} user={user} onAsk={onAsk} />
          ))}
        </RowsTable>
      )}
    </Paged>
  );
}

function UserRow({ user, onAsk }: { readonly user: User; onAsk(what: Asked): void }) {
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
      <td>
        {reachesAll(role) && "all"}
        {!reachesAll(role) && network_ids.length === 0 && "none"}
        {!reachesAll(role) &&
          network_ids.map((network, position) => (
            <span key={network}>
              {position > 0 && ", "}
              <Named kind="network" id={network} />
            </span>
          ))}
      </td>
      <td>
        <span class={is_enabled ? "state state-up" : "state"}>{is_enabled ? "Enabled" : "Disabled"}</span>
      </td>
      <td>{last_login === null ? "never" : <When instant={last_login} as="age" />}</td>
      {may("updateUser") && (
        <td>
          <UserActions user={user} onAsk={onAsk} />
        </td>
      )}
    </tr>
  );
}

/** Only for users whose role one could grant. */
function UserActions({ user, onAsk }: { readonly user: User; onAsk(what: Asked): void }) {
  const who = me.value;
  if (who === null || who === undefined || !rolesUpTo(who.effective_role).includes(user.role)) return null;
  return (
    <span class="settings-actions">
      {mayNow("updateUser") && (
        <button type="button" aria-label={editText.title(user.name)} onClick={() => onAsk({ what: "edit", user })}>
          Edit
        </button>
      )}
      {mayNow("deleteUser") && user.id !== who.id && (
        <button type="button" aria-label={deleteTitle(user.name)} onClick={() => onAsk({ what: "delete", user })}>
          Delete
        </button>
      )}
    </span>
  );
}
