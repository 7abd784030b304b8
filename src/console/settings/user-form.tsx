// Form for a new or existing user.

import { useState } from "preact/hooks";
import { LIMITS } from "#limits";
import { api, type DataOf, done } from "../api/client.ts";
import { AskFirst } from "../forms/ask-first.tsx";
import { CheckField, SecretField, SelectField, TextField, TicksField, useNetworks } from "../forms/fields.tsx";
import { savedOver } from "../forms/saved-over.ts";
import { draftOf, type Headers, useForm } from "../forms/use-form.ts";
import { choicesOf } from "../parts/select.tsx";
import { me } from "../session/me.ts";
import { editText } from "../text/editing.ts";
import { type Role, roleOptions } from "./roles.ts";

type User = DataOf<"/api/v1/users">[number];

interface UserFormProps {
  /** Null for a new user. */
  readonly edited: User | null;
  onEnd(): void;
  onDone(name: string): void;
}

export function UserForm({ edited, onEnd, onDone }: UserFormProps) {
  const { email = "", name = "", role = "Viewer", network_ids = [], is_enabled = true } = edited ?? {};
  const begun = { email, name, role, network_ids, is_enabled };
  const form = useForm({ draft: draftOf("user", edited), begun });
  const [over] = useState(() => savedOver("/api/v1/users/{id}", edited?.id ?? null));
  const networks = useNetworks();
  const run = async ({ header, headers }: Headers) => {
    const password = form.secret("password");
    const body = {
      email: form.text("email"),
      name: form.text("name"),
      role: form.text("role") as Role,
      network_ids: [...form.list("network_ids")],
    };
    if (edited === null)
      await done(api.POST("/api/v1/users", { params: { header }, headers, body: { ...body, password } }));
    else
      await over.save((tag) => {
        const params = { path: { id: edited.id }, header: { ...header, "If-Match": tag } };
        const changed = { ...body, is_enabled: form.typed.is_enabled === true };
        const others = password === "" ? {} : { password };
        return done(api.PUT("/api/v1/users/{id}", { params, headers, body: { ...changed, ...others } }));
      });
    onDone(body.name);
  };
  const limits = LIMITS.createUser;
  return (
    <AskFirst
      form={form}
      title={edited === null ? "New user" : editText.title(edited.name)}
      verb={edited === null ? editText.create : "Save"}
      run={run}
      onEnd={onEnd}
    >
      <TextField form={form} limits={limits.name} label="Name" isRequired />
      <TextField form={form} label="E-mail" limits={limits.email} type="email" />
      <SelectField form={form} name="role" label="Role" options={roleOptions()} />
      <TicksField
        form={form}
        name="network_ids"
        label="Networks"
        help="An Owner or Admin reaches all networks, whatever is chosen here."
        options={choicesOf(networks)}
      />
      {edited !== null && edited.id === me.value?.id ? (
        <p class="aside">Your own password is changed under Account.</p>
      ) : (
        <SecretField
          form={form}
          label={
            edited === null ? "Password, 10 characters or more" : "New password (leave empty to keep the current one)"
          }
          help={edited === null ? undefined : "Another password ends all their sessions. Their API keys stay valid."}
          limits={limits.password}
          isRequired={edited === null}
        />
      )}
      {edited !== null && (
        <CheckField
          form={form}
          name="is_enabled"
          label="May sign in"
          help="If you untick this, their sessions end and their API keys stop working at once. Tick it again, and the keys work again."
        />
      )}
    </AskFirst>
  );
}
