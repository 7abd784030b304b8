// What the API says when it does not answer what was asked, and what the network does when it does not answer at all.

/** One thing that is wrong with a request. */
export interface RefusalIssue {
  readonly path: string;
  readonly message: string;
  /** Of a filter: where in its text, in characters. */
  readonly position?: number;
  /** Of a table that was sent: where in it. */
  readonly row?: number;
  readonly column?: string;
}

export class Refusal extends Error {
  override readonly name = "Refusal";
  /** 0 where there was no answer, or nothing was sent. */
  readonly status: number;
  /** As the API names it: `entity_not_found`; `unreachable` where there was no answer. */
  readonly code: string;
  readonly issues: readonly RefusalIssue[];
  /** What the log knows it by; null where there was no answer. */
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

/** @param body of the answer, whatever it is: what stands in front of the appliance may have answered */
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

/** What stands in front of the appliance says so where it had no answer itself. */
const OF_A_GATEWAY: readonly number[] = [502, 504];

/** Whether it is not known what became of a write: its answer was lost, so it may have been done. */
export function isUnsure({ status, code }: Pick<Refusal, "status" | "code">): boolean {
  return code === UNREACHABLE || OF_A_GATEWAY.includes(status);
}

/** Where there was no answer at all. */
export function unreachable(cause: unknown): Refusal {
  const message = cause instanceof Error ? cause.message : String(cause);
  return new Refusal({ status: 0, code: UNREACHABLE, message, requestId: null });
}
