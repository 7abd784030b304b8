// Faceplate on the overview of a switch, the main reason to open it. Limited to the first ports of a large device.

import type { Answer } from "../api/answer.ts";
import { AsAnswered } from "../changes/comparison.tsx";
import { Problem } from "../parts/problem.tsx";
import { Waiting } from "../parts/waiting.tsx";
import { groupedDigits } from "../text/digits.ts";
import { hrefHere } from "../url/location.ts";
import { Plates } from "./faceplate.tsx";
import type { FaceplateData, PortGroup } from "./host-data.ts";
import { isPlateShown, upTo } from "./plate-room.ts";

/** A chassis of eight modules; more would push the facts out of view. */
const PORTS_MAX = 384;
/** One more, to detect whether these are all. */
export const PORTS_READ = PORTS_MAX + 1;
/** Height of a row of 48 ports with its heading. */
const ROW_REM = 5.75;
const ROW_PORTS = 48;
const ROWS_KEPT_FREE_MAX = 4;

interface HostPlateProps {
  /** Number of interfaces. */
  readonly count: number;
  /** Response of `faceplateOf`, with a limit of at least `PORTS_READ`. */
  readonly answer: Answer<FaceplateData>;
}

export function HostPlate({ count, answer: { data, problem, again, isEarlier } }: HostPlateProps) {
  if (!isPlateShown(count)) return null;
  if (data === undefined) {
    if (problem !== undefined) return <Problem problem={problem} again={again} />;
    const rows = Math.min(ROWS_KEPT_FREE_MAX, Math.ceil(count / ROW_PORTS));
    return (
      <div style={{ minBlockSize: `${rows * ROW_REM}rem` }}>
        <Waiting />
      </div>
    );
  }
  const all = portsIn(data.groups);
  if (!isPlateShown(all)) return null;
  const groups = upTo(data.groups, PORTS_MAX);
  return (
    <section aria-label="Its ports">
      {problem !== undefined && <Problem problem={problem} again={again} />}
      <AsAnswered isEarlier={isEarlier}>
        <Plates groups={groups} chosen={null} />
      </AsAnswered>
      {all > PORTS_MAX && (
        <p>
          <a href={hrefHere({ tab: "ports" })}>All {groupedDigits(count)} interfaces</a>
        </p>
      )}
    </section>
  );
}

/** Whether the overview's read may be truncated. */
export function isCut({ groups, logical }: FaceplateData): boolean {
  return portsIn(groups) + logical.length === PORTS_READ;
}

function portsIn(groups: readonly PortGroup[]): number {
  return groups.reduce((sum, { ports }) => sum + ports.length, 0);
}
