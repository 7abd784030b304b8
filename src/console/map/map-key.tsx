// Legend of the map. Each symbol looks as it does on the map.

import type { ComponentChildren } from "preact";

interface MapKeyProps {
  /** Whether two timestamps or a period are shown. */
  readonly isCompared: boolean;
  /** Link state is unknown for the timestamps of a period. */
  readonly isOverPeriod: boolean;
}

const KEY = {
  host: "a host",
  unknown: "a device that is in no inventory",
  link: "a link between two known interfaces",
  uncertain: "a link of which not both interfaces are known",
  faster: "a faster one: 1 Gbit/s and more, 10 Gbit/s and more",
  down: "a link with an interface that is down",
  appeared: "what appeared, with a +",
  vanished: "what vanished, with a −",
};

export function MapKey({ isCompared, isOverPeriod }: MapKeyProps) {
  const words = KEY;
  return (
    <details class="map-key">
      <summary>Legend</summary>
      <ul>
        <Sign words={words.host}>
          <circle cx="16" cy="8" r="5" fill="var(--text)" />
        </Sign>
        <Sign words={words.unknown}>
          <circle cx="16" cy="8" r="5" fill="var(--ground)" stroke="var(--text)" stroke-width="1.5" />
        </Sign>
        <Line words={words.link} width={1.6} />
        <Line words={words.uncertain} width={1.6} dash="2 3" />
        <Line words={words.faster} width={2.4} />
        {!isOverPeriod && <Line words={words.down} width={1.6} colour="var(--removed)" />}
        {isCompared && (
          <>
            <Line words={words.appeared} width={1.6} colour="var(--added)" />
            <Line words={words.vanished} width={1.6} colour="var(--removed)" dash="7 5" />
          </>
        )}
      </ul>
    </details>
  );
}

function Sign({ words, children }: { readonly words: string; readonly children: ComponentChildren }) {
  return (
    <li>
      <svg viewBox="0 0 32 16" width="32" height="16" aria-hidden="true">
        {children}
      </svg>{" "}
      {words}
    </li>
  );
}

interface LineProps {
  readonly words: string;
  readonly width: number;
  readonly colour?: string;
  readonly dash?: string;
}

function Line({ words, width, colour = "var(--line-strong)", dash }: LineProps) {
  return (
    <Sign words={words}>
      <line x1="2" y1="8" x2="30" y2="8" stroke={colour} stroke-width={width} stroke-dasharray={dash} />
    </Sign>
  );
}
