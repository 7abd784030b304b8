// Fields for hand-written forms, each bound to its form by name. Limits come from the generated schemas (`#limits`).

import type { ComponentChildren, JSX } from "preact";
import { useEffect, useState } from "preact/hooks";
import { LIMITS } from "#limits";
import { read } from "../api/client.ts";
import { useResponse } from "../api/response.ts";
import { ActionButton } from "../components/buttons.tsx";
import { Select } from "../components/select.tsx";
import { editText } from "../text/editing.ts";
import { ownValue } from "../text/own-value.ts";
import { exceedsLimit, type FormField, validationError } from "./field.ts";
import { lacksReason } from "./reason.ts";
import { ReasonRow } from "./reason-input.tsx";
import { Row } from "./row.tsx";
import type { FormState } from "./use-form.ts";

interface FieldProps {
  readonly form: FormState;
  readonly name: string;
  readonly label: string;
  readonly help?: string | undefined;
}

/** The name defaults to that of the limits. */
interface LimitedProps extends Omit<FieldProps, "name"> {
  readonly name?: string;
  readonly limits?: FormField;
  /** Defaults to that of the limits. */
  readonly isRequired?: boolean | undefined;
  /** JSON pointer of the value in the request body. */
  readonly pointer?: string;
  /** Error found by the form itself. */
  readonly error?: string | null;
}

type InputProps = Pick<JSX.IntrinsicElements["input"], "type" | "autoComplete" | "inputMode" | "placeholder">;

interface TextFieldProps extends LimitedProps, InputProps {
  /** Number of lines of a multi-line field. */
  readonly rows?: number;
}

export function TextField({ form, rows, ...rest }: TextFieldProps) {
  const { name = rest.limits?.name ?? "", label, help, limits, isRequired, pointer, error, ...input } = rest;
  const value = String(ownValue(form.typed, name) ?? "");
  const ownError = error ?? textError(value.trim() === "" ? "" : value, limits, isRequired);
  return (
    <Row
      id={`${form.id}-${name}`}
      label={label}
      help={help ?? null}
      error={useCheck(form, name, pointer, ownError, limits !== undefined && exceedsLimit(limits, value))}
      control={(described) => {
        const control = {
          ...described,
          autoComplete: "off",
          autoCapitalize: "none" as const,
          spellcheck: false,
          dir: "auto" as const,
          value,
          onInput: (event: { readonly currentTarget: { readonly value: string } }) =>
            form.type({ [name]: event.currentTarget.value }),
        };
        if (rows !== undefined) return <textarea {...control} rows={rows} placeholder={input.placeholder} />;
        return <input type="text" {...control} {...input} aria-required={isRequired ?? limits?.isRequired === true} />;
      }}
    />
  );
}

interface SecretFieldProps extends LimitedProps {
  readonly autoComplete?: "current-password" | "new-password";
}

/** Secret, masked until the user shows it, and never stored in a draft. */
export function SecretField({ form, limits, autoComplete = "new-password", ...rest }: SecretFieldProps) {
  const { name = limits?.name ?? "", label, help, isRequired = limits?.isRequired === true, pointer, error } = rest;
  const [isShown, setShown] = useState(false);
  const value = form.secret(name);
  return (
    <Row
      id={`${form.id}-${name}`}
      label={label}
      help={help ?? null}
      error={useCheck(form, name, pointer, error ?? textError(value, limits, isRequired))}
      control={(described) => (
        <span class="field-line">
          <input
            {...described}
            type={isShown ? "text" : "password"}
            autoComplete={autoComplete}
            autoCapitalize="none"
            spellcheck={false}
            aria-required={isRequired}
            value={value}
            onInput={(event) => form.typeSecret(name, event.currentTarget.value)}
          />
          <ActionButton label="Show" aria-pressed={isShown} onClick={() => setShown(!isShown)} />
        </span>
      )}
    />
  );
}

/** Password of the signed-in user, for confirmation. */
export function CurrentPasswordField({ form, label }: Pick<FieldProps, "form" | "label">) {
  const limits = LIMITS.changePassword.current_password;
  return <SecretField form={form} name="password" label={label} limits={limits} autoComplete="current-password" />;
}

function textError(value: string, limits: FormField | undefined, isRequired = limits?.isRequired): string | null {
  if (value === "") return isRequired === true ? editText.error.required : null;
  return limits === undefined ? null : validationError(limits, value);
}

/** Registers a field while it is shown. @returns its error to display, from {@link FormState.check} */
function useCheck(form: FormState, name: string, pointer = `/${name}`, error: string | null = null, isFinal = false) {
  useEffect(() => () => form.unregister(name), [name]);
  return form.check(name, pointer, error, isFinal);
}

