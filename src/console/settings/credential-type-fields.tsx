// Fields of a credential type and its secrets, each typed, read from a file or kept. Never holds stored secrets: the
// API returns a mask, and accepts the mask as the stored value.

import { useState } from "preact/hooks";
import type { DataOf } from "../api/client.ts";
import type { KeptForm } from "../forms/kept-form.ts";
import { credentialText } from "../text/credentials.ts";
import { ownValue } from "../text/own-value.ts";
import { Labelled, textIn } from "./rights-fields.tsx";

type CredentialType = DataOf<"/api/v1/credentials">[number]["credential_type"];
export type TypeName = CredentialType["type"];
type V3 = Extract<CredentialType, { type: "SnmpV3" }>;
type SecretField = keyof typeof credentialText.secrets;
type Secret = V3 extends { auth_password?: infer S } ? NonNullable<S> : never;

const TYPES: readonly TypeName[] = ["SnmpV2c", "SnmpV3", "SnmpV1"];
const AUTH_PROTOCOLS: readonly V3["auth_protocol"][] = ["Sha256", "Sha512", "Sha384", "Sha1", "Md5", "None"];
const PRIV_PROTOCOLS: readonly V3["priv_protocol"][] = ["Aes128", "Aes256", "Des", "None"];
/** RFC 3414 section 11.2. */
const PASSWORD_MIN_LENGTH = 8;
const SECRET_MAX_LENGTH = 255;
const PATH_MAX_LENGTH = 1_024;
const NAME_MAX_LENGTH = 32;
/** Mask that the API returns for a stored secret. */
const MASK = "********";

interface CredentialTypeFieldsProps {
  /** Draft. */
  readonly kept: KeptForm;
  readonly type: TypeName;
  /** Null for a new credential. */
  readonly stored: CredentialType | null;
  onType(type: TypeName): void;
  /** Called when a secret is replaced. */
  onSecret(): void;
}

export function CredentialTypeFields({ kept, type, stored, onType, onSecret }: CredentialTypeFieldsProps) {
  const user = stored?.type === "SnmpV3" ? stored : null;
  const [auth, setAuth] = useState(
    () => oneOf(AUTH_PROTOCOLS, kept.text("auth_protocol")) ?? user?.auth_protocol ?? "Sha256",
  );
  const [priv, setPriv] = useState(
    () => oneOf(PRIV_PROTOCOLS, kept.text("priv_protocol")) ?? user?.priv_protocol ?? "Aes128",
  );
  const secret = (field: SecretField) => (
    <SecretFields key={field} kept={kept} field={field} stored={secretIn(stored, field)} onSecret={onSecret} />
  );
  return (
    <>
      <Select label={credentialText.type} name="type" values={TYPES} chosen={type} onChoose={onType} />
      {type !== "SnmpV3" && secret("community")}
      {type === "SnmpV3" && (
        <>
          <Labelled label={credentialText.security_name}>
            {(described) => (
              <input
                {...described}
                type="text"
                name="security_name"
                required
                maxLength={NAME_MAX_LENGTH}
                defaultValue={kept.text("security_name") ?? user?.security_name ?? ""}
                autoComplete="off"
                spellcheck={false}
              />
            )}
          </Labelled>
          <Select
            label={credentialText.auth_protocol}
            name="auth_protocol"
            values={AUTH_PROTOCOLS}
            chosen={auth}
            onChoose={(value) => setAuth(value)}
          />
          {auth !== "None" && secret("auth_password")}
          {auth !== "None" && (
            <Select
              label={credentialText.priv_protocol}
              name="priv_protocol"
              values={PRIV_PROTOCOLS}
              chosen={priv}
              onChoose={(value) => setPriv(value)}
            />
          )}
          {auth !== "None" && priv !== "None" && secret("priv_password")}
          <Labelled label={credentialText.context_name} help={credentialText.contextHelp}>
            {(described) => (
              <input
                {...described}
                type="text"
                name="context_name"
                maxLength={NAME_MAX_LENGTH}
                defaultValue={kept.text("context_name") ?? user?.context_name ?? ""}
                autoComplete="off"
                spellcheck={false}
              />
            )}
          </Labelled>
        </>
      )}
    </>
  );
}

interface SelectProps<Value extends string> {
  readonly label: string;
  readonly name: string;
  readonly values: readonly Value[];
  readonly chosen: Value;
  onChoose(value: Value): void;
}

function Select<Value extends string>({ label, name, values, chosen, onChoose }: SelectProps<Value>) {
  const words: Readonly<Record<string, string>> = credentialText.types;
  return (
    <Labelled label={label}>
      {(described) => (
        <select
          {...described}
          name={name}
          value={chosen}
          onChange={(event) => onChoose(event.currentTarget.value as Value)}
        >
          {values.map((value) => (
            <option key={value} value={value} selected={value === chosen}>
              {ownValue(words, value) ?? value}
            </option>
          ))}
        </select>
      )}
    </Labelled>
  );
}

