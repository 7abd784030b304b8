// Form for a new or existing user. Input is kept as a draft, except passwords.

import { useState } from "preact/hooks";
import { api, type DataOf, done } from "../api/client.ts";
import { AskFirst } from "../forms/ask-first.tsx";
import { isTicked, keptForm } from "../forms/kept-form.ts";
import { reasonHeader } from "../forms/reason.ts";
import { savedOver } from "../forms/saved-over.ts";
import { me } from "../session/me.ts";
import { editText } from "../text/editing.ts";
import { peopleText } from "../text/people.ts";
import { Labelled, NameField, NetworkChoices, ReasonField, RoleField, textIn } from "./rights-fields.tsx";
import { type Role, rolesUpTo } from "./roles.ts";

type User = DataOf<"/api/v1/users">[number];

interface UserFormProps {
  /** Null for a new user. */
  readonly edited: User | null;
  onEnd(): void;
  onDone(name: string): void;
}

const EMAIL_MAX_LENGTH = 254;
const PASSWORD_MIN_LENGTH = 10;
const PASSWORD_MAX_LENGTH = 1_024;

export function UserForm({ edited, onEnd, onDone }: UserFormProps) {
  const who = me.value;
  const [kept] = useState(() => keptForm("user", edited));
  const [over] = useState(() => savedOver("/api/v1/users/{id}", edited?.id ?? null));
  if (who === null || who === undefined) return null;
  const isOwn = edited?.id === who.id;
  const run = async (form: FormData, requestKey: string) => {
    const password = String(form.get("password") ?? "");
    const body = {
      email: textIn(form, "email"),
      name: textIn(form, "name"),
      role: String(form.get("role")) as Role,
      network_ids: form.getAll("network").map(String),
    };
    const headers = reasonHeader(textIn(form, "reason"));
    if (edited === null) {
      const params = { header: { "Idempotency-Key": requestKey } };
      await done(api.POST("/api/v1/users", { params, headers, body: { ...body, password } }));
    } else {
      await over.save((tag) => {
        const params = { path: { id: edited.id }, header: { "If-Match": tag, "Idempotency-Key": requestKey } };
        const is_enabled = form.get("enabled") !== null;
        const changed = { ...body, is_enabled, ...(password === "" ? {} : { password }) };
        return done(api.PUT("/api/v1/users/{id}", { params, headers, body: changed }));
      });
    }
    onDone(body.name);
  };
  return (
    <AskFirst
      title={edited === null ? peopleText.newOne : peopleText.editTitle(edited.name)}
      says={[]}
      verb={edited === null ? editText.create : peopleText.save}
      run={run}
      onEnd={onEnd}
      kept={kept}
    >
      <NameField label={peopleText.name} name={kept.text("name") ?? edited?.name ?? ""} />
      <Labelled label={peopleText.email}>
        {(described) => (
          <input
            {...described}
            type="email"
            name="email"
            required
            maxLength={EMAIL_MAX_LENGTH}
            defaultValue={kept.text("email") ?? edited?.email ?? ""}
            autoComplete="off"
          />
        )}
      </Labelled>
      <RoleField
        label={peopleText.role}
        name="role"
        roles={rolesUpTo(who.effective_role)}
        chosen={kept.text("role") ?? edited?.role ?? "Viewer"}
      />
      <fieldset class="settings-set">
        <legend>{peopleText.reach}</legend>
        <NetworkChoices name="network" chosen={kept.all("network") ?? edited?.network_ids ?? []} />
        <p class="aside">{peopleText.networksSay}</p>
      </fieldset>
      {isOwn ? (
        <p class="aside">{peopleText.ownPassword}</p>
      ) : (
        <Labelled
          label={edited === null ? peopleText.password : peopleText.newPassword}
          help={edited === null ? undefined : peopleText.newPasswordSays}
        >
          {(described) => (
            <input
              {...described}
              type="password"
              name="password"
              autoComplete="new-password"
              required={edited === null}
              minLength={PASSWORD_MIN_LENGTH}
              maxLength={PASSWORD_MAX_LENGTH}
            />
          )}
        </Labelled>
      )}
      {edited !== null && (
        <div class="settings-field">
          <label class="settings-box">
            <input type="checkbox" name="enabled" defaultChecked={isTicked(kept, "enabled", edited.is_enabled)} />{" "}
            {peopleText.isEnabled}
          </label>
          <p class="aside">{peopleText.disableSays}</p>
        </div>
      )}
      <ReasonField typed={kept.text("reason")} />
    </AskFirst>
  );
}
