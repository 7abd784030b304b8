// Fill level as a bar and in numbers, with its components.

import { subnetText } from "../text/networks.ts";

/** `utilization` of a subnet, or `total`, which has no components. */
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
        {/* A minimum width keeps a single item among many visible; the figure shows the actual share. */}
        <span style={{ inlineSize: `${Math.min(100, percent)}%`, minInlineSize: Number(used) > 0 ? "2px" : "0" }} />
      </span>
      <span class="fill-percent">{subnetText.percent(percent, used)}</span>
    </span>
  );
}
