// Errors of the API and the network.

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
  /** 0 without a response, or if nothing was sent. */
  readonly status: number;
  /** API code: `entity_not_found`; `unreachable` without a response. */
  readonly code: string;
  readonly issues: readonly RefusalIssue[];
  /** Id in the log; null without a response. */
  readonly requestId: string | null;

  constructor(about: {
    readonly status: number;
    readonly code: string;
    readonly message: string;
    readonly issues?: readonly RefusalIssue[];
    readonly requestId: string | null;
  }) {
    super(about.message);
    this.status = about.status;
    this.code = about.code;
    this.issues = about.issues ?? [];
    this.requestId = about.requestId;
  }
}

/** @param body of the response, in any format: it may come from a proxy in front of the appliance */
export function refusalOf(response: Response, body: unknown): Refusal {
  const told = (typeof body === "object" && body !== null ? body : {}) as {
    code?: unknown;
    error?: unknown;
    params?: { issues?: unknown };
  };
  const issues = Array.isArray(told.params?.issues) ? (told.params.issues as RefusalIssue[]) : [];
  return new Refusal({
    status: response.status,
    code: typeof told.code === "string" ? told.code : "unknown",
    message: typeof told.error === "string" ? told.error : `${response.status} ${response.statusText}`.trim(),
    issues,
    requestId: response.headers.get("x-request-id"),
  });
}

const UNREACHABLE = "unreachable";

/** Status codes of a proxy that got no response from the appliance. */
const OF_A_GATEWAY: readonly number[] = [502, 504];

/** Whether the outcome of a write is unknown: the response was lost, so it may have succeeded. */
export function isUnsure({ status, code }: Pick<Refusal, "status" | "code">): boolean {
  return code === UNREACHABLE || OF_A_GATEWAY.includes(status);
}

/** Error for a missing response. */
export function unreachable(cause: unknown): Refusal {
  const message = cause instanceof Error ? cause.message : String(cause);
  return new Refusal({ status: 0, code: UNREACHABLE, message, requestId: null });
}
