// Reasons for a failed SNMP read, as precise as the protocol allows. Messages only; other files decide which one
// applies.

export const FAILURE_REASONS = [
  "no_answer",
  "port_closed",
  "unreachable",
  "wrong_user",
  "wrong_password",
  "unsupported",
  "refused",
  "agent_error",
  "garbage",
  "not_increasing",
  "row_cap",
  "deadline",
  "cancelled",
] as const;
export type FailureReason = (typeof FAILURE_REASONS)[number];

export interface SnmpFailure {
  readonly reason: FailureReason;
  /** User-readable: `the port is closed: no SNMP agent listens there`. Contains no secret. */
  readonly clause: string;
}

/** @param clause if more is known than the reason alone states */
export function failure(reason: FailureReason, clause: string = CLAUSES[reason]): SnmpFailure {
  return { reason, clause };
}

/** Distinguishes a failure from a result. */
export function isFailure(value: unknown): value is SnmpFailure {
  return typeof value === "object" && value !== null && "reason" in value && "clause" in value;
}

/** Failures after which no similar request will get a response. */
export function isFinal({ reason }: SnmpFailure): boolean {
  return FINAL.has(reason);
}

const FINAL: ReadonlySet<FailureReason> = new Set([
  "port_closed",
  "unreachable",
  "wrong_user",
  "wrong_password",
  "cancelled",
]);

const CLAUSES: Readonly<Record<FailureReason, string>> = {
  no_answer: "no response: no SNMP agent, or a wrong community",
  port_closed: "the port is closed: no SNMP agent listens there",
  unreachable: "the address cannot be reached",
  wrong_user: "the device has no user with this name",
  wrong_password: "the authentication password or protocol is wrong",
  unsupported: "the device does not support the request",
  refused: "the device refuses access",
  agent_error: "the device returned an error",
  garbage: "the device's responses cannot be parsed",
  not_increasing: "the device's responses do not advance",
  row_cap: "the device has more than the limit per device",
  deadline: "it took too long",
  cancelled: "the scan was cancelled",
};
