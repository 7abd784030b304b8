// API keys: owner, permissions and last use, with creation, changes, rotation and deletion. The text of a new key is
// held only in this page's memory, until the page is closed.

import { useAnswer } from "../api/answer.ts";
import { api, type DataOf, done, read } from "../api/client.ts";
import { AskFirst } from "../forms/ask-first.tsx";
import { Told } from "../forms/done-note.tsx";
import { Named } from "../names/named.tsx";
import { shownName } from "../names/shown-name.ts";
import { Copied } from "../parts/copied.tsx";
import { Paged } from "../parts/paged.tsx";
import { Problem } from "../parts/problem.tsx";
import { RowsTable } from "../parts/rows-table.tsx";
import { Waiting } from "../parts/waiting.tsx";
import { When } from "../parts/when.tsx";
import { may, mayNow, me } from "../session/me.ts";
import { isolated } from "../text/isolated.ts";
import { settingsText } from "../text/settings.ts";
import { now } from "../time/clock.ts";
import { parseInstant } from "../time/instant.ts";
import { KeyForm } from "./key-form.tsx";
import { rolesUpTo } from "./roles.ts";
import { SettingsPage } from "./settings-page.tsx";
import { useDialog } from "./use-dialog.ts";

type Key = DataOf<"/api/v1/auth/keys">[number];
type User = DataOf<"/api/v1/users">[number];

interface Asked {
  readonly what: "edit" | "rotate" | "delete";
  readonly key: Key;
}
/** Last action; `text` of a new key, which is shown only once. */
interface Done {
  readonly sentence: string;
  readonly text?: string;
}

export function KeysPage() {
  const { data, problem, again } = useAnswer(read("/api/v1/auth/keys", { query: { limit: 0 } }));
  const users = useAnswer(read("/api/v1/users", { query: { limit: 0, order_by: "name" } })).data ?? [];
  const dialog = useDialog<Asked, Done>(again, mayNow("createApiKey") ? "api_key" : null);
  const { asked, told } = dialog;
  return (
    <SettingsPage
      title={settingsText.tabs.keys}
      operation="listApiKeys"
      actions={
        mayNow("createApiKey") && (
          <button type="button" onClick={dialog.openNew}>
            New key
          </button>
        )
      }
    >
      <p class="prose">
        An API key lets a program ask the API with the rights of a user, or with fewer. It has at most its owner's
        permissions and stops working when that account is removed. <a href="/handbook/security">More about API keys</a>
      </p>
      {told !== null && <Outcome key={told.sentence + told.text} {...told} onClose={dialog.close} />}
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
      {asked !== null && (
        <Ask key={asked.what + asked.key.id} asked={asked} users={users} onEnd={dialog.end} onDone={dialog.finish} />
      )}
      {problem !== undefined && <Problem problem={problem} again={again} />}
      {data === undefined && problem === undefined && <Waiting />}
      {data?.length === 0 && <p>There is no API key yet.</p>}
      {data !== undefined && data.length > 0 && <KeyTable keys={data} users={users} onAsk={dialog.ask} />}
    </SettingsPage>
  );
}

function Outcome({ sentence, text, onClose }: Done & { onClose(): void }) {
  return (
    <Told sentence={sentence} onClose={onClose} closing={text === undefined ? "Close" : "I have copied it"}>
      {text !== undefined && (
        <>
          <p>Copy it now: only its hash is stored, and it is never shown again.</p>
          <p class="command">
            <Copied isOffered text={text} />
          </p>
        </>
      )}
    </Told>
  );
}

interface AskProps {
  readonly asked: Asked;
  readonly users: readonly User[];
  onEnd(): void;
  onDone(what: Done): void;
}

const deleteTitle = (name: string) => `Delete the key ${isolated(name)}`;

const rotateTitle = (name: string) => `Rotate the key ${isolated(name)}`;

