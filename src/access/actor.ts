// Actor of a request with its reach and permissions, computed once per request from the current state.

import { DomainError } from "../base/errors.ts";
import type { Instant } from "../base/instant.ts";
import type { Reach } from "../db/reading/list-query.ts";
import type { Author } from "../db/writing/ledger.ts";
import { atLeast, type Role } from "./role.ts";

/** The caller of a request by record numbers, as needed by reads. */
export interface Actor extends Reach {
  readonly type: "User" | "ApiKey";
  /** Record number of the user or the API key. */
  readonly n: number;
  readonly userN: number;
  readonly role: Role;
}

/** A copy of the caller for another thread. */
export function plainActor({ type, n, userN, role, organizationN, networkNs }: Actor): Actor {
  return { type, n, userN, role, organizationN, networkNs };
}

/** The caller of a command: by id, with names for the ledger. Plain data, passed to the writer. */
export interface CommandActor extends Author {
  readonly organizationId: string;
  /** Null for the appliance's own subcommands. */
  readonly userId: string | null;
  readonly role: Role;
  /** Null for every network of the organization. */
  readonly networkIds: readonly string[] | null;
  /** Set for users and API keys: the writer rejects their commands without it. */
  readonly standing?: PermissionBasis;
  /** Set for a requested scan, which may write as long as its requester is permitted to request it. */
  readonly requestedBy?: TaskRequester;
}

/** The appliance itself, writing on its own behalf. */
export const SYSTEM_AUTHOR: Author = {
  type: "System",
  id: null,
  name: "netledger",
  organizationId: null,
  requestId: null,
};

/** Requester of a background task, and the permission needed to request it. */
export interface TaskRequester {
  readonly type: "User" | "ApiKey";
  readonly id: string;
  readonly role: Role;
  /** Network of the task. */
  readonly networkId: string;
}

/** Basis of a caller's permissions, checked again by the writer within the writing transaction. */
export interface PermissionBasis {
  /** SHA-256 of the request's session token or API key. */
  readonly credential: Uint8Array;
  /** Address of the caller. */
  readonly source: string;
  /** Access rule of the operation. */
  readonly access: Access;
}

/** Access rule of an operation. */
export interface Access {
  readonly role: Role;
  /** Rejects API keys: only signed-in users manage keys and passwords. */
  readonly sessionOnly?: boolean;
  /** Affects all organizations of the appliance: rejected if there are several. */
  readonly ofWholeAppliance?: true;
}

/** Information about the sender of a write. */
export interface WriteSender {
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
export function requireSession(actor: { readonly type: Author["type"] }, subject: string): void {
  if (actor.type !== "ApiKey") return;
  throw new DomainError("auth_session_required", `${subject} requires a sign-in; API keys cannot do it.`, {});
}

/** @throws DomainError auth_permission_denied naming the required role */
export function requireRole(role: Role, required: Role, subject: string): void {
  if (atLeast(role, required)) return;
  throw new DomainError("auth_permission_denied", `${subject} requires the role ${required}; yours is ${role}.`, {
    required,
    actual: role,
  });
}

/** 401: the same for an unknown account, a disabled one, and a wrong password. */
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

/** 401: no credentials, or unknown ones. */
export function notAuthenticated(): DomainError {
  return new DomainError(
    "auth_not_authenticated",
    "Authentication is required: send an API key as Authorization: Bearer nlk_…, or sign in.",
    {},
  );
}
