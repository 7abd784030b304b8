// Form fields for a credential's type, in the first run and the settings. A secret is typed, read from a file or kept.
// Stored secrets never reach the browser: the API returns a mask, and accepts the mask as the stored value.

import { LIMITS } from "#limits";
import type { DataOf } from "../api/client.ts";
import { credentialText } from "../text/credentials.ts";
import { editText } from "../text/editing.ts";
import { ownValue } from "../text/own-value.ts";
import type { TypedFields } from "./edits.ts";
import { RadioField, SecretField, SelectField, TextField } from "./fields.tsx";
import type { FormState } from "./use-form.ts";

type CredentialType = DataOf<"/api/v1/credentials">[number]["credential_type"];
type V3 = Extract<CredentialType, { type: "SnmpV3" }>;
type Secret = NonNullable<V3["auth_password"]>;
export type TypeName = CredentialType["type"];
const SECRETS = ["community", "auth_password", "priv_password"] as const;
type SecretName = (typeof SECRETS)[number];

const TYPES = ["SnmpV2c", "SnmpV3", "SnmpV1"] as const satisfies readonly TypeName[];
/** Protocols selected for a new credential. */
const DEFAULTS = { auth_protocol: "Sha256", priv_protocol: "Aes128" } as const;
/** RFC 3414 section 11.2. The API schema is shared with communities, which can be shorter. */
const PASSWORD_MIN_LENGTH = 8;
/** Mask that the API returns for a stored secret. */
const MASK = "********";

/** Labels, which differ between the first run and the settings. */
interface Words extends Readonly<Record<"security_name" | "auth_protocol" | "priv_protocol", string>> {
  readonly context_name: string;
  readonly contextHelp: string;
  readonly secrets: Readonly<Record<SecretName, string>>;
  readonly protocols?: Readonly<Record<string, string>>;
}

/** Initial input of the fields. @param stored null for a new credential */
export function initialType(stored: CredentialType | null): TypedFields {
  const source: Partial<V3> = stored?.type === "SnmpV3" ? stored : DEFAULTS;
  const { security_name = "", context_name = "", ...protocols } = source;
  const modes = SECRETS.flatMap((field) => {
    const secret = secretIn(stored, field);
    return [
      [`${field}_mode`, secret === undefined ? "inline" : "keep"],
      [`${field}_path`, secret?.mode === "FilePath" ? secret.path : ""],
    ] as const;
  });
  const { auth_protocol = DEFAULTS.auth_protocol, priv_protocol = DEFAULTS.priv_protocol } = protocols;
  const type = stored?.type ?? TYPES[0];
  return { type, security_name, context_name, auth_protocol, priv_protocol, ...Object.fromEntries(modes) };
}

interface CredentialTypeFieldsProps {
  readonly form: FormState;
  readonly type: TypeName;
  readonly words: Words;
  /** Null for a new credential. */
  readonly stored?: CredentialType | null;
  /** Whether secrets can be read from files. */
  readonly hasFiles?: boolean | undefined;
}

export function CredentialTypeFields({ form, type, words, stored = null, hasFiles }: CredentialTypeFieldsProps) {
  const secret = (field: SecretName) => (
    <SecretFields key={field} {...{ form, words, field, hasFiles }} stored={secretIn(stored, field)} />
  );
  if (type !== "SnmpV3") return secret("community");
  const protocol = (name: keyof typeof DEFAULTS) => (
    <SelectField form={form} name={name} label={words[name]} options={protocolsOf(name, words)} />
  );
  const { security_name, context_name } = LIMITS.CredentialType;
  const [hasAuth, hasPriv] = [form.text("auth_protocol") !== "None", form.text("priv_protocol") !== "None"];
  return (
    <>
      <TextField form={form} name="security_name" label={words.security_name} limits={security_name} />
      {protocol("auth_protocol")}
      {hasAuth && secret("auth_password")}
      {hasAuth && protocol("priv_protocol")}
      {hasAuth && hasPriv && secret("priv_password")}
      <TextField
        form={form}
        name="context_name"
        label={words.context_name}
        help={words.contextHelp}
        limits={context_name}
      />
    </>
  );
}

