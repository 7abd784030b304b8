// The only table from error codes to HTTP statuses, and the error response.

import type { DomainError, ErrorCode } from "../base/errors.ts";
import { META } from "../schemas/envelope.ts";

export const STATUS: Readonly<Record<ErrorCode, number>> = {
  validation_failed: 400,
  malformed_json: 400,
  entity_reference_invalid: 400,
  validation_id_mismatch: 400,
  auth_not_authenticated: 401,
  auth_invalid_credentials: 401,
  auth_session_expired: 401,
  auth_key_disabled: 401,
  auth_key_expired: 401,
  auth_permission_denied: 403,
  entity_access_denied: 403,
  auth_session_required: 403,
  auth_origin_rejected: 403,
  store_read_only: 403,
  entity_not_found: 404,
  method_not_allowed: 405,
  entity_stale: 409,
  entity_already_exists: 409,
  entity_in_use: 409,
  precondition_failed: 412,
  idempotency_key_reused: 422,
  payload_too_large: 413,
  unsupported_media_type: 415,
  host_not_allowed: 421,
  rate_limit_exceeded: 429,
  internal_error: 500,
  shutting_down: 503,
  storage_full: 507,
};

/** Retry-After during a shutdown: by then the appliance has restarted, or is meant to stay off. */
const RESTART_S = 5;

/** Error envelope with the headers required by its status. */
export function errorResponse(error: DomainError, headers: Record<string, string>): Response {
  const status = STATUS[error.code];
  const all: Record<string, string> = { ...headers, "content-type": "application/json" };
  if (status === 401) all["www-authenticate"] = "Bearer";
  if (status === 405 && Array.isArray(error.params.allow)) all.allow = error.params.allow.join(", ");
  const retryAfter = error.params.retry_after_seconds ?? (status === 503 ? RESTART_S : null);
  if ((status === 429 || status === 503) && typeof retryAfter === "number")
    all["retry-after"] = String(Math.ceil(retryAfter));
  const body = `{"success":false,"code":${JSON.stringify(error.code)},"error":${JSON.stringify(error.message)},"params":${JSON.stringify(error.params)},"meta":${META}}\n`;
  return new Response(body, { status, headers: all });
}
