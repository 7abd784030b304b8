// Fields shared by the settings forms. Must not pass a password outside its form.

import type { ComponentChildren } from "preact";
import { useId } from "preact/hooks";
import { useAnswer } from "../api/answer.ts";
import { read } from "../api/client.ts";
import { isReasonDemanded, REASON_MAX_LENGTH } from "../forms/reason.ts";
import { reasonText } from "../text/editing.ts";
import { rightsText } from "../text/rights.ts";

interface LabelledProps {
  readonly label: string;
  readonly help?: string | undefined;
  /** @param described attributes that associate the field with its label and help */
  children(described: { readonly id: string; readonly "aria-describedby": string | undefined }): ComponentChildren;
}

/** Field with a label above and help text below. */
export function Labelled({ label, help, children }: LabelledProps) {
  const id = useId();
  const helpId = help === undefined ? undefined : `${id}-help`;
  return (
    <div class="settings-field">
      <label for={id}>{label}</label>
      {children({ id, "aria-describedby": helpId })}
      {help !== undefined && (
        <p class="aside" id={helpId}>
          {help}
        </p>
      )}
    </div>
  );
}

/** API limit for names. */
const NAME_MAX_LENGTH = 255;

interface NameFieldProps {
  readonly label: string;
  readonly help?: string;
  /** Initial value. */
  readonly name: string;
}

/** Name field, `name` in the form. */
export function NameField({ label, help, name }: NameFieldProps) {
  return (
    <Labelled label={label} help={help}>
      {(described) => (
        <input
          {...described}
          type="text"
          name="name"
          required
          maxLength={NAME_MAX_LENGTH}
          defaultValue={name}
          autoComplete="off"
          dir="auto"
        />
      )}
    </Labelled>
  );
}

/** Whitespace does not count. */
const NOT_BLANK = ".*\\S.*";

/** @param typed initial value */
export function ReasonField({ typed = "" }: { readonly typed?: string | undefined }) {
  const isDemanded = isReasonDemanded();
  return (
    <Labelled
      label={isDemanded ? reasonText.demanded : rightsText.why}
      help={isDemanded ? reasonText.demands : undefined}
    >
      {(described) => (
        <input
          {...described}
          type="text"
          name="reason"
          required={isDemanded}
          pattern={isDemanded ? NOT_BLANK : undefined}
          maxLength={REASON_MAX_LENGTH}
          defaultValue={typed}
          autoComplete="off"
          dir="auto"
        />
      )}
    </Labelled>
  );
}

interface RoleFieldProps {
  readonly label: string;
  readonly name: string;
  readonly roles: readonly (keyof typeof rightsText.roles)[];
  readonly chosen: string;
  onChoose?(role: string): void;
}

export function RoleField({ label, name, roles, chosen, onChoose }: RoleFieldProps) {
  return (
    <Labelled label={label}>
      {(described) => (
        <select {...described} name={name} onChange={(event) => onChoose?.(event.currentTarget.value)}>
          {roles.map((role) => (
            <option key={role} value={role} selected={role === chosen}>
              {rightsText.roles[role]}
            </option>
          ))}
        </select>
      )}
    </Labelled>
  );
}

/** All networks of the user, by name. */
export function useNetworks() {
  return useAnswer(read("/api/v1/networks", { query: { limit: 0, order_by: "name" } })).data ?? [];
}

interface NetworkChoicesProps {
  /** Form name of each box. */
  readonly name: string;
  readonly chosen: readonly string[];
  readonly isDisabled?: boolean;
}

/** One checkbox per network. */
export function NetworkChoices({ name, chosen, isDisabled = false }: NetworkChoicesProps) {
  const networks = useNetworks();
  return (
    <div class="settings-choices">
      {/* Still loading; keep the current selection. */}
      {networks.length === 0 &&
        !isDisabled &&
        chosen.map((id) => <input key={id} type="hidden" name={name} value={id} />)}
      {networks.map((network) => (
        <label key={network.id}>
          <input
            type="checkbox"
            name={name}
            value={network.id}
            defaultChecked={chosen.includes(network.id)}
            disabled={isDisabled}
          />{" "}
          <bdi>{network.name}</bdi>
        </label>
      ))}
    </div>
  );
}

/** Trimmed text of a field. */
export function textIn(form: FormData, name: string): string {
  return String(form.get(name) ?? "").trim();
}
