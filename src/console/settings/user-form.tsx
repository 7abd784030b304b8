// Form for a new or existing user.

import { useState } from "preact/hooks";
import { LIMITS } from "#limits";
import { api, type DataOf, unwrap } from "../api/client.ts";
import { choicesOf } from "../components/select.tsx";
import { conditionalSave } from "../forms/conditional-save.ts";
import { ConfirmForm } from "../forms/confirm-form.tsx";
import { CheckboxesField, CheckField, SecretField, SelectField, TextField, useNetworks } from "../forms/fields.tsx";
import { draftOf, type Headers, useForm } from "../forms/use-form.ts";
import { me } from "../session/me.ts";
import { editText } from "../text/editing.ts";
import { type Role, roleOptions } from "./roles.ts";
import type { DialogEvents } from "./use-dialog.ts";

type User = DataOf<"/api/v1/users">[number];

/** @param edited null for a new user */
export function UserForm({ edited, onEnd, onDone }: DialogEvents & { readonly edited: User | null }) {
  const { email = "", name = "", role = "Viewer", network_ids = [], is_enabled = true } = edited ?? {};
  const initial = { email, name, role, network_ids, is_enabled };
  const form = useForm({ draft: draftOf("user", edited), initial });
  const [conditional] = useState(() => conditionalSave("/api/v1/users/{id}", edited?.id ?? null));
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
      await unwrap(api.POST("/api/v1/users", { params: { header }, headers, body: { ...body, password } }));
    else
      await conditional.save((tag) => {
        const params = { path: { id: edited.id }, header: { ...header, "If-Match": tag } };
        const updated = { ...body, is_enabled: form.typed.is_enabled === true };
        const others = password === "" ? {} : { password };
        return unwrap(api.PUT("/api/v1/users/{id}", { params, headers, body: { ...updated, ...others } }));
      });
    onDone(body.name);
  };
  const limits = LIMITS.createUser;
  return (
    <ConfirmForm
      form={form}
      title={edited === null ? "New user" : editText.title(edited.name)}
      submitLabel={edited === null ? editText.create : "Save"}
      run={run}
      onEnd={onEnd}
    >
      <TextField form={form} limits={limits.name} label="Name" isRequired />
      <TextField form={form} label="E-mail" limits={limits.email} type="email" />
      <SelectField form={form} name="role" label="Role" options={roleOptions()} />
      <CheckboxesField
        form={form}
        name="network_ids"
        label="Networks"
        help="Owners and Admins have access to all networks, regardless of this selection."
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
          help={edited === null ? undefined : "A new password ends all their sessions. Their API keys stay valid."}
          limits={limits.password}
          isRequired={edited === null}
        />
      )}
      {edited !== null && (
        <CheckField
          form={form}
          name="is_enabled"
          label="May sign in"
          help="Clearing this ends their sessions and suspends their API keys. Selecting it again restores the keys."
        />
      )}
    </ConfirmForm>
  );
}