interface ChoiceProps extends FieldProps {
  readonly options: readonly (readonly [value: string, label: string])[];
  /** Selected value; defaults to the typed one. */
  readonly chosen?: string | null;
  readonly error?: string | null;
}

export function SelectField({ form, name, label, help, options, error, chosen = form.text(name) }: ChoiceProps) {
  return (
    <Row
      id={`${form.id}-${name}`}
      label={label}
      help={help ?? null}
      error={useCheck(form, name, undefined, error)}
      control={(described) => (
        <Select
          {...described}
          value={chosen ?? ""}
          choices={options}
          onChoose={(value) => form.type({ [name]: value })}
        />
      )}
    />
  );
}

interface SetProps extends ChoiceProps {
  /** Called on selection; by default, the value is stored in the form. */
  onChoose?(value: string): void;
  /** Whether the label is for assistive technology only, because a heading already shows it. */
  readonly isVisuallyHidden?: boolean;
  readonly children?: ComponentChildren;
}

/** Radio buttons: one of several values. */
export function RadioField({ form, name, options, onChoose, chosen = form.text(name), ...rest }: SetProps) {
  const id = `${form.id}-${name}`;
  return (
    <FieldSet {...rest} id={id} error={useCheck(form, name, undefined, rest.error)}>
      {options.map(([value, label]) => (
        <label key={value}>
          <input
            id={`${id}-${value}`}
            type="radio"
            name={id}
            checked={chosen === value}
            onChange={() => (onChoose === undefined ? form.type({ [name]: value }) : onChoose(value))}
          />{" "}
          <bdi>{label}</bdi>
        </label>
      ))}
      {rest.children}
    </FieldSet>
  );
}

/** Checkboxes: any of several values. */
export function CheckboxesField({ form, name, options, ...rest }: SetProps) {
  return (
    <FieldSet {...rest} id={`${form.id}-${name}`} error={useCheck(form, name, undefined, rest.error)}>
      <Checkboxes form={form} name={name} options={options} />
    </FieldSet>
  );
}

export function Checkboxes({ form, name, options }: Pick<SetProps, "form" | "name" | "options">) {
  const chosen = form.list(name);
  return (
    <div class="settings-choices">
      {options.map(([value, label]) => (
        <label key={value}>
          <input
            type="checkbox"
            checked={chosen.includes(value)}
            onChange={({ currentTarget: { checked } }) =>
              form.type({ [name]: checked ? [...chosen, value] : chosen.filter((item) => item !== value) })
            }
          />{" "}
          <bdi>{label}</bdi>
        </label>
      ))}
    </div>
  );
}

/** All networks that the user can access, by name. */
export function useNetworks() {
  return useResponse(read("/api/v1/networks", { query: { limit: 0, order_by: "name" } })).data ?? [];
}

export function ReasonField({ form, ...rest }: Readonly<{ form: FormState; label?: string; help?: string }>) {
  const error = lacksReason(form.reason) ? editText.error.required : null;
  return (
    <ReasonRow
      {...rest}
      id={`${form.id}-reason`}
      reason={form.reason}
      error={form.check("reason", "/X-Change-Reason", error)}
      onReason={form.typeReason}
    />
  );
}

interface SetFrameProps extends Omit<SetProps, "form" | "name" | "options" | "chosen" | "onChoose"> {
  readonly id: string;
}

/** Controls with a common label. */
export function FieldSet({ id, label, help, error = null, isVisuallyHidden, children }: SetFrameProps) {
  return (
    <fieldset
      class="settings-set"
      aria-invalid={error !== null}
      aria-describedby={error === null ? undefined : `${id}-error`}
    >
      <legend class={isVisuallyHidden === true ? "visually-hidden" : undefined}>{label}</legend>
      {children}
      {error !== null && (
        <p class="edit-error" id={`${id}-error`}>
          {error}
        </p>
      )}
      {help !== undefined && <p class="aside">{help}</p>}
    </fieldset>
  );
}

export function CheckField({ form, name, label, help }: FieldProps) {
  const id = `${form.id}-${name}`;
  return (
    <div>
      <label class="settings-box">
        <input
          type="checkbox"
          checked={ownValue(form.typed, name) === true}
          aria-describedby={help === undefined ? undefined : `${id}-help`}
          onChange={(event) => form.type({ [name]: event.currentTarget.checked })}
        />{" "}
        {label}
      </label>
      {help !== undefined && (
        <p class="aside" id={`${id}-help`}>
          {help}
        </p>
      )}
    </div>
  );
}
