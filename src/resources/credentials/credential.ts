// Credential that discovery uses to query devices. Secrets are sealed, stored separately and never enter history.

import { type Static, type TSchema, Type } from "@sinclair/typebox";
import { sqliteTable } from "drizzle-orm/sqlite-core";
import { textSortKey } from "../../base/text.ts";
import { type Kind, liveColumns, type RecordBase } from "../../db/kind.ts";
import {
  Body,
  IpAddressText,
  Name,
  Nullable,
  OneOf,
  RECORD_READ_ONLY,
  recordFields,
  TagIds,
  Timestamp,
  Uuid,
} from "../../schemas/schemas.ts";
import { requiredReference } from "../live-columns.ts";
import { organizations } from "../organizations/organization.ts";
import { RECORD_EXAMPLE } from "../record.ts";
import { withoutListItem } from "../references.ts";

export const SECRET_MAX_LENGTH = 1_024;
export const SECRET_PATH_MAX_LENGTH = 1_024;
/** Minimum length in characters of an inline SNMPv3 password (RFC 3414 §11.2). */
export const USM_PASSWORD_MIN_LENGTH = 8;
export const TARGET_IPS_MAX = 1_000;
export const ASSIGNMENTS_MAX = 10_000;
/** Replaces an inline secret in every response; sending it back keeps the stored secret. */
export const SECRET_MASK = "********";

/** SNMP-USER-BASED-SM-MIB and RFC 7860. */
export const AUTH_PROTOCOLS = ["None", "Md5", "Sha1", "Sha256", "Sha384", "Sha512"] as const;
/** RFC 3414, RFC 3826 and the common AES-256 extension. */
export const PRIV_PROTOCOLS = ["None", "Des", "Aes128", "Aes256"] as const;

/** `secret` keeps errors anywhere below it from echoing the value. */
export const Secret = Type.Union(
  [
    Body({
      mode: Type.Literal("Inline"),
      value: Type.String({
        minLength: 1,
        maxLength: SECRET_MAX_LENGTH,
        secret: true,
        description: `Returned as "${SECRET_MASK}"; sending that back keeps the stored value.`,
      }),
    }),
    Body({
      mode: Type.Literal("FilePath"),
      path: Type.String({
        format: "relative-path",
        minLength: 1,
        maxLength: SECRET_PATH_MAX_LENGTH,
        description: "A file in the configured secrets folder, read when the secret is used.",
      }),
    }),
  ],
  { $id: "Secret", secret: true },
);
export type Secret = Static<typeof Secret>;

export const CredentialType = Type.Union(
  [
    Body({ type: Type.Literal("SnmpV1"), community: Secret }),
    Body({ type: Type.Literal("SnmpV2c"), community: Secret }),
    Body({
      type: Type.Literal("SnmpV3"),
      security_name: Type.String({
        format: "name",
        minLength: 1,
        maxLength: 32,
        description: "usmUserName (RFC 3414).",
      }),
      auth_protocol: OneOf(AUTH_PROTOCOLS),
      auth_password: Type.Optional(Secret),
      priv_protocol: OneOf(PRIV_PROTOCOLS, { description: "Must be None if auth_protocol is None." }),
      priv_password: Type.Optional(Secret),
      context_name: Type.Optional(
        Type.String({ format: "line", maxLength: 32, description: "vacmContextName (RFC 3415)." }),
      ),
    }),
  ],
  { $id: "CredentialType" },
);
export type CredentialType = Static<typeof CredentialType>;

/** Fields of a credential type that may hold secrets. */
export const SECRET_FIELDS = ["community", "auth_password", "priv_password"] as const;
export type SecretField = (typeof SECRET_FIELDS)[number];

export interface CredentialRecord extends RecordBase {
  readonly organization_id: string;
  readonly name: string;
  /** Inline secrets are masked. */
  readonly credential_type: CredentialType;
  readonly tags: readonly string[];
  readonly target_ips: readonly string[] | null;
  /** Timestamp of the last change to a secret. */
  readonly secrets_updated_at: string;
}

export const credentials = sqliteTable("credentials", {
  ...liveColumns,
  organization_n: requiredReference(() => organizations.n),
});

export const credentialKind: Kind<CredentialRecord> = {
  name: "credential",
  plural: "credentials",
  code: 6,
  table: credentials,
  scopes: {},
  references: [{ to: "tag", field: "tags", without: withoutListItem("tags") }],
  links: (credential) => [{ relation: "tags", ids: credential.tags }],
  observed: [],
  absent: "null",
  identity: (credential) => `${credential.organization_id}/${credential.name}`,
  // Names need not be unique.
  unique: null,
  indexedNames: ({ name }) => [{ field: "name", value: name, as: "Name" }],
  sortKeys: { name: textSortKey, credential_type: ({ type }) => type },
};

export const HostAssignment = Body(
  {
    host_id: Uuid,
    ip_address_ids: Type.Optional(
      Nullable(
        Type.Array(Uuid, {
          minItems: 1,
          maxItems: ASSIGNMENTS_MAX,
          description:
            "Only these addresses of the host; omitted: all its current addresses. An address added or changed later awaits confirmation (`confirmIpAddress`).",
        }),
      ),
    ),
  },
  { $id: "HostAssignment" },
);

const required = {
  organization_id: Uuid,
  name: Name,
  credential_type: CredentialType as TSchema as typeof CredentialType,
  assigned_network_ids: Type.Array(Uuid, {
    maxItems: ASSIGNMENTS_MAX,
    description:
      "Networks in which it is tried: on addresses in subnets that accept credentials, and on targets specified by an Admin.",
  }),
  host_assignments: Type.Array(HostAssignment, {
    maxItems: ASSIGNMENTS_MAX,
    description: "Hosts it is tried on.",
  }),
  tags: TagIds,
};
const TargetIps = Type.Optional(
  Nullable(
    Type.Array(IpAddressText, {
      maxItems: TARGET_IPS_MAX,
      description: "Addresses to try first; cleared when the next scan dispatches.",
    }),
  ),
);

export const CredentialCreate = Body(
  { id: Type.Optional(Uuid), ...required, target_ips: TargetIps },
  { ignored: [...RECORD_READ_ONLY, "secrets_updated_at"] },
);
export const CredentialUpdate = CredentialCreate;
export type CredentialCreate = Static<typeof CredentialCreate>;
export type CredentialUpdate = Static<typeof CredentialUpdate>;

export const Credential = Type.Object(
  {
    id: Uuid,
    ...required,
    target_ips: Nullable(Type.Array(IpAddressText)),
    secrets_updated_at: Timestamp,
    ...recordFields,
  },
  { $id: "Credential" },
);

export const CREDENTIAL_EXAMPLE = {
  id: "01936f2e-0d5c-7d3a-9a39-3f6f1f7a0006",
  organization_id: "01936f2e-0d5c-7d3a-9a39-3f6f1f7a0001",
  name: "Switches read-only",
  credential_type: { type: "SnmpV2c", community: { mode: "Inline", value: SECRET_MASK } },
  assigned_network_ids: ["01936f2e-0d5c-7d3a-9a39-3f6f1f7a0002"],
  host_assignments: [],
  tags: [],
  target_ips: null,
  secrets_updated_at: "2026-11-21T09:15:00.123Z",
  ...RECORD_EXAMPLE,
};
