// Status history of an interface as a table: one row per change, newest first, with a link to its timestamp.

import { useState } from "preact/hooks";
import { Copied } from "../components/copied.tsx";
import { HeadRow } from "../components/head-row.tsx";
import { speedOf } from "../components/speed.ts";
import { Status } from "../components/status.tsx";
import { When } from "../components/when.tsx";
import { Named } from "../names/named.tsx";
import { ownValue } from "../text/own-value.ts";
import { urlTimestamp } from "../time/instant.ts";
import type { TimeWindow } from "../time/window.ts";
import { hrefHere } from "../url/location.ts";
import { eventsOf, type StatusVersion } from "./status-segments.ts";

const ROWS_STEP = 50;
const MACS_SHOWN = 5;

interface StatusTableProps {
  readonly versions: readonly StatusVersion[];
  readonly window: TimeWindow;
  /** Host ids by MAC address. */
  readonly hosts: ReadonlyMap<string, string>;
}

export function StatusTable({ versions, window, hosts }: StatusTableProps) {
  const [shown, setShown] = useState(ROWS_STEP);
  const events = eventsOf(versions, window);
  if (events.length === 0) return <p class="aside">No events in this period.</p>;
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: scrollable content must be focusable
    <section class="table" tabIndex={0} aria-label="Events">
      <table class="rows life-events">
        <caption class="visually-hidden">Events</caption>
        <HeadRow heads={["When", "State", "Speed", "Appeared", "Disappeared"]} />
        <tbody>
          {events.slice(0, shown).map(({ ms, state, speedBps, appeared, disappeared }) => (
            <tr key={ms}>
              <td>
                <a href={hrefHere({ at: urlTimestamp(ms) })}>
                  <When instant={urlTimestamp(ms)} />
                </a>
              </td>
              <td>{state !== null && <State state={state} />}</td>
              <td>{speedBps !== null && speedOf(speedBps)}</td>
              <td>
                <Stations macs={appeared} hosts={hosts} />
              </td>
              <td>
                <Stations macs={disappeared} hosts={hosts} />
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
