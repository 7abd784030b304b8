// Form for a new or existing API key.

import { useState } from "preact/hooks";
import { LIMITS } from "#limits";
import { api, type DataOf, unwrap } from "../api/client.ts";
import { choicesOf } from "../components/select.tsx";
import { conditionalSave } from "../forms/conditional-save.ts";
import { ConfirmForm } from "../forms/confirm-form.tsx";
import { Checkboxes, CheckField, RadioField, SelectField, TextField, useNetworks } from "../forms/fields.tsx";
import { draftOf, type FormState, type Headers, useForm } from "../forms/use-form.ts";
import { targetsIn } from "../scanning/targets.ts";
import { me } from "../session/me.ts";
import { editText } from "../text/editing.ts";
import { isolated } from "../text/isolated.ts";
import { mayGrant, reachesAll, roleOptions } from "./roles.ts";

type Key = DataOf<"/api/v1/auth/keys">[number];
type User = DataOf<"/api/v1/users">[number];

interface KeyFormProps {
  /** Null for a new key. */
  readonly edited: Key | null;
  readonly users: readonly User[];
  onEnd(): void;
  /** @param text text of a new key, shown only once; null for an existing key */
  onDone(name: string, text: string | null): void;
}

export function KeyForm({ edited, users, onEnd, onDone }: KeyFormProps) {
  const form = useForm({
    draft: draftOf("api_key", edited),
    initial: {
      name: edited?.name ?? "",
      user: me.value?.id ?? "",
      permissions: edited?.permissions ?? "Viewer",
      reach: edited?.all_networks === false ? "some" : "all",
      networks: edited?.all_networks === false ? edited.network_ids : [],
      expires: expiryDay(edited),
      sources: edited?.allowed_sources?.join("\n") ?? "",
      is_enabled: edited?.is_enabled ?? true,
    },
  });
  const [conditional] = useState(() => conditionalSave("/api/v1/auth/keys/{id}", edited?.id ?? null));
  const networks = useNetworks();
  const currentUser = me.value;
  if (currentUser === null || currentUser === undefined) return null;
  const run = async ({ header, headers }: Headers) => {
    const body = bodyOf(form, edited, currentUser.organization.id);
    if (edited === null) {
      const created = await unwrap(api.POST("/api/v1/auth/keys", { params: { header }, headers, body }));
      return onDone(created.api_key.name, created.key);
    }
    await conditional.save((tag) => {
      const params = { path: { id: edited.id }, header: { ...header, "If-Match": tag } };
      return unwrap(api.PUT("/api/v1/auth/keys/{id}", { params, headers, body }));
    });
    onDone(body.name, null);
  };
  const grantableUsers = users.filter(({ role }) => mayGrant(role));
  const canChooseUser = edited === null && reachesAll(currentUser.effective_role);
  const isAllNetworks = form.text("reach") === "all";
  return (
    <ConfirmForm
      form={form}
      title={edited === null ? "New key" : `Edit the key ${isolated(edited.name)}`}
      submitLabel={edited === null ? editText.create : "Save"}
      run={run}
      onEnd={onEnd}
    >
      <TextField
        form={form}
        limits={LIMITS.createApiKey.name}
        label="Name"
        help="The program that uses it, so that others know what depends on it."
      />
      {canChooseUser && (
        <SelectField
          form={form}
          name="user"
          label="User"
          options={grantableUsers.map(({ id, name, email }) => [id, name === email ? name : `${name}, ${email}`])}
        />
      )}
      <SelectField form={form} name="permissions" label="Maximum permissions" options={roleOptions()} />
      <RadioField
        form={form}
        name="reach"
        label="Networks"
        options={[
          ["all", "All networks of the user, now and in the future"],
          ["some", "Selected networks"],
        ]}
        error={
          isAllNetworks || form.list("networks").length > 0 ? null : "Choose at least one network, or all networks."
        }
      >
        {!isAllNetworks && <Checkboxes form={form} name="networks" options={choicesOf(networks)} />}
      </RadioField>
      <TextField
        form={form}
        name="expires"
        label="Expires on (00:00 UTC); empty for never"
        type="date"
        pointer="/expires_at"
      />
      <TextField
        form={form}
        name="sources"
        label="Allowed source CIDRs, one per line; empty for any"
        rows={2}
        placeholder="10.0.30.0/24"
        pointer="/allowed_sources"
      />
      {edited !== null && <CheckField form={form} name="is_enabled" label="Enabled" />}
    </ConfirmForm>
  );
}

function expiryDay(edited: Key | null): string {
  return edited?.expires_at?.slice(0, 10) ?? "";
}

function bodyOf(form: FormState, edited: Key | null, organizationId: string) {
  const day = form.text("expires");
  const sources = targetsIn(form.text("sources"));
  return {
    name: form.text("name"),
    organization_id: edited?.organization_id ?? organizationId,
    user_id: edited?.user_id ?? form.text("user"),
    tags: edited?.tags ?? [],
    permissions: form.text("permissions") as Key["permissions"],
    ...(form.text("reach") === "all"
      ? { all_networks: true }
      : { all_networks: false, network_ids: [...form.list("networks")] }),
    // A time of day set elsewhere is kept as long as the day is unchanged.
    expires_at: day === expiryDay(edited) ? (edited?.expires_at ?? null) : day === "" ? null : `${day}T00:00:00.000Z`,
    allowed_sources: sources.length === 0 ? null : sources,
    ...(edited === null ? {} : { is_enabled: form.typed.is_enabled === true }),
  };
}
