// Who acts: what a request may see and do, worked out once per request from today's rights.

import { DomainError } from "../base/errors.ts";
import type { Instant } from "../base/instant.ts";
import type { Reach } from "../db/reading/list-query.ts";
import type { Author } from "../db/writing/ledger.ts";
import { atLeast, type Role } from "./role.ts";

/** The caller of a request, by record numbers: what reads need. */
export interface Actor extends Reach {
  readonly type: "User" | "ApiKey";
  /** The user, or the API key. */
  readonly n: number;
  readonly userN: number;
  readonly role: Role;
}

/** The caller as it crosses to another thread. */
export function plainActor({ type, n, userN, role, organizationN, networkNs }: Actor): Actor {
  return { type, n, userN, role, organizationN, networkNs };
}

/** The caller as a command gets it: by ids, with names for the ledger. Plain data: it crosses to the writer. */
export interface CommandActor extends Author {
  readonly organizationId: string;
  /** Null for the appliance's own subcommands. */
  readonly userId: string | null;
  readonly role: Role;
  /** Null for every network of the organization. */
  readonly networkIds: readonly string[] | null;
  /** Of a user or an API key: without it nothing is written for them. */
  readonly standing?: Standing;
  /** Of a scan that someone ordered: it writes as long as they may order it. */
  readonly orderedBy?: Orderer;
}

/** The appliance itself, where it writes on nobody's behalf. */
export const SYSTEM_AUTHOR: Author = {
  type: "System",
  id: null,
  name: "netledger",
  organizationId: null,
  requestId: null,
};

/** Who ordered what goes on without them, and what it takes to order it. */
export interface Orderer {
  readonly type: "User" | "ApiKey";
  readonly id: string;
  readonly role: Role;
  /** Where it goes on. */
  readonly networkId: string;
}

/** What a caller's rights rest on: the writer looks at it again in the transaction that writes. */
export interface Standing {
  /** SHA-256 of the token of the session, or of the API key, that the request came with. */
  readonly credential: Uint8Array;
  /** The address that it came from. */
  readonly source: string;
  /** What its operation asks. */
  readonly access: Access;
}

/** What an operation asks of its caller. */
export interface Access {
  readonly role: Role;
  /** API keys are refused: keys and passwords are managed by people who signed in. */
  readonly sessionOnly?: boolean;
  /** It concerns all organizations of the appliance: refused as long as there are several. */
  readonly ofWholeAppliance?: true;
}

/** What is known of whoever asks for a write. */
export interface AskedBy {
  readonly request: Request;
  readonly requestId: string;
  readonly source: string;
  readonly reason: string | null;
  readonly actor: Actor;
  readonly access: Access | "anyone";
}

export const VIEWER: Access = { role: "Viewer" };
export const MEMBER: Access = { role: "Member" };
export const ADMIN: Access = { role: "Admin" };
export const OWNER: Access = { role: "Owner" };

/** @throws DomainError auth_session_required, auth_permission_denied */
export function requireAccess(actor: { readonly type: Author["type"]; readonly role: Role }, access: Access): void {
  if (access.sessionOnly === true) requireSession(actor, "This");
  requireRole(actor.role, access.role, "This operation");
}

/** @throws DomainError auth_session_required for an API key */
export function requireSession(actor: { readonly type: Author["type"] }, what: string): void {
  if (actor.type !== "ApiKey") return;
  throw new DomainError("auth_session_required", `${what} requires a sign-in; API keys cannot do it.`, {});
}

/** @throws DomainError auth_permission_denied naming the role that it takes */
export function requireRole(role: Role, required: Role, what: string): void {
  if (atLeast(role, required)) return;
  throw new DomainError("auth_permission_denied", `${what} requires the role ${required}; yours is ${role}.`, {
    required,
    actual: role,
  });
}

/** 401: the same whether the account is unknown, disabled, or the password is wrong. */
export function invalidCredentials(): DomainError {
  return new DomainError(
    "auth_invalid_credentials",
    "The e-mail address or password is wrong, or the account is disabled.",
    {},
  );
}

/** @throws DomainError auth_key_disabled, auth_key_expired */
export function assertKeyInForce(isEnabled: boolean, expiresAt: Instant | null, now: Instant): void {
  if (!isEnabled) throw new DomainError("auth_key_disabled", "The API key or its user is disabled.", {});
  if (expiresAt !== null && now >= expiresAt) throw new DomainError("auth_key_expired", "The API key has expired.", {});
}

/** 401: no credentials, or none that anybody is known by. */
export function notAuthenticated(): DomainError {
  return new DomainError(
    "auth_not_authenticated",
    "Authentication is required: send an API key as Authorization: Bearer nlk_…, or sign in.",
    {},
  );
}
