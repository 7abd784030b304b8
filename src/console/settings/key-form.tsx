// Form for a new or existing API key. Input is kept as a draft, except secrets.

import { useState } from "preact/hooks";
import { api, type DataOf, done } from "../api/client.ts";
import { Refusal } from "../api/refusal.ts";
import { AskFirst } from "../forms/ask-first.tsx";
import { isTicked, keptForm } from "../forms/kept-form.ts";
import { reasonHeader } from "../forms/reason.ts";
import { savedOver } from "../forms/saved-over.ts";
import { me } from "../session/me.ts";
import { apiKeysText } from "../text/api-keys.ts";
import { editText } from "../text/editing.ts";
import { Labelled, NameField, NetworkChoices, ReasonField, RoleField, textIn } from "./rights-fields.tsx";
import { rolesUpTo } from "./roles.ts";

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
  const who = me.value;
  const [kept] = useState(() => keptForm("api_key", edited));
  const reach = kept.text("reach");
  const [isFollowing, setFollowing] = useState(reach === undefined ? (edited?.all_networks ?? true) : reach === "all");
  const [over] = useState(() => savedOver("/api/v1/auth/keys/{id}", edited?.id ?? null));
  if (who === null || who === undefined) return null;
  const run = async (form: FormData, requestKey: string) => {
    const body = bodyOf(form, edited, who.organization.id, who.id);
    const headers = reasonHeader(textIn(form, "reason"));
    if (edited === null) {
      const params = { header: { "Idempotency-Key": requestKey } };
      const made = await done(api.POST("/api/v1/auth/keys", { params, headers, body }));
      onDone(made.api_key.name, made.key);
      return;
    }
    const { id } = edited;
    await over.save((tag) => {
      const params = { path: { id }, header: { "If-Match": tag, "Idempotency-Key": requestKey } };
      return done(api.PUT("/api/v1/auth/keys/{id}", { params, headers, body }));
    });
    onDone(body.name, null);
  };
  const givable = users.filter(({ role }) => rolesUpTo(who.effective_role).includes(role));
  const mayChooseUser = edited === null && (who.effective_role === "Owner" || who.effective_role === "Admin");
  return (
    <AskFirst
      title={edited === null ? apiKeysText.newOne : apiKeysText.editTitle(edited.name)}
      says={[]}
      verb={edited === null ? editText.create : apiKeysText.save}
      run={run}
      onEnd={onEnd}
      kept={kept}
    >
      <NameField label={apiKeysText.name} help={apiKeysText.nameHelp} name={kept.text("name") ?? edited?.name ?? ""} />
      {mayChooseUser && (
        <Labelled label={apiKeysText.user}>
          {(described) => (
            <select {...described} name="user">
              {givable.map(({ id, name, email }) => (
                <option key={id} value={id} selected={id === (kept.text("user") ?? who.id)}>
                  {name === email ? name : `${name}, ${email}`}
                </option>
              ))}
            </select>
          )}
        </Labelled>
      )}
      <RoleField
        label={apiKeysText.permissions}
        name="permissions"
        roles={rolesUpTo(who.effective_role)}
        chosen={kept.text("permissions") ?? edited?.permissions ?? "Viewer"}
      />
      <fieldset class="settings-set">
        <legend>{apiKeysText.reach}</legend>
        <label>
          <input
            type="radio"
            name="reach"
            value="all"
            defaultChecked={isFollowing}
            onChange={() => setFollowing(true)}
          />{" "}
          {apiKeysText.follow}
        </label>
        <label>
          <input
            type="radio"
            name="reach"
            value="some"
            defaultChecked={!isFollowing}
            onChange={() => setFollowing(false)}
          />{" "}
          {apiKeysText.only}
        </label>
        {!isFollowing && (
          <NetworkChoices
            name="network"
            chosen={kept.all("network") ?? (edited?.all_networks === false ? edited.network_ids : [])}
          />
        )}
      </fieldset>
      <Labelled label={apiKeysText.expiry}>
        {(described) => (
          <input {...described} type="date" name="expires" defaultValue={kept.text("expires") ?? dayOf(edited)} />
        )}
      </Labelled>
      <Labelled label={apiKeysText.allowed}>
        {(described) => (
          <textarea
            {...described}
            name="sources"
            rows={2}
            spellcheck={false}
            placeholder="10.0.30.0/24"
            defaultValue={kept.text("sources") ?? edited?.allowed_sources?.join("\n") ?? ""}
          />
        )}
      </Labelled>
      {edited !== null && (
        <label class="settings-box">
          <input type="checkbox" name="enabled" defaultChecked={isTicked(kept, "enabled", edited.is_enabled)} />{" "}
          {apiKeysText.isEnabled}
        </label>
      )}
      <ReasonField typed={kept.text("reason")} />
    </AskFirst>
  );
}

function dayOf(edited: Key | null): string {
  return edited?.expires_at?.slice(0, 10) ?? "";
}

/** @throws Refusal if a required choice is missing */
function bodyOf(form: FormData, edited: Key | null, organizationId: string, userId: string) {
  const isFollowing = form.get("reach") === "all";
  const networks = form.getAll("network").map(String);
  if (!isFollowing && networks.length === 0)
    throw new Refusal({ status: 400, code: "no_network", message: apiKeysText.noChoice, requestId: null });
  const day = textIn(form, "expires");
  const sources = textIn(form, "sources")
    .split(/[\s,]+/)
    .filter(Boolean);
  return {
    name: textIn(form, "name"),
    organization_id: edited?.organization_id ?? organizationId,
    user_id: edited?.user_id ?? String(form.get("user") ?? userId),
    tags: edited?.tags ?? [],
    permissions: String(form.get("permissions")) as Key["permissions"],
    ...(isFollowing ? { all_networks: true } : { all_networks: false, network_ids: networks }),
    // A time of day set elsewhere is kept as long as the day is unchanged.
    expires_at: day === dayOf(edited) ? (edited?.expires_at ?? null) : day === "" ? null : `${day}T00:00:00.000Z`,
    allowed_sources: sources.length === 0 ? null : sources,
    ...(edited === null ? {} : { is_enabled: form.get("enabled") !== null }),
  };
}
