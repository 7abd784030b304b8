// Faceplate on the overview of a switch. Limited to the first ports of a large device.

import type { ApiResponse } from "../api/response.ts";
import { Problem } from "../components/problem.tsx";
import { Waiting } from "../components/waiting.tsx";
import { MatchingComparison } from "../history/comparison.tsx";
import { groupedDigits } from "../text/digits.ts";
import { hrefHere } from "../url/location.ts";
import { PortGroups } from "./faceplate.tsx";
import { firstPorts, isFaceplateShown } from "./faceplate-limits.ts";
import type { FaceplateData, PortGroup } from "./host-data.ts";

/** A chassis of eight modules; more would push the facts out of view. */
const PORTS_MAX = 384;
/** One port more, to detect whether there are more. */
export const PORTS_READ = PORTS_MAX + 1;
/** Height of a row of 48 ports with its heading. */
const ROW_REM = 5.75;
const ROW_PORTS = 48;
const PLACEHOLDER_ROWS_MAX = 4;

interface OverviewFaceplateProps {
  /** Number of interfaces. */
  readonly count: number;
  /** Response of `faceplateOf`, with a limit of at least `PORTS_READ`. */
  readonly response: ApiResponse<FaceplateData>;
}

export function OverviewFaceplate({ count, response: { data, problem, retry, isEarlier } }: OverviewFaceplateProps) {
  if (!isFaceplateShown(count)) return null;
  if (data === undefined) {
    if (problem !== undefined) return <Problem problem={problem} retry={retry} />;
    const rows = Math.min(PLACEHOLDER_ROWS_MAX, Math.ceil(count / ROW_PORTS));
    return (
      <div style={{ minBlockSize: `${rows * ROW_REM}rem` }}>
        <Waiting />
      </div>
    );
  }
  const all = portsIn(data.groups);
  if (!isFaceplateShown(all)) return null;
  const groups = firstPorts(data.groups, PORTS_MAX);
  return (
    <section aria-label="Ports">
      {problem !== undefined && <Problem problem={problem} retry={retry} />}
      <MatchingComparison isEarlier={isEarlier}>
        <PortGroups groups={groups} selectedId={null} />
      </MatchingComparison>
      {all > PORTS_MAX && (
        <p>
          <a href={hrefHere({ tab: "ports" })}>All {groupedDigits(count)} interfaces</a>
        </p>
      )}
    </section>
  );
}

/** Whether the overview's response may be truncated. */
export function isTruncated({ groups, logical }: FaceplateData): boolean {
  return portsIn(groups) + logical.length === PORTS_READ;
}

function portsIn(groups: readonly PortGroup[]): number {
  return groups.reduce((sum, { ports }) => sum + ports.length, 0);
}
