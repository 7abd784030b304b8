// Input for a new credential, its validation, and its API form. Pure.

import type { components } from "#api";
import { credentialsText } from "../text/first-run.ts";

type CredentialType = components["schemas"]["CredentialType"];
type V3 = Extract<CredentialType, { type: "SnmpV3" }>;

/** Kinds that can be created here. */
export type NewKind = "v2c" | "v3";

/** Protocols of SNMP-USER-BASED-SM-MIB, RFC 7860 and RFC 3826, strongest first. */
export const AUTH_PROTOCOLS = [
  "Sha512",
  "Sha384",
  "Sha256",
  "Sha1",
  "Md5",
  "None",
] as const satisfies V3["auth_protocol"][];
export const PRIV_PROTOCOLS = ["Aes256", "Aes128", "Des", "None"] as const satisfies V3["priv_protocol"][];

/** Minimum length of an SNMPv3 password (RFC 3414 section 11.2). */
const PASSWORD_MIN_LENGTH = 8;

export interface TypedCredential {
  readonly community: string;
  readonly user: string;
  readonly authProtocol: (typeof AUTH_PROTOCOLS)[number];
  readonly authPassword: string;
  readonly privProtocol: (typeof PRIV_PROTOCOLS)[number];
  readonly privPassword: string;
  readonly context: string;
}

export const NOTHING_TYPED: TypedCredential = {
  community: "",
  user: "",
  authProtocol: "Sha256",
  authPassword: "",
  privProtocol: "Aes128",
  privPassword: "",
  context: "",
};

/** Validation errors by field. */
export function wrongWithTyped(kind: NewKind, typed: TypedCredential): Partial<Record<keyof TypedCredential, string>> {
  const { required, tooShort, needsAuth } = credentialsText;
  if (kind === "v2c") return typed.community === "" ? { community: required } : {};
  const { user, authProtocol, authPassword, privProtocol, privPassword } = typed;
  const wrongPassword = (password: string) =>
    password === "" ? required : [...password].length < PASSWORD_MIN_LENGTH ? tooShort(PASSWORD_MIN_LENGTH) : undefined;
  return Object.fromEntries(
    Object.entries({
      user: user.trim() === "" ? required : undefined,
      authPassword: authProtocol === "None" ? undefined : wrongPassword(authPassword),
      privProtocol: authProtocol === "None" && privProtocol !== "None" ? needsAuth : undefined,
      privPassword: privProtocol === "None" ? undefined : wrongPassword(privPassword),
    }).filter(([, said]) => said !== undefined),
  );
}

/** API form of valid input. */
export function typeOf(kind: NewKind, typed: TypedCredential): CredentialType {
  const inline = (value: string) => ({ mode: "Inline" as const, value });
  if (kind === "v2c") return { type: "SnmpV2c", community: inline(typed.community) };
  const { user, authProtocol, authPassword, privProtocol, privPassword, context } = typed;
  return {
    type: "SnmpV3",
    security_name: user,
    auth_protocol: authProtocol,
    ...(authProtocol === "None" ? {} : { auth_password: inline(authPassword) }),
    priv_protocol: privProtocol,
    ...(privProtocol === "None" ? {} : { priv_password: inline(privPassword) }),
    ...(context === "" ? {} : { context_name: context }),
  };
}
