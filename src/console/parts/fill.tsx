// How full something is: a bar, and the same as numbers, with what makes it up.

import { subnetText } from "../text/networks.ts";

/** As `utilization` of a subnet has it, or `total`, which has no parts. */
interface FillProps extends Readonly<Partial<Record<"dhcp" | "reserved" | "in_subnets", number | string>>> {
  readonly percent: number;
  readonly used: number | string;
  readonly usable: number | string;
  readonly free: number | string;
}

export function Fill({ percent, ...parts }: FillProps) {
  const { used } = parts;
  return (
    <span class="fill" title={subnetText.parts(parts)}>
      <span class="fill-bar" aria-hidden="true">
        {/* One of very many is still seen: the figure beside it says how little that is. */}
        <span style={{ inlineSize: `${Math.min(100, percent)}%`, minInlineSize: Number(used) > 0 ? "2px" : "0" }} />
      </span>
      <span class="fill-percent">{subnetText.percent(percent, used)}</span>
    </span>
  );
}
