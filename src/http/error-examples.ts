// An example of every error, for the OpenAPI document. What is really answered is written where it is thrown.

import type { ErrorCode } from "../base/errors.ts";

export interface ErrorExample {
  readonly summary: string;
  readonly error: string;
  readonly params: Readonly<Record<string, unknown>>;
}

const ID = "01936f2e-0d5c-7d3a-9a39-3f6f1f7a0007";

export const ERROR_EXAMPLES: Readonly<Record<ErrorCode, ErrorExample>> = {
  validation_failed: {
    summary: "A body, query or path that is not as documented; all offenders at once",
    error: "The field /limit must be from 0 to 1000. 1 more offender is listed in params.issues.",
    params: {
      issues: [
        { path: "/limit", message: "must be from 0 to 1000", value: 5000 },
        { path: "/ofset", message: "is not a parameter here", value: "10" },
      ],
    },
  },
  malformed_json: { summary: "The body is not JSON", error: "The body is not valid JSON.", params: { position: 17 } },
  entity_reference_invalid: {
    summary: "An id in the body that is unknown, foreign or out of reach",
    error: `The field tags names a tag that does not exist here: ${ID}.`,
    params: { entity: "tag", field: "tags", ids: [ID] },
  },
  validation_id_mismatch: {
    summary: "An id that was sent back is not the record's own",
    error: "The id in the body is not the one in the path.",
    params: { path_id: ID, body_id: "01936f2e-0d5c-7d3a-9a39-3f6f1f7a0008" },
  },
  auth_not_authenticated: {
    summary: "No credentials, or unknown ones",
    error: "This takes valid credentials: an API key as Authorization: Bearer nlk_…, or a sign-in.",
    params: {},
  },
  auth_invalid_credentials: {
    summary: "The wrong e-mail address or password",
    error: "The e-mail address or the password is wrong.",
    params: {},
  },
  auth_session_expired: {
    summary: "The sign-in is too old",
    error: "The session has ended: sign in again.",
    params: {},
  },
  auth_key_disabled: {
    summary: "The key, or its user, is disabled",
    error: "The API key, or its user, is disabled.",
    params: {},
  },
  auth_key_expired: { summary: "The key's expires_at has passed", error: "The API key has expired.", params: {} },
  auth_permission_denied: {
    summary: "The caller's role is too low",
    error: "This operation takes the role Admin; yours is Member.",
    params: { required: "Admin", actual: "Member" },
  },
  entity_access_denied: {
    summary: "Another organization's id, or a user's that the caller has no right to",
    error: "The field organization_id is not your organization's.",
    params: { field: "organization_id", value: "01936f2e-0d5c-7d3a-9a39-3f6f1f7a0099" },
  },
  auth_session_required: {
    summary: "An API key where only a sign-in will do",
    error: "This takes a sign-in: API keys can't do it.",
    params: {},
  },
  auth_origin_rejected: {
    summary: "A page of another site sent it",
    error: "The request comes from a page of another site.",
    params: {},
  },
  entity_not_found: {
    summary: "The record is not there, or out of the caller's reach",
    error: `There is no host with the id ${ID}.`,
    params: { entity: "host", id: ID },
  },
  method_not_allowed: {
    summary: "The path is there, the method is not",
    error: "POST is not possible here; GET, HEAD are.",
    params: { method: "POST", allow: ["GET", "HEAD"] },
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
    summary: "Too many at once",
    error: "Too many writes are waiting; try again in a second.",
    params: { retry_after_seconds: 1 },
  },
  entity_stale: {
    summary: "The host changed since expected_updated_at",
    error: "The host was changed since you read it; read it again and repeat your change on what it is now.",
    params: { entity: "host", expected: "2026-11-21T09:15:00.123Z", actual: "2026-11-21T09:15:04.870Z" },
  },
  entity_already_exists: {
    summary: "Another record has this value, or had this id",
    error: "There is already a subnet with the cidr 10.2.3.0/24.",
    params: { entity: "subnet", field: "cidr", value: "10.2.3.0/24" },
  },
  entity_in_use: {
    summary: "Other records depend on it",
    error:
      "The network is in use by 2 hosts, 3 subnets; remove these first, or repeat with cascade=true, which removes them as well.",
    params: { entity: "network", id: ID, dependants: { hosts: 2, subnets: 3 } },
  },
  precondition_failed: {
    summary: "The record is not the version that If-Match names",
    error: "The record is no longer the version that If-Match names; read it again.",
    params: { expected: '"4711"', actual: '"4726"' },
  },
  idempotency_key_reused: {
    summary: "The Idempotency-Key was used for another request",
    error:
      "The Idempotency-Key 7f3a was used for another request within the last 24 hours; nothing was done. A new request takes a new key.",
    params: { key: "7f3a" },
  },
  internal_error: {
    summary: "A fault of the appliance; its log names the request",
    error: "Something went wrong inside the appliance.",
    params: { request_id: "k3f9-2b" },
  },
  shutting_down: {
    summary: "The appliance is about to end",
    error: "The appliance is shutting down: nothing was written.",
    params: {},
  },
  store_read_only: {
    summary: "The appliance serves a backup",
    error: "This appliance serves a backup, to be read only: nothing in it can be changed.",
    params: {},
  },
  storage_full: {
    summary: "The disk is full",
    error: "The disk is full or fails: nothing was written.",
    params: { request_id: "k3f9-2c" },
  },
};
