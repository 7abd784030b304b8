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
import { counted } from "../text/digits.ts";
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
      <h2>Who you are</h2>
      <dl class="facts">
        <Fact name="Name">
          <bdi>{name}</bdi>
        </Fact>
        <Fact name="E-mail">
          <bdi>{email}</bdi>
        </Fact>
        <Fact name="Role">{role}</Fact>
        <Fact name="Organization">
          <bdi>{organization.name}</bdi>
        </Fact>
        <Fact name="Networks">{reachesAll ? "all" : counted(reachable_network_ids.length, "network", "networks")}</Fact>
      </dl>
      {!reachesAll && <p class="aside">An Owner or Admin can change these.</p>}
    </section>
  );
}

function Password() {
  const dialog = useDialog<true>();
  return (
    <section class="part">
      <h2>Password</h2>
      {dialog.told !== null && <Told sentence={dialog.told} onClose={dialog.close} />}
      <p>
        <button type="button" onClick={() => dialog.ask(true)}>
          Change password
        </button>
      </p>
      {dialog.asked !== null && (
        <PasswordForm
          onEnd={dialog.end}
          onDone={() => dialog.finish("Your password was changed. All other sessions have ended.")}
        />
      )}
    </section>
  );
}

function PasswordForm({ onEnd, onDone }: { onEnd(): void; onDone(): void }) {
  const form = useForm();
  const limits = LIMITS.changePassword;
  const body = { current_password: form.secret("current_password"), new_password: form.secret("new_password") };
  const different = form.secret("repeated") === body.new_password ? null : "The two new passwords differ.";
  return (
    <AskFirst
      form={form}
      title="Change password"
      says={["All your other sessions end. API keys stay valid."]}
      verb="Change password"
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
        label="Current password"
        autoComplete="current-password"
      />
      <SecretField form={form} limits={limits.new_password} label="New password, 10 characters or more" />
      <SecretField form={form} name="repeated" label="New password again" wrong={different} />
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
      dialog.finish("The session has ended.");
    });
  return (
    <section class="part">
      <h2>Where you are signed in</h2>
      <p class="prose">
        A session ends after seven days without use. If you do not know one of these, end it and change your password.
      </p>
      {failed !== null && <Problem problem={failed} />}
      {dialog.told !== null && <Told key={dialog.told} sentence={dialog.told} onClose={dialog.close} />}
      {problem !== undefined && <Problem problem={problem} again={again} />}
      {data === undefined && problem === undefined && <Waiting />}
      {data !== undefined && <SessionTable sessions={data} onEnd={end} />}
      {data !== undefined && data.length > 1 && mayNow("endOtherSessions") && (
        <p>
          <button type="button" onClick={() => dialog.ask(true)}>
            End all others
          </button>
        </p>
      )}
      {dialog.asked !== null && (
        <AskFirst
          title="End all others"
          says={["You are signed out everywhere but here, at once. API keys stay valid."]}
          verb="End them"
          takesAway
          hasReason={false}
          onEnd={dialog.end}
          run={async () => {
            const { ended } = await done(api.POST("/api/auth/sessions/end-others", {}));
            dialog.finish(counted(ended, "session has ended.", "sessions have ended."));
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
      title="Where you are signed in"
      heads={["Browser", "From", "Last used", "Signed in", settingsText.actions]}
    >
      {sessions.map((session) => {
        const name = browserName(session.user_agent);
        return (
          <tr key={session.id}>
            <td>
              <bdi title={session.user_agent ?? ""}>{name}</bdi>
            </td>
            <td>{session.last_used_from ?? "unknown"}</td>
            <td>
              <When instant={session.last_used_at} as="both" />
            </td>
            <td>
              <When instant={session.created_at} precision="minute" />
            </td>
            <td>
              {session.is_current && <span class="label">this session</span>}
              {!session.is_current && mayNow("endSession") && (
                <button type="button" aria-label={`End the session of ${name}`} onClick={() => onEnd(session)}>
                  End
                </button>
              )}
            </td>
          </tr>
        );
      })}
    </RowsTable>
  );
}
