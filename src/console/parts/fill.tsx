// How full something is: a bar, and the same as numbers.

import { subnetText } from "../text/networks.ts";

interface FillProps {
  readonly percent: number;
  readonly used: number | string;
  readonly usable: number | string;
}

export function Fill({ percent, used, usable }: FillProps) {
  return (
    <span class="fill" title={subnetText.usedOf(used, usable)}>
      <span class="fill-bar" aria-hidden="true">
        {/* One of very many is still seen: the figure beside it says how little that is. */}
        <span style={{ inlineSize: `${Math.min(100, percent)}%`, minInlineSize: Number(used) > 0 ? "2px" : "0" }} />
      </span>
      <span class="fill-percent">{subnetText.percent(percent, used)}</span>
    </span>
  );
}