/** Options for a protocol, strongest first. */
function protocolsOf(name: keyof typeof DEFAULTS, { protocols }: Words) {
  const strongest = LIMITS.CredentialType[name].choices.toReversed();
  return strongest.map((value) => [value, ownValue(protocols, value) ?? value] as const);
}

/** SNMP version, for the settings; offers the versions that scans support. */
export function TypeField({ form }: { readonly form: FormState }) {
  const options = TYPES.map((value) => [value, credentialText.types[value]] as const);
  return <SelectField form={form} name="type" label={credentialText.type} options={options} />;
}

interface SecretFieldsProps extends Pick<CredentialTypeFieldsProps, "form" | "words" | "hasFiles"> {
  readonly field: SecretName;
  readonly stored: Secret | undefined;
}

function SecretFields({ form, words, field, stored, hasFiles }: SecretFieldsProps) {
  const secretName = words.secrets[field];
  const value = form.secret(field);
  const isShort = field !== "community" && value !== "" && [...value].length < PASSWORD_MIN_LENGTH;
  const inline = (
    <SecretField
      form={form}
      name={field}
      label={stored === undefined ? secretName : credentialText.newSecret(secretName)}
      limits={LIMITS.Secret.value}
      pointer={`/credential_type/${field}`}
      error={isShort ? editText.error.tooShort(PASSWORD_MIN_LENGTH, [...value].length) : null}
    />
  );
  if (hasFiles !== true) return inline;
  const keepLabel = stored?.mode === "FilePath" ? credentialText.keepFile(stored.path) : credentialText.keep;
  const mode = form.text(`${field}_mode`);
  return (
    <RadioField
      form={form}
      name={`${field}_mode`}
      label={credentialText.secretMode(secretName)}
      options={[
        ...(stored === undefined ? [] : [["keep", keepLabel] as const]),
        ["inline", stored?.mode === "Inline" ? credentialText.inlineNew : credentialText.inline],
        ["file", credentialText.file],
      ]}
    >
      {mode === "inline" && inline}
      {mode === "file" && (
        <TextField
          form={form}
          name={`${field}_path`}
          label={credentialText.path(secretName)}
          help={credentialText.pathHelp}
          limits={LIMITS.Secret.path}
          pointer={`/credential_type/${field}`}
        />
      )}
    </RadioField>
  );
}

/** Credential type in API format, from the form's input. */
export function typeIn(form: FormState, type: TypeName, stored: CredentialType | null = null): CredentialType {
  const { text } = form;
  const secret = (field: SecretName): Secret => {
    const mode = text(`${field}_mode`);
    if (mode === "file") return { mode: "FilePath", path: text(`${field}_path`) };
    if (mode === "keep") return secretIn(stored, field) ?? { mode: "Inline", value: MASK };
    return { mode: "Inline", value: form.secret(field) };
  };
  if (type !== "SnmpV3") return { type, community: secret("community") };
  const auth_protocol = text("auth_protocol") as V3["auth_protocol"];
  const priv_protocol = auth_protocol === "None" ? "None" : (text("priv_protocol") as V3["priv_protocol"]);
  return {
    type,
    security_name: text("security_name"),
    auth_protocol,
    priv_protocol,
    ...(auth_protocol === "None" ? {} : { auth_password: secret("auth_password") }),
    ...(priv_protocol === "None" ? {} : { priv_password: secret("priv_password") }),
    ...(text("context_name") === "" ? {} : { context_name: text("context_name") }),
  };
}

/** Whether any secret of the type is replaced. */
export function isSecretReplaced({ text }: FormState, type: TypeName): boolean {
  const [community, ...passwords] = SECRETS;
  const secrets = type === "SnmpV3" ? passwords : [community];
  return secrets.some((field) => text(`${field}_mode`) !== "keep");
}

/** Masked secret in a field of a credential type; undefined if absent. */
export function secretIn(type: CredentialType | null, field: SecretName): Secret | undefined {
  return (type as Partial<Record<SecretName, Secret>> | null)?.[field];
}
