// API and network errors.

/** One error in a request. */
export interface RefusalIssue {
  readonly path: string;
  readonly message: string;
  /** Position in the text of a filter, in characters. */
  readonly position?: number;
  /** Position in an uploaded table. */
  readonly row?: number;
  readonly column?: string;
}

export class Refusal extends Error {
  override readonly name = "Refusal";
  /** HTTP status; 0 without a response. */
  readonly status: number;
  /** API code: `entity_not_found`; `unreachable` without a response. */
  readonly code: string;
  readonly issues: readonly RefusalIssue[];
  /** Id in the log; null without a response. */
  readonly requestId: string | null;

  constructor(details: Pick<Refusal, "status" | "code" | "message" | "requestId"> & Partial<Pick<Refusal, "issues">>) {
    super(details.message);
    this.status = details.status;
    this.code = details.code;
    this.issues = details.issues ?? [];
    this.requestId = details.requestId;
  }
}

/** @param body of the response, in any format: it may come from a proxy in front of the appliance */
export function refusalOf(response: Response, body: unknown): Refusal {
  const fields = (typeof body === "object" && body !== null ? body : {}) as {
    code?: unknown;
    error?: unknown;
    params?: { issues?: unknown };
  };
  const issues = Array.isArray(fields.params?.issues) ? (fields.params.issues as RefusalIssue[]) : [];
  return new Refusal({
    status: response.status,
    code: typeof fields.code === "string" ? fields.code : "unknown",
    message: typeof fields.error === "string" ? fields.error : `${response.status} ${response.statusText}`.trim(),
    issues,
    requestId: response.headers.get("x-request-id"),
  });
}

const UNREACHABLE = "unreachable";

/** Status codes of a proxy that got no response from the appliance. */
const GATEWAY_STATUSES: readonly number[] = [502, 504];

/** Whether the outcome of a write is unknown: the response was lost, so it may have succeeded. */
export function isOutcomeUnknown({ status, code }: Pick<Refusal, "status" | "code">): boolean {
  return code === UNREACHABLE || GATEWAY_STATUSES.includes(status);
}

/** Error for a missing response. */
export function unreachable(cause: unknown): Refusal {
  const message = cause instanceof Error ? cause.message : String(cause);
  return new Refusal({ status: 0, code: UNREACHABLE, message, requestId: null });
}
