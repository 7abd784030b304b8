// Domain errors: a stable code, one actionable sentence, and the values in it.
// Independent of HTTP: http/errors.ts maps codes to statuses.

import { type Entity, entityWord, entityWords, oneEntity } from "./entity-words.ts";

export type ErrorCode =
  | "validation_failed"
  | "malformed_json"
  | "entity_reference_invalid"
  | "validation_id_mismatch"
  | "auth_not_authenticated"
  | "auth_invalid_credentials"
  | "auth_session_expired"
  | "auth_key_disabled"
  | "auth_key_expired"
  | "auth_permission_denied"
  | "entity_access_denied"
  | "auth_session_required"
  | "auth_origin_rejected"
  | "entity_not_found"
  | "method_not_allowed"
  | "host_not_allowed"
  | "payload_too_large"
  | "unsupported_media_type"
  | "rate_limit_exceeded"
  | "entity_stale"
  | "entity_already_exists"
  | "entity_in_use"
  | "precondition_failed"
  | "idempotency_key_reused"
  | "internal_error"
  | "shutting_down"
  | "storage_full"
  | "store_read_only";

/**
 * One issue of a validation error. `path` is a JSON pointer (RFC 6901) into the body, or `/` and the name of a
 * parameter.
 */
export interface Issue {
  path: string;
  message: string;
  value?: unknown;
  /** Offset of the first character in a string, from 0. */
  position?: number;
  /** Row in a table; the header is row 1. */
  row?: number;
  column?: string;
}

export class DomainError extends Error {
  override readonly name = "DomainError";
  readonly code: ErrorCode;
  readonly params: Record<string, unknown>;

  constructor(code: ErrorCode, message: string, params: Record<string, unknown> = {}) {
    super(message);
    this.code = code;
    this.params = params;
  }
}

/** A DomainError as passed between threads, where an Error loses its class. */
export interface PlainError {
  readonly code: ErrorCode;
  readonly message: string;
  readonly params: Record<string, unknown>;
  /** For the log only. */
  readonly cause: string | null;
}

/** Whether the error is one that the caller cannot fix. */
export function isFault(code: ErrorCode): boolean {
  return code === "internal_error" || code === "storage_full";
}

/** @param message for the caller, for errors outside the domain */
export function plainError(error: unknown, message = "Something went wrong inside the appliance."): PlainError {
  if (!(error instanceof DomainError))
    return { code: "internal_error", message, params: {}, cause: describeFault(error) };
  const { code, params, cause } = error;
  return { code, message: error.message, params, cause: cause === undefined ? null : String(cause) };
}

/** The reverse conversion. */
export function domainError({ code, message, params, cause }: PlainError): DomainError {
  return Object.assign(new DomainError(code, message, params), cause === null ? {} : { cause });
}

/** Stack trace, if available. */
export function describeFault(error: unknown): string {
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}

/** 400 with one issue, or all of them. */
export function invalid(problem: Issue | Issue[]): DomainError {
  const issues = Array.isArray(problem) ? problem : [problem];
  const first = issues[0];
  if (first === undefined) return new DomainError("validation_failed", "The request is not valid.", { issues });
  const others =
    issues.length === 1
      ? ""
      : ` ${issues.length - 1} more ${issues.length === 2 ? "issue is" : "issues are"} listed in params.issues.`;
  return new DomainError(
    "validation_failed",
    `${first.path === "" ? "The body" : `The field ${first.path}`} ${first.message}.${others}`,
    { issues },
  );
}

/** JSON pointer to a name chosen by a caller (RFC 6901 section 3). */
export function pointerTo(name: string): string {
  return `/${name.replaceAll("~", "~0").replaceAll("/", "~1")}`;
}

/**
 * 404: the same for records that never existed, are deleted, or are out of the caller's reach.
 * @param at the requested timestamp as text; null for the present
 */
export function notFound(entity: Entity, id: string, at: string | null = null): DomainError {
  const sentence =
    at === null
      ? `There is no ${entityWord(entity)} with the id ${id}.`
      : `There was no ${entityWord(entity)} with the id ${id} at ${at}.`;
  return new DomainError("entity_not_found", sentence, { entity: entity.name, id });
}

/** 400 for an id in a body that is unknown, foreign or out of the caller's reach: the same in all three cases. */
export function referenceInvalid(entity: Entity, field: string, ids: string[]): DomainError {
  return new DomainError(
    "entity_reference_invalid",
    `The field ${field} names ${ids.length === 1 ? `${oneEntity(entity)} that does not exist here` : `${entityWords(entity)} that do not exist here`}: ${ids.slice(0, 5).join(", ")}${ids.length > 5 ? ", …" : ""}.`,
    { entity: entity.name, field, ids },
  );
}

/** 409: the value is already in use. */
export function alreadyExists(entity: Entity, field: string, value: unknown): DomainError {
  return new DomainError(
    "entity_already_exists",
    `There is already ${oneEntity(entity)} with the ${field} ${String(value)}.`,
    { entity: entity.name, field, value },
  );
}

/** Rejects a change to a read-only store. @throws DomainError store_read_only */
export function refuseWrite(): never {
  throw new DomainError("store_read_only", "This appliance serves a backup and is read-only: nothing can be changed.");
}

/** The disk is full or failing. @param cause for the log only */
export function storageFull(message: string, cause: unknown): DomainError {
  return Object.assign(new DomainError("storage_full", message), { cause });
}