function Ask({ asked, users, onEnd, onDone }: AskProps) {
  const { id, name } = asked.key;
  if (asked.what === "edit")
    return (
      <KeyForm
        edited={asked.key}
        users={users}
        onEnd={onEnd}
        onDone={(saved) => onDone({ sentence: `The key ${isolated(saved)} was saved.` })}
      />
    );
  const isRotated = asked.what === "rotate";
  return (
    <AskFirst
      title={isRotated ? rotateTitle(name) : deleteTitle(name)}
      says={
        isRotated
          ? [
              "It gets a new text, which is shown once. The old one stops working at once: whatever uses it needs the new one.",
              "This cannot be undone.",
            ]
          : [
              "It stops working at once, also where it follows changes. This cannot be undone: another key has another text.",
              "History keeps its name. To stop it for a while, edit it and untick Enabled.",
            ]
      }
      verb={isRotated ? "Rotate it" : "Delete the key"}
      takesAway
      onEnd={onEnd}
      run={async ({ header, headers }) => {
        const params = { path: { id }, header };
        if (isRotated) {
          const { key: text } = await done(api.POST("/api/v1/auth/keys/{id}/rotate", { params, headers }));
          onDone({ sentence: `The key ${isolated(name)} was rotated. The old one does not work any more.`, text });
        } else {
          await done(api.DELETE("/api/v1/auth/keys/{id}", { params, headers }));
          onDone({ sentence: `The key ${isolated(name)} was deleted. It does not work any more.` });
        }
      }}
    />
  );
}

interface KeyTableProps {
  readonly keys: readonly Key[];
  readonly users: readonly User[];
  onAsk(what: Asked): void;
}

function KeyTable({ keys, users, onAsk }: KeyTableProps) {
  const userOf = (key: Key) => users.find(({ id }) => id === key.user_id);
  return (
    <Paged rows={keys} title={settingsText.tabs.keys} textOf={(key) => `${key.name} ${key.key} ${userOf(key)?.name}`}>
      {(rows) => (
        <RowsTable
          title={settingsText.tabs.keys}
          heads={[
            "Name",
            "User, permissions",
            "Networks",
            "From",
            "State",
            "Expires",
            "Last used",
            may("updateApiKey") && settingsText.actions,
          ]}
        >
          {rows.map((key) => (
            <KeyRow key={key.id} of={key} user={userOf(key)} onAsk={onAsk} />
          ))}
        </RowsTable>
      )}
    </Paged>
  );
}

interface KeyRowProps {
  readonly of: Key;
  readonly user: User | undefined;
  onAsk(what: Asked): void;
}

function KeyRow({ of: key, user, onAsk }: KeyRowProps) {
  const { name, permissions, all_networks, network_ids, allowed_sources, expires_at, last_used } = key;
  return (
    <tr>
      <th scope="row">
        <bdi>{name}</bdi>
        <div class="mono aside" title="Begins with">
          {key.key}
        </div>
      </th>
      <td>
        <bdi>{shownName(key.user_id, user?.name)}</bdi>
        <div class="aside">{permissions}</div>
      </td>
      <td>
        {all_networks && "as its user"}
        {!all_networks && network_ids.length === 0 && "none"}
        {!all_networks &&
          network_ids.map((id, position) => (
            <span key={id}>
              {position > 0 && ", "}
              <Named kind="network" id={id} />
            </span>
          ))}
      </td>
      <td>{allowed_sources === null ? "everywhere" : allowed_sources.join(", ")}</td>
      <td>
        <KeyState of={key} user={user} />
      </td>
      <td>{expires_at === null ? "never" : <When instant={expires_at} precision="minute" />}</td>
      <td>{last_used === null ? "never" : <When instant={last_used} as="age" />}</td>
      {may("updateApiKey") && (
        <td>
          <KeyActions of={key} user={user} onAsk={onAsk} />
        </td>
      )}
    </tr>
  );
}

function KeyState({ of: { is_enabled, expires_at }, user }: Pick<KeyRowProps, "of" | "user">) {
  if (!is_enabled || user?.is_enabled === false) return <span class="state">Disabled</span>;
  if (expires_at !== null && (parseInstant(expires_at) ?? 0) <= now.value)
    return <span class="state state-down">Expired</span>;
  return <span class="state state-up">Enabled</span>;
}

/** For another user's key, only if one could grant that user's role. */
function KeyActions({ of: key, user, onAsk }: KeyRowProps) {
  const who = me.value;
  if (who === null || who === undefined) return null;
  const isOwn = key.user_id === who.id;
  if (!isOwn && (user === undefined || !rolesUpTo(who.effective_role).includes(user.role))) return null;
  return (
    <span class="settings-actions">
      {mayNow("updateApiKey") && (
        <button
          type="button"
          aria-label={`Edit the key ${isolated(key.name)}`}
          onClick={() => onAsk({ what: "edit", key })}
        >
          Edit
        </button>
      )}
      {mayNow("rotateApiKey") && (
        <button type="button" aria-label={rotateTitle(key.name)} onClick={() => onAsk({ what: "rotate", key })}>
          Rotate
        </button>
      )}
      {mayNow("deleteApiKey") && (
        <button type="button" aria-label={deleteTitle(key.name)} onClick={() => onAsk({ what: "delete", key })}>
          Delete
        </button>
      )}
    </span>
  );
}
