// Fields of hand-written forms, each bound to its form by name. Limits come from the generated schemas (`#limits`).

import type { ComponentChildren, JSX } from "preact";
import { useEffect, useState } from "preact/hooks";
import { LIMITS } from "#limits";
import { useAnswer } from "../api/answer.ts";
import { read } from "../api/client.ts";
import { Select } from "../parts/select.tsx";
import { editText } from "../text/editing.ts";
import { ownValue } from "../text/own-value.ts";
import { type FormField, isBeyond, wrongWith } from "./field.ts";
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

/** The name is by default that of the limits. */
interface LimitedProps extends Omit<FieldProps, "name"> {
  readonly name?: string;
  readonly limits?: FormField;
  /** By default, as the limits say. */
  readonly isRequired?: boolean | undefined;
  /** JSON pointer of the value in the body. */
  readonly pointer?: string;
  /** Error found by the form itself. */
  readonly wrong?: string | null;
}

type InputProps = Pick<JSX.IntrinsicElements["input"], "type" | "autoComplete" | "inputMode" | "placeholder">;

interface TextFieldProps extends LimitedProps, InputProps {
  /** Lines of a multi-line field. */
  readonly rows?: number;
}

export function TextField({ form, rows, ...about }: TextFieldProps) {
  const {
    name = about.limits?.name ?? "",
    label,
    help,
    limits,
    isRequired,
    pointer,
    wrong,
    type = "text",
    ...input
  } = about;
  const value = String(ownValue(form.typed, name) ?? "");
  const own = wrong ?? wrongIn(value.trim() === "" ? "" : value, limits, isRequired);
  return (
    <Row
      id={`${form.id}-${name}`}
      label={label}
      help={help ?? null}
      wrong={useCheck(form, name, pointer, own, limits !== undefined && isBeyond(limits, value))}
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
        return <input {...control} {...input} type={type} aria-required={isRequired ?? limits?.isRequired === true} />;
      }}
    />
  );
}

interface SecretFieldProps extends LimitedProps {
  readonly autoComplete?: "current-password" | "new-password";
}

/** Hidden until shown; in no draft. */
export function SecretField({ form, limits, autoComplete = "new-password", ...about }: SecretFieldProps) {
  const { name = limits?.name ?? "", label, help, isRequired = limits?.isRequired === true, pointer, wrong } = about;
  const [isShown, setShown] = useState(false);
  const value = form.secret(name);
  return (
    <Row
      id={`${form.id}-${name}`}
      label={label}
      help={help ?? null}
      wrong={useCheck(form, name, pointer, wrong ?? wrongIn(value, limits, isRequired))}
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
          <button type="button" aria-pressed={isShown} onClick={() => setShown(!isShown)}>
            Show
          </button>
        </span>
      )}
    />
  );
}

/** Password of the signed-in user, for confirmation. */
export function OwnPassword({ form, label }: Pick<FieldProps, "form" | "label">) {
  const limits = LIMITS.changePassword.current_password;
  return <SecretField form={form} name="password" label={label} limits={limits} autoComplete="current-password" />;
}

/** Error of a text. */
function wrongIn(value: string, limits: FormField | undefined, isRequired = limits?.isRequired): string | null {
  if (value === "") return isRequired === true ? editText.wrong.required : null;
  return limits === undefined ? null : wrongWith(limits, value);
}

/** Registers a field while it is shown. @returns its error, as {@link FormState.check} */
function useCheck(form: FormState, name: string, pointer = `/${name}`, wrong: string | null = null, isFinal = false) {
  useEffect(() => () => form.leave(name), [name]);
  return form.check(name, pointer, wrong, isFinal);
}

interface ChoiceProps extends FieldProps {
  readonly options: readonly (readonly [value: string, label: string])[];
  /** By default, the typed value. */
  readonly chosen?: string | null;
  readonly wrong?: string | null;
}

export function SelectField({ form, name, label, help, options, wrong, chosen = form.text(name) }: ChoiceProps) {
  return (
    <Row
      id={`${form.id}-${name}`}
      label={label}
      help={help ?? null}
      wrong={useCheck(form, name, undefined, wrong)}
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
  /** By default, types the value. */
  onChoose?(value: string): void;
  /** Whether the label is for assistive technology only, as a heading says it. */
  readonly isUnseen?: boolean;
  readonly children?: ComponentChildren;
}

/** One of several values, all of them visible. */
export function RadioField({ form, name, options, onChoose, chosen = form.text(name), ...about }: SetProps) {
  const id = `${form.id}-${name}`;
  return (
    <FieldSet {...about} id={id} wrong={useCheck(form, name, undefined, about.wrong)}>
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
      {about.children}
    </FieldSet>
  );
}

/** Any of several values. */
export function TicksField({ form, name, options, ...about }: SetProps) {
  return (
    <FieldSet {...about} id={`${form.id}-${name}`} wrong={useCheck(form, name, undefined, about.wrong)}>
      <Ticks form={form} name={name} options={options} />
    </FieldSet>
  );
}

export function Ticks({ form, name, options }: Pick<SetProps, "form" | "name" | "options">) {
  const chosen = form.list(name);
  return (
    <div class="settings-choices">
      {options.map(([value, label]) => (
        <label key={value}>
          <input
            type="checkbox"
            checked={chosen.includes(value)}
            onChange={({ currentTarget: { checked } }) =>
              form.type({ [name]: checked ? [...chosen, value] : chosen.filter((each) => each !== value) })
            }
          />{" "}
          <bdi>{label}</bdi>
        </label>
      ))}
    </div>
  );
}

/** All networks of the user, by name. */
export function useNetworks() {
  return useAnswer(read("/api/v1/networks", { query: { limit: 0, order_by: "name" } })).data ?? [];
}

interface ReasonFieldProps {
  readonly form: FormState;
  readonly label?: string;
  readonly help?: string;
}

export function ReasonField({ form, ...about }: ReasonFieldProps) {
  const wrong = lacksReason(form.reason) ? editText.wrong.required : null;
  return (
    <ReasonRow
      {...about}
      id={`${form.id}-reason`}
      reason={form.reason}
      wrong={form.check("reason", "/X-Change-Reason", wrong)}
      onReason={form.giveReason}
    />
  );
}

interface SetFrameProps extends Pick<SetProps, "label" | "help" | "wrong" | "isUnseen" | "children"> {
  readonly id: string;
}

/** Controls with a common label. */
export function FieldSet({ id, label, help, wrong = null, isUnseen, children }: SetFrameProps) {
  return (
    <fieldset
      class="settings-set"
      aria-invalid={wrong !== null}
      aria-describedby={wrong === null ? undefined : `${id}-wrong`}
    >
      <legend class={isUnseen === true ? "unseen" : undefined}>{label}</legend>
      {children}
      {wrong !== null && (
        <p class="edit-wrong" id={`${id}-wrong`}>
          {wrong}
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
