// Example of every error for the OpenAPI document. The actual messages are written where they are thrown.

import type { ErrorCode } from "../base/errors.ts";

export interface ErrorExample {
  readonly summary: string;
  readonly error: string;
  readonly params: Readonly<Record<string, unknown>>;
}

const ID = "01936f2e-0d5c-7d3a-9a39-3f6f1f7a0007";

export const ERROR_EXAMPLES: Readonly<Record<ErrorCode, ErrorExample>> = {
  validation_failed: {
    summary: "The body, query or path is not as documented; every issue is listed",
    error: "The field /limit must be from 0 to 1000. 1 more issue is listed in params.issues.",
    params: {
      issues: [
        { path: "/limit", message: "must be from 0 to 1000", value: 5000 },
        { path: "/ofset", message: "is not a known parameter", value: "10" },
      ],
    },
  },
  malformed_json: { summary: "The body is not JSON", error: "The body is not valid JSON.", params: { position: 17 } },
  entity_reference_invalid: {
    summary: "An id in the body is unknown, another organization's or out of reach",
    error: `The field tags names a tag that does not exist here: ${ID}.`,
    params: { entity: "tag", field: "tags", ids: [ID] },
  },
  validation_id_mismatch: {
    summary: "The body has the id of another record",
    error: "The id in the body does not match the path.",
    params: { path_id: ID, body_id: "01936f2e-0d5c-7d3a-9a39-3f6f1f7a0008" },
  },
  auth_not_authenticated: {
    summary: "No credentials, or unknown credentials",
    error: "Authentication is required: send an API key as Authorization: Bearer nlk_…, or sign in.",
    params: {},
  },
  auth_invalid_credentials: {
    summary: "Wrong e-mail address or password",
    error: "The e-mail address or password is wrong, or the account is disabled.",
    params: {},
  },
  auth_session_expired: {
    summary: "The session has ended",
    error: "The session has ended: sign in again.",
    params: {},
  },
  auth_key_disabled: {
    summary: "The key or its user is disabled",
    error: "The API key or its user is disabled.",
    params: {},
  },
  auth_key_expired: { summary: "The key has expired", error: "The API key has expired.", params: {} },
  auth_permission_denied: {
    summary: "The caller's role is too low",
    error: "This operation requires the role Admin; yours is Member.",
    params: { required: "Admin", actual: "Member" },
  },
  entity_access_denied: {
    summary: "An id of another organization, or of a user that the caller may not manage",
    error: "The field organization_id is not your organization's.",
    params: { field: "organization_id", value: "01936f2e-0d5c-7d3a-9a39-3f6f1f7a0099" },
  },
  auth_session_required: {
    summary: "An API key was used where a sign-in is required",
    error: "This operation requires a sign-in; API keys cannot do it.",
    params: {},
  },
  auth_origin_rejected: {
    summary: "The request was sent by a page of another site",
    error: "The request comes from a page of another site.",
    params: {},
  },
  entity_not_found: {
    summary: "The record does not exist, or is out of the caller's reach",
    error: `There is no host with the id ${ID}.`,
    params: { entity: "host", id: ID },
  },
  method_not_allowed: {
    summary: "The path exists, but not with this method",
    error: "POST is not allowed here; use GET, HEAD.",
    params: { method: "POST", allow: ["GET", "HEAD"] },
  },
  host_not_allowed: {
    summary: "The request names another host",
    error:
      "The appliance does not accept the name in Host. Use its IP address, or start it with --host-name NAME; behind a reverse proxy on the same machine that passes its own name, --host-name is needed as well.",
    params: {},
  },
  payload_too_large: {
    summary: "The body is too large",
    error: "The body is larger than 8 MiB.",
    params: { limit_bytes: 8_388_608 },
  },
  unsupported_media_type: {
    summary: "The body is not sent as JSON",
    error: "The body must be JSON: send the header Content-Type: application/json.",
    params: { content_type: "text/plain" },
  },
  rate_limit_exceeded: {
    summary: "Too many requests at once",
    error: "Too many writes are waiting; try again in a second.",
    params: { retry_after_seconds: 1 },
  },
  entity_stale: {
    summary: "The host changed since expected_updated_at",
    error: "The host has changed since you read it; read it again and repeat your change.",
    params: { entity: "host", expected: "2026-11-21T09:15:00.123Z", actual: "2026-11-21T09:15:04.870Z" },
  },
  entity_already_exists: {
    summary: "Another record has this value, or the id was used before",
    error: "There is already a subnet with the cidr 10.2.3.0/24.",
    params: { entity: "subnet", field: "cidr", value: "10.2.3.0/24" },
  },
  entity_in_use: {
    summary: "Other records depend on it",
    error:
      "The network is in use by 2 hosts, 3 subnets; remove them first, or repeat with cascade=true to remove them too.",
    params: { entity: "network", id: ID, dependants: { hosts: 2, subnets: 3 } },
  },
  precondition_failed: {
    summary: "The record is not the version that If-Match names",
    error: "The record has changed since the version in If-Match; read it again.",
    params: { expected: '"4711"', actual: '"4726"' },
  },
  idempotency_key_reused: {
    summary: "The Idempotency-Key was used for another request",
    error:
      "The Idempotency-Key 7f3a was used for another request in the last 24 hours; nothing was done. Use a new key for a new request.",
    params: { key: "7f3a" },
  },
  internal_error: {
    summary: "An internal error; the log names the request",
    error: "Something went wrong inside the appliance.",
    params: { request_id: "k3f9-2b" },
  },
  shutting_down: {
    summary: "The appliance is shutting down",
    error: "The appliance is shutting down: nothing was written.",
    params: {},
  },
  store_read_only: {
    summary: "The appliance serves a backup",
    error: "This appliance serves a backup and is read-only: nothing can be changed.",
    params: {},
  },
  storage_full: {
    summary: "The disk is full",
    error: "The disk is full or failing: nothing was written.",
    params: { request_id: "k3f9-2c" },
  },
};
