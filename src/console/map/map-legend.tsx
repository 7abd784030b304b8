// Legend of the map. Each symbol looks as it does on the map.

import type { ComponentChildren } from "preact";

interface MapLegendProps {
  /** Whether two timestamps or a period are shown. */
  readonly isCompared: boolean;
  /** Link state is unknown for the timestamps of a period. */
  readonly isOverPeriod: boolean;
}

export function MapLegend({ isCompared, isOverPeriod }: MapLegendProps) {
  return (
    <details class="map-key">
      <summary>Legend</summary>
      <ul>
        <LegendItem label="a host">
          <circle cx="16" cy="8" r="5" fill="var(--text)" />
        </LegendItem>
        <LegendItem label="a device not in the inventory">
          <circle cx="16" cy="8" r="5" fill="var(--ground)" stroke="var(--text)" stroke-width="1.5" />
        </LegendItem>
        <Line label="a link between two known interfaces" />
        <Line label="a link with an unknown interface" dash="2 3" />
        <Line label="a faster link: 1 Gbit/s or more, 10 Gbit/s or more" width={2.4} />
        {!isOverPeriod && <Line label="a link with an interface that is down" color="var(--removed)" />}
        {isCompared && <Line label="added, marked with +" color="var(--added)" />}
        {isCompared && <Line label="removed, marked with −" color="var(--removed)" dash="7 5" />}
      </ul>
    </details>
  );
}

function LegendItem({ label, children }: { readonly label: string; readonly children: ComponentChildren }) {
  return (
    <li>
      <svg viewBox="0 0 32 16" width="32" height="16" aria-hidden="true">
        {children}
      </svg>{" "}
      {label}
    </li>
  );
}

interface LineProps {
  readonly label: string;
  readonly width?: number;
  readonly color?: string;
  readonly dash?: string;
}

function Line({ label, width = 1.6, color = "var(--line-strong)", dash }: LineProps) {
  return (
    <LegendItem label={label}>
      <line x1="2" y1="8" x2="30" y2="8" stroke={color} stroke-width={width} stroke-dasharray={dash} />
    </LegendItem>
  );
}
