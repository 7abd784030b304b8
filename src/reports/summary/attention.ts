// Items that need attention: count of each kind, most urgent first, and the request that lists them.

import { Type } from "@sinclair/typebox";
import { SUMMARY_CONFLICT_TYPES } from "../../resources/conflict-acceptances/acceptance.ts";
import { OneOf } from "../../schemas/schemas.ts";
import { FLAPPING_FILTER } from "./flapping.ts";
import { FULL_PERCENT } from "./full-subnets.ts";

/** In order of urgency. */
const ATTENTION = {
  FailedScan: "scans that failed in the last day",
  FailedSchedule: "schedules with a failed scan in the last day",
  Conflict: "unaccepted conflicts",
  Unreached:
    "hosts and named targets that did not respond to SNMP in the last scan of each network, if that was in the last day: the credential is missing or wrong",
  Withheld:
    "subnets and addresses from which credentials are withheld until an Admin approves them; only for Admins and Owners",
  Flapping: "flapping interfaces",
  Wandering: "wandering MAC addresses",
  FullSubnet: `IPv4 subnets, /29 and larger, in which hosts have ${FULL_PERCENT} % of the addresses or more: \`used\` of \`usable\`, without unused DHCP and reserved ranges`,
  Stale: "stale hosts",
} as const;
export type AttentionKind = keyof typeof ATTENTION;
const ATTENTION_KINDS = Object.keys(ATTENTION) as AttentionKind[];

/** Maximum number of records named in a request. */
const NAMED_MAX = 50;

export const Attention = Type.Object(
  {
    kind: OneOf(ATTENTION_KINDS, {
      description: ATTENTION_KINDS.map((kind) => `${kind}: ${ATTENTION[kind]}.`).join(" "),
    }),
    count: Type.Integer({ minimum: 1 }),
    request: Type.String({
      description: `A GET request that lists them, or describes the first; with the same \`at\` as the summary, if any. It names at most ${NAMED_MAX} records.`,
    }),
  },
  { $id: "SummaryAttention" },
);

/** Count of each kind, and the parameters of its request. */
export interface Problems {
  readonly failedScans: number;
  readonly failedSchedules: readonly string[];
  readonly conflicts: number;
  readonly unreached: number;
  /** The scan that missed most. */
  readonly missingScanId: string | null;
  /** Number of targets missed by that scan. */
  readonly mostMissed: number;
  /** 0 for callers who cannot approve them. */
  readonly withheld: number;
  readonly flapping: number;
  /** MAC addresses, those on the most ports first. */
  readonly wandering: readonly string[];
  readonly fullSubnets: readonly string[];
  readonly stale: number;
}

export const NO_PROBLEMS: Problems = {
  failedScans: 0,
  failedSchedules: [],
  conflicts: 0,
  unreached: 0,
  missingScanId: null,
  mostMissed: 0,
  withheld: 0,
  flapping: 0,
  wandering: [],
  fullSubnets: [],
  stale: 0,
};

/** Kinds with a count above zero. */
export function attentionOf(
  problems: Problems,
  networkId: string | null,
): Array<{ readonly kind: AttentionKind; readonly count: number; readonly request: string }> {
  const within = networkId === null ? {} : { network_id: networkId };
  const { failedSchedules, fullSubnets, wandering } = problems;
  const requestUrl = (path: string, query: Readonly<Record<string, string>>) =>
    `/api/v1/${path}${Object.keys(query).length === 0 ? "" : `?${new URLSearchParams(query)}`}`;
  const requestForIds = (path: string, ids: readonly string[], query: Readonly<Record<string, string>> = {}) =>
    requestUrl(path, { ids: ids.slice(0, NAMED_MAX).join(","), ...query });
  const found: Record<AttentionKind, readonly [count: number, request: () => string]> = {
    FailedScan: [problems.failedScans, () => requestUrl("discovery/scans", { status: "Failed", ...within })],
    FailedSchedule: [failedSchedules.length, () => requestForIds("discovery/schedules", failedSchedules)],
    Conflict: [
      problems.conflicts,
      () => requestUrl("conflicts", { accepted: "false", type: SUMMARY_CONFLICT_TYPES.join(","), ...within }),
    ],
    Unreached: [
      problems.unreached,
      () => requestUrl(`discovery/scans/${problems.missingScanId}/findings`, { type: "Unreached" }),
    ],
    Withheld: [problems.withheld, () => requestUrl("discovery/withheld", within)],
    Flapping: [problems.flapping, () => requestUrl("if-entries", { filter: FLAPPING_FILTER, ...within })],
    Wandering: [wandering.length, () => requestUrl("locate", { mac: wandering[0] as string })],
    FullSubnet: [fullSubnets.length, () => requestForIds("subnets", fullSubnets, { include: "utilization" })],
    Stale: [problems.stale, () => requestUrl("hosts", { filter: "stale_since:*", ...within })],
  };
  return ATTENTION_KINDS.flatMap((kind) => {
    const [count, request] = found[kind];
    return count === 0 ? [] : [{ kind, count, request: request() }];
  });
}
