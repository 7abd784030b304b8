// Utilization as a bar and a percentage, with its components as a tooltip.

import { subnetText } from "../text/networks.ts";

/** The `utilization` of a subnet, or a `total`, which has no components. */
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
        {/* A minimum width keeps a single address among many visible; the percentage is exact. */}
        <span style={{ inlineSize: `${Math.min(100, percent)}%`, minInlineSize: Number(used) > 0 ? "2px" : "0" }} />
      </span>
      <span class="fill-percent">{subnetText.percent(percent, used)}</span>
    </span>
  );
}
