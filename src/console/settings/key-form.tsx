// Form for a new or existing API key.

import { useState } from "preact/hooks";
import { LIMITS } from "#limits";
import { api, type DataOf, done } from "../api/client.ts";
import { AskFirst } from "../forms/ask-first.tsx";
import { CheckField, RadioField, SelectField, TextField, Ticks, useNetworks } from "../forms/fields.tsx";
import { savedOver } from "../forms/saved-over.ts";
import { draftOf, type FormState, type Headers, useForm } from "../forms/use-form.ts";
import { choicesOf } from "../parts/select.tsx";
import { targetsIn } from "../scanning/targets.ts";
import { me } from "../session/me.ts";
import { editText } from "../text/editing.ts";
import { isolated } from "../text/isolated.ts";
import { roleOptions, rolesUpTo } from "./roles.ts";

type Key = DataOf<"/api/v1/auth/keys">[number];
type User = DataOf<"/api/v1/users">[number];

interface KeyFormProps {
  /** Null for a new key. */
  readonly edited: Key | null;
  readonly users: readonly User[];
  onEnd(): void;
  /** @param text of a new key, which is shown only once */
  onDone(name: string, text: string | null): void;
}

export function KeyForm({ edited, users, onEnd, onDone }: KeyFormProps) {
  const form = useForm({
    draft: draftOf("api_key", edited),
    begun: {
      name: edited?.name ?? "",
      user: me.value?.id ?? "",
      permissions: edited?.permissions ?? "Viewer",
      reach: edited?.all_networks === false ? "some" : "all",
      networks: edited?.all_networks === false ? edited.network_ids : [],
      expires: dayOf(edited),
      sources: edited?.allowed_sources?.join("\n") ?? "",
      is_enabled: edited?.is_enabled ?? true,
    },
  });
  const [over] = useState(() => savedOver("/api/v1/auth/keys/{id}", edited?.id ?? null));
  const networks = useNetworks();
  const who = me.value;
  if (who === null || who === undefined) return null;
  const run = async ({ header, headers }: Headers) => {
    const body = bodyOf(form, edited, who.organization.id);
    if (edited === null) {
      const made = await done(api.POST("/api/v1/auth/keys", { params: { header }, headers, body }));
      return onDone(made.api_key.name, made.key);
    }
    await over.save((tag) => {
      const params = { path: { id: edited.id }, header: { ...header, "If-Match": tag } };
      return done(api.PUT("/api/v1/auth/keys/{id}", { params, headers, body }));
    });
    onDone(body.name, null);
  };
  const givable = users.filter(({ role }) => rolesUpTo(who.effective_role).includes(role));
  const mayChooseUser = edited === null && (who.effective_role === "Owner" || who.effective_role === "Admin");
  const isFollowing = form.text("reach") === "all";
  return (
    <AskFirst
      form={form}
      title={edited === null ? "New key" : `Edit the key ${isolated(edited.name)}`}
      verb={edited === null ? editText.create : "Save"}
      run={run}
      onEnd={onEnd}
    >
      <TextField
        form={form}
        limits={LIMITS.createApiKey.name}
        label="Name"
        help="What uses it, so that others know what ends with it."
      />
      {mayChooseUser && (
        <SelectField
          form={form}
          name="user"
          label="User"
          options={givable.map(({ id, name, email }) => [id, name === email ? name : `${name}, ${email}`])}
        />
      )}
      <SelectField form={form} name="permissions" label="What it may do, at most" options={roleOptions()} />
      <RadioField
        form={form}
        name="reach"
        label="Networks"
        options={[
          ["all", "All networks of its user, now and later"],
          ["some", "Only these"],
        ]}
        wrong={
          isFollowing || form.list("networks").length > 0 ? null : "Choose at least one network, or all of the user."
        }
      >
        {!isFollowing && <Ticks form={form} name="networks" options={choicesOf(networks)} />}
      </RadioField>
      <TextField
        form={form}
        name="expires"
        label="Expires on (00:00 UTC); empty: never"
        type="date"
        pointer="/expires_at"
      />
      <TextField
        form={form}
        name="sources"
        label="Only from these CIDRs, one per line; empty: from everywhere"
        rows={2}
        placeholder="10.0.30.0/24"
        pointer="/allowed_sources"
      />
      {edited !== null && <CheckField form={form} name="is_enabled" label="Enabled" />}
    </AskFirst>
  );
}

function dayOf(edited: Key | null): string {
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
    expires_at: day === dayOf(edited) ? (edited?.expires_at ?? null) : day === "" ? null : `${day}T00:00:00.000Z`,
    allowed_sources: sources.length === 0 ? null : sources,
    ...(edited === null ? {} : { is_enabled: form.typed.is_enabled === true }),
  };
}