/** Type in the draft. */
export function keptType(kept: KeptForm): TypeName | undefined {
  return oneOf(TYPES, kept.text("type"));
}

function oneOf<Value extends string>(values: readonly Value[], text: string | undefined): Value | undefined {
  return values.find((each) => each === text);
}

const MODES = ["keep", "inline", "file"] as const;
type Mode = (typeof MODES)[number];

interface SecretFieldsProps {
  readonly kept: KeptForm;
  readonly field: SecretField;
  readonly stored: Secret | undefined;
  onSecret(): void;
}

function SecretFields({ kept, field, stored, onSecret }: SecretFieldsProps) {
  const [mode, setMode] = useState<Mode>(
    () => oneOf(MODES, kept.text(`${field}_mode`)) ?? (stored === undefined ? "inline" : "keep"),
  );
  const what = credentialText.secrets[field];
  const choose = (next: Mode) => {
    setMode(next);
    if (next !== "keep") onSecret();
  };
  const words: Partial<Record<Mode, string>> = {
    ...(stored === undefined
      ? {}
      : { keep: stored.mode === "FilePath" ? credentialText.keepFile(stored.path) : credentialText.keep }),
    inline: stored?.mode === "Inline" ? credentialText.inlineNew : credentialText.inline,
    file: credentialText.file,
  };
  return (
    <fieldset class="credential-secret">
      <legend>{credentialText.secretMode(what)}</legend>
      {(Object.keys(words) as Mode[]).map((each) => (
        <label key={each}>
          <input
            type="radio"
            name={`${field}_mode`}
            value={each}
            checked={mode === each}
            onChange={() => choose(each)}
          />{" "}
          {words[each]}
        </label>
      ))}
      {mode === "inline" && (
        <Labelled label={stored === undefined ? what : credentialText.newSecret(what)}>
          {(described) => (
            <input
              {...described}
              type="password"
              name={field}
              required
              minLength={field === "community" ? 1 : PASSWORD_MIN_LENGTH}
              maxLength={SECRET_MAX_LENGTH}
              autoComplete="new-password"
              spellcheck={false}
            />
          )}
        </Labelled>
      )}
      {mode === "file" && (
        <Labelled label={credentialText.path(what)} help={credentialText.pathHelp}>
          {(described) => (
            <input
              {...described}
              type="text"
              name={`${field}_path`}
              required
              maxLength={PATH_MAX_LENGTH}
              defaultValue={kept.text(`${field}_path`) ?? (stored?.mode === "FilePath" ? stored.path : "")}
              autoComplete="off"
              spellcheck={false}
            />
          )}
        </Labelled>
      )}
    </fieldset>
  );
}

/** Type fields of the form in API format. */
export function typedType(form: FormData, type: TypeName, stored: CredentialType | null): CredentialType {
  const secret = (field: SecretField): Secret => secretOf(form, field, secretIn(stored, field));
  if (type !== "SnmpV3") return { type, community: secret("community") };
  const auth_protocol = String(form.get("auth_protocol")) as V3["auth_protocol"];
  const priv_protocol = String(form.get("priv_protocol") ?? "None") as V3["priv_protocol"];
  const context = textIn(form, "context_name");
  return {
    type,
    security_name: textIn(form, "security_name"),
    auth_protocol,
    priv_protocol,
    ...(auth_protocol === "None" ? {} : { auth_password: secret("auth_password") }),
    ...(priv_protocol === "None" ? {} : { priv_password: secret("priv_password") }),
    ...(context === "" ? {} : { context_name: context }),
  };
}

function secretOf(form: FormData, field: SecretField, stored: Secret | undefined): Secret {
  const mode = String(form.get(`${field}_mode`)) as Mode;
  if (mode === "file") return { mode: "FilePath", path: textIn(form, `${field}_path`) };
  if (mode === "keep") return stored ?? { mode: "Inline", value: MASK };
  // Not trimmed; a secret can contain whitespace.
  return { mode: "Inline", value: String(form.get(field) ?? "") };
}

/** Whether the form replaces a secret. */
export function isSecretTyped(form: FormData): boolean {
  return isOther((field) => String(form.get(field)));
}

/** Whether the draft replaces a secret. */
export function isOtherSecretKept(kept: KeptForm): boolean {
  return isOther(kept.text);
}

function isOther(textOf: (field: string) => string | undefined): boolean {
  const fields = Object.keys(credentialText.secrets);
  return fields.some((field) => ["inline", "file"].includes(textOf(`${field}_mode`) ?? ""));
}

/** Masked secret in a field of a type; undefined if absent. */
export function secretIn(type: CredentialType | null, field: SecretField): Secret | undefined {
  return (type as Partial<Record<SecretField, Secret>> | null)?.[field];
}
