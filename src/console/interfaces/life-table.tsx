// Status history of an interface as a table, newest change first, each with a link to its instant.

import { useState } from "preact/hooks";
import { Named } from "../names/named.tsx";
import { Copied } from "../parts/copied.tsx";
import { speedOf } from "../parts/speed.ts";
import { Status } from "../parts/status.tsx";
import { When } from "../parts/when.tsx";
import { ownValue } from "../text/own-value.ts";
import { addressInstant } from "../time/instant.ts";
import type { TimeWindow } from "../time/window.ts";
import { hrefHere } from "../url/location.ts";
import { eventsOf, type LifeVersion } from "./life.ts";

const ROWS_STEP = 50;
const MACS_SHOWN = 5;

interface LifeTableProps {
  readonly versions: readonly LifeVersion[];
  readonly window: TimeWindow;
  /** Host ids by MAC address. */
  readonly hosts: ReadonlyMap<string, string>;
}

export function LifeTable({ versions, window, hosts }: LifeTableProps) {
  const [shown, setShown] = useState(ROWS_STEP);
  const events = eventsOf(versions, window);
  if (events.length === 0) return <p class="aside">No events in this period.</p>;
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: scrollable content must be focusable
    <section class="table" tabIndex={0} aria-label="What happened">
      <table class="rows life-events">
        <caption class="unseen">What happened</caption>
        <thead>
          <tr>
            <th scope="col">When</th>
            <th scope="col">State</th>
            <th scope="col">Speed</th>
            <th scope="col">Came</th>
            <th scope="col">Went</th>
          </tr>
        </thead>
        <tbody>
          {events.slice(0, shown).map(({ ms, state, speedBps, came, went }) => (
            <tr key={ms}>
              <td>
                <a href={hrefHere({ at: addressInstant(ms) })}>
                  <When instant={addressInstant(ms)} />
                </a>
              </td>
              <td>{state !== null && <State state={state} />}</td>
              <td>{speedBps !== null && speedOf(speedBps)}</td>
              <td>
                <Stations macs={came} hosts={hosts} />
              </td>
              <td>
                <Stations macs={went} hosts={hosts} />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
      {events.length > shown && (
        <button type="button" onClick={() => setShown(shown + ROWS_STEP)}>
          {events.length - shown} earlier
        </button>
      )}
    </section>
  );
}

const STATES: Readonly<Record<string, string>> = { Disabled: "disabled", Absent: "removed" };

function State({ state }: { readonly state: string }) {
  const word = ownValue(STATES, state);
  return word === undefined ? <Status status={state} /> : <span class="aside">{word}</span>;
}

function Stations({ macs, hosts }: { readonly macs: readonly string[]; readonly hosts: ReadonlyMap<string, string> }) {
  return (
    <>
      {macs.slice(0, MACS_SHOWN).map((mac) => {
        const host = hosts.get(mac);
        return (
          <span key={mac} class="station">
            {host !== undefined && (
              <>
                <Named kind="host" id={host} />{" "}
              </>
            )}
            <Copied text={mac} />
          </span>
        );
      })}
      {macs.length > MACS_SHOWN && <span class="aside">+{macs.length - MACS_SHOWN}</span>}
    </>
  );
}
