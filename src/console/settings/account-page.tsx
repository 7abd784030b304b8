// Account page: profile, preferences, password and sessions of the signed-in user.

import { LIMITS } from "#limits";
import { useAnswer } from "../api/answer.ts";
import { api, type DataOf, done, read } from "../api/client.ts";
import { AskFirst } from "../forms/ask-first.tsx";
import { Told } from "../forms/done-note.tsx";
import { SecretField } from "../forms/fields.tsx";
import { useSending } from "../forms/sending.ts";
import { useForm } from "../forms/use-form.ts";
import { Fact } from "../parts/facts.tsx";
import { Problem } from "../parts/problem.tsx";
import { RowsTable } from "../parts/rows-table.tsx";
import { Waiting } from "../parts/waiting.tsx";
import { When } from "../parts/when.tsx";
import { mayNow, me } from "../session/me.ts";
import { accountText } from "../text/account.ts";
import { settingsText } from "../text/settings.ts";
import { browserName } from "./browser-name.ts";
import { Preferences } from "./preferences-part.tsx";
import { SettingsPage } from "./settings-page.tsx";
import { useDialog } from "./use-dialog.ts";

type Session = DataOf<"/api/auth/sessions">[number];

export function AccountPage() {
  return (
    <SettingsPage title={settingsText.tabs.account} operation="getMe">
      <Who />
      <Preferences />
      {mayNow("changePassword") && <Password />}
      <Sessions />
    </SettingsPage>
  );
}

function Who() {
  const who = me.value;
  if (who === null || who === undefined) return null;
  const { name, email, effective_role: role, organization, reachable_network_ids } = who;
  const reachesAll = role === "Owner" || role === "Admin";
  return (
    <section class="part">
      <h2>{accountText.who}</h2>
      <dl class="facts">
        <Fact name={accountText.name}>
          <bdi>{name}</bdi>
        </Fact>
        <Fact name={accountText.email}>
          <bdi>{email}</bdi>
        </Fact>
        <Fact name={accountText.role}>{role}</Fact>
        <Fact name={accountText.organization}>
          <bdi>{organization.name}</bdi>
        </Fact>
        <Fact name={accountText.reach}>
          {reachesAll ? accountText.reachesAll : accountText.reaches(reachable_network_ids.length)}
        </Fact>
      </dl>
      {!reachesAll && <p class="aside">{accountText.ofOthers}</p>}
    </section>
  );
}

function Password() {
  const dialog = useDialog<true>();
  return (
    <section class="part">
      <h2>{accountText.passwordTitle}</h2>
      {dialog.told !== null && <Told sentence={dialog.told} onClose={dialog.close} />}
      <p>
        <button type="button" onClick={() => dialog.ask(true)}>
          {accountText.change}
        </button>
      </p>
      {dialog.asked !== null && <PasswordForm onEnd={dialog.end} onDone={() => dialog.finish(accountText.changed)} />}
    </section>
  );
}

function PasswordForm({ onEnd, onDone }: { onEnd(): void; onDone(): void }) {
  const form = useForm();
  const limits = LIMITS.changePassword;
  const body = { current_password: form.secret("current_password"), new_password: form.secret("new_password") };
  const different = form.secret("repeated") === body.new_password ? null : accountText.different;
  return (
    <AskFirst
      form={form}
      title={accountText.change}
      says={accountText.changeSays}
      verb={accountText.change}
      hasReason={false}
      run={async () => {
        await done(api.PUT("/api/auth/password", { body }));
        onDone();
      }}
      onEnd={onEnd}
    >
      {/* Tells password managers which account this is. */}
      <input type="text" name="username" autoComplete="username" value={me.value?.email ?? ""} readOnly hidden />
      <SecretField
        form={form}
        limits={limits.current_password}
        label={accountText.current}
        autoComplete="current-password"
      />
      <SecretField form={form} limits={limits.new_password} label={accountText.wanted} />
      <SecretField form={form} name="repeated" label={accountText.repeated} wrong={different} />
    </AskFirst>
  );
}

/** Not refreshed by record changes: sessions are used, and can end elsewhere, without one. */
function Sessions() {
  const { data, problem, again } = useAnswer(read("/api/auth/sessions"));
  const { problem: failed, send } = useSending();
  const dialog = useDialog<true>(again);
  const end = ({ id }: Session) =>
    void send(id, async () => {
      await done(api.DELETE("/api/auth/sessions/{id}", { params: { path: { id } } }));
      dialog.finish(accountText.ended);
    });
  return (
    <section class="part">
      <h2>{accountText.sessions}</h2>
      <p class="prose">{accountText.sessionsSay}</p>
      {failed !== null && <Problem problem={failed} />}
      {dialog.told !== null && <Told key={dialog.told} sentence={dialog.told} onClose={dialog.close} />}
      {problem !== undefined && <Problem problem={problem} again={again} />}
      {data === undefined && problem === undefined && <Waiting />}
      {data !== undefined && <SessionTable sessions={data} onEnd={end} />}
      {data !== undefined && data.length > 1 && mayNow("endOtherSessions") && (
        <p>
          <button type="button" onClick={() => dialog.ask(true)}>
            {accountText.endOthers}
          </button>
        </p>
      )}
      {dialog.asked !== null && (
        <AskFirst
          title={accountText.endOthers}
          says={accountText.endOthersSays}
          verb={accountText.endOthersVerb}
          takesAway
          hasReason={false}
          onEnd={dialog.end}
          run={async () => {
            const { ended } = await done(api.POST("/api/auth/sessions/end-others", {}));
            dialog.finish(accountText.endedOthers(ended));
          }}
        />
      )}
    </section>
  );
}

interface SessionTableProps {
  readonly sessions: readonly Session[];
  onEnd(session: Session): void;
}

function SessionTable({ sessions, onEnd }: SessionTableProps) {
  return (
    <RowsTable
      title={accountText.sessions}
      heads={[accountText.where, accountText.from, accountText.lastUsed, accountText.since, settingsText.actions]}
    >
      {sessions.map((session) => {
        const name = browserName(session.user_agent);
        return (
          <tr key={session.id}>
            <td>
              <bdi title={session.user_agent ?? ""}>{name}</bdi>
            </td>
            <td>{session.last_used_from ?? accountText.unknown}</td>
            <td>
              <When instant={session.last_used_at} as="both" />
            </td>
            <td>
              <When instant={session.created_at} precision="minute" />
            </td>
            <td>
              {session.is_current && <span class="label">{accountText.thisOne}</span>}
              {!session.is_current && mayNow("endSession") && (
                <button type="button" aria-label={accountText.endOne(name)} onClick={() => onEnd(session)}>
                  {accountText.end}
                </button>
              )}
            </td>
          </tr>
        );
      })}
    </RowsTable>
  );
}
