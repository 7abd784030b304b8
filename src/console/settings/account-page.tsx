// Account page: profile, preferences, password and sessions of the signed-in user.

import { LIMITS } from "#limits";
import { api, type DataOf, read, unwrap } from "../api/client.ts";
import { useResponse } from "../api/response.ts";
import { ActionButton } from "../components/buttons.tsx";
import { TextFact } from "../components/fact-values.tsx";
import { Fact } from "../components/facts.tsx";
import { Problem } from "../components/problem.tsx";
import { ResponseState } from "../components/response-state.tsx";
import { RowsTable } from "../components/rows-table.tsx";
import { Section } from "../components/section.tsx";
import { When } from "../components/when.tsx";
import { ConfirmForm } from "../forms/confirm-form.tsx";
import { DoneNote } from "../forms/done-note.tsx";
import { SecretField } from "../forms/fields.tsx";
import { useForm } from "../forms/use-form.ts";
import { useWrite } from "../forms/use-write.ts";
import { mayNow, me } from "../session/me.ts";
import { counted } from "../text/digits.ts";
import { settingsText } from "../text/settings.ts";
import { browserName } from "./browser-name.ts";
import { Preferences } from "./preferences.tsx";
import { reachesAll } from "./roles.ts";
import { SettingsPage } from "./settings-page.tsx";
import { useDialog } from "./use-dialog.ts";

type Session = DataOf<"/api/auth/sessions">[number];

export function AccountPage() {
  return (
    <SettingsPage title={settingsText.tabs.account} operation="getMe">
      <Profile />
      <Preferences />
      {mayNow("changePassword") && <Password />}
      <Sessions />
    </SettingsPage>
  );
}

function Profile() {
  const user = me.value;
  if (user === null || user === undefined) return null;
  const { name, email, effective_role: role, organization, reachable_network_ids } = user;
  const isAll = reachesAll(role);
  return (
    <Section title="Profile" className="part">
      <dl class="facts">
        <TextFact name="Name" text={name} />
        <TextFact name="E-mail" text={email} />
        <Fact name="Role">{role}</Fact>
        <TextFact name="Organization" text={organization.name} />
        <Fact name="Networks">{isAll ? "all" : counted(reachable_network_ids.length, "network", "networks")}</Fact>
      </dl>
      {!isAll && <p class="aside">An Owner or Admin can change these.</p>}
    </Section>
  );
}

function Password() {
  const dialog = useDialog<true>();
  return (
    <Section title="Password" className="part">
      {dialog.outcome !== null && <DoneNote sentence={dialog.outcome} onClose={dialog.close} />}
      <p>
        <ActionButton label="Change password" onClick={() => dialog.request(true)} />
      </p>
      {dialog.requested !== null && (
        <PasswordForm
          onEnd={dialog.end}
          onDone={() => dialog.finish("Your password was changed. All other sessions have ended.")}
        />
      )}
    </Section>
  );
}

function PasswordForm({ onEnd, onDone }: { onEnd(): void; onDone(): void }) {
  const form = useForm();
  const limits = LIMITS.changePassword;
  const body = { current_password: form.secret("current_password"), new_password: form.secret("new_password") };
  const mismatch = form.secret("repeated") === body.new_password ? null : "The two new passwords differ.";
  return (
    <ConfirmForm
      form={form}
      title="Change password"
      consequences={["All your other sessions end. API keys stay valid."]}
      submitLabel="Change password"
      hasReason={false}
      run={async () => {
        await unwrap(api.PUT("/api/auth/password", { body }));
        onDone();
      }}
      onEnd={onEnd}
    >
      {/* Identifies the account to password managers. */}
      <input type="text" name="username" autoComplete="username" value={me.value?.email ?? ""} readOnly hidden />
      <SecretField
        form={form}
        limits={limits.current_password}
        label="Current password"
        autoComplete="current-password"
      />
      <SecretField form={form} limits={limits.new_password} label="New password, 10 characters or more" />
      <SecretField form={form} name="repeated" label="New password again" error={mismatch} />
    </ConfirmForm>
  );
}

/** Not refreshed by record changes: using or ending a session elsewhere is not one. */
function Sessions() {
  const { data, problem, retry } = useResponse(read("/api/auth/sessions"));
  const { problem: endProblem, send } = useWrite();
  const dialog = useDialog<true>(retry);
  const endSession = ({ id }: Session) =>
    void send(id, async () => {
      await unwrap(api.DELETE("/api/auth/sessions/{id}", { params: { path: { id } } }));
      dialog.finish("The session has ended.");
    });
  return (
    <Section title="Sessions" className="part">
      <p class="prose">
        A session ends after seven days without use. If you do not recognize a session, end it and change your password.
      </p>
      {endProblem !== null && <Problem problem={endProblem} />}
      {dialog.outcome !== null && <DoneNote key={dialog.outcome} sentence={dialog.outcome} onClose={dialog.close} />}
      <ResponseState data={data} problem={problem} retry={retry} />
      {data !== undefined && <SessionTable sessions={data} onEnd={endSession} />}
      {data !== undefined && data.length > 1 && mayNow("endOtherSessions") && (
        <p>
          <ActionButton label="End all other sessions" onClick={() => dialog.request(true)} />
        </p>
      )}
      {dialog.requested !== null && (
        <ConfirmForm
          title="End all other sessions"
          consequences={["You are signed out everywhere else immediately. API keys stay valid."]}
          submitLabel="End sessions"
          isDestructive
          hasReason={false}
          onEnd={dialog.end}
          run={async () => {
            const { ended } = await unwrap(api.POST("/api/auth/sessions/end-others", {}));
            dialog.finish(counted(ended, "session has ended.", "sessions have ended."));
          }}
        />
      )}
    </Section>
  );
}

function SessionTable({ sessions, onEnd }: { readonly sessions: readonly Session[]; onEnd(session: Session): void }) {
  return (
    <RowsTable title="Sessions" heads={["Browser", "From", "Last used", "Signed in", settingsText.actions]}>
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
                <ActionButton label="End" aria-label={`End the session of ${name}`} onClick={() => onEnd(session)} />
              )}
            </td>
          </tr>
        );
      })}
    </RowsTable>
  );
}
