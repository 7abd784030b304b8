// The demo's network at a point in time: running switches, and the port of each machine. Derived only from the data and
// the calendar.

import type { Instant } from "../base/instant.ts";
import type { Calendar } from "./calendar.ts";
import { CABLES, PORT_STORIES, type Site, SWITCHES, type Switch } from "./equipment.ts";
import { type Attachment, STATIONS, type Stations } from "./stations.ts";

export interface CampusStation {
  readonly name: string;
  readonly kind: Stations;
  readonly mac: string;
  /** IPv4 first. */
  readonly addresses: readonly string[];
  readonly at: SwitchPort;
}

export interface SwitchPort {
  readonly switchName: string;
  readonly port: string;
}

/** The far end of a cable. */
export interface CableEnd extends SwitchPort {
  readonly isBlocked: boolean;
}

export class Campus {
  readonly calendar: Calendar;

  constructor(calendar: Calendar) {
    this.calendar = calendar;
  }

  /** Switches that are running and reachable. */
  switchesAt(instant: Instant): readonly Switch[] {
    return SWITCHES.filter(
      ({ period, outage }) =>
        this.calendar.isWithin(instant, period ?? {}) &&
        (outage === undefined || !this.calendar.isWithin(instant, outage)),
    );
  }

  /** Machines connected to a running switch. */
  stationsAt(instant: Instant): readonly CampusStation[] {
    const running = new Set(this.switchesAt(instant).map(({ name }) => name));
    return MACHINES.flatMap((each) => {
      if (each.isOccasionallyOff === true && this.isOff(each, instant)) return [];
      const attachment = each.attachments.find((attachment) => this.isAttached(attachment, instant));
      return attachment === undefined || !running.has(attachment.at[0]) ? [] : [stationAt(each, attachment)];
    });
  }

  /** Configured and actual state of a port, independent of what is connected; null if it has no story. */
  storyOf({ switchName, port }: SwitchPort, instant: Instant): "down" | "up" | "shut" | null {
    const story = PORT_STORIES.find(
      ({ at, period }) => at[0] === switchName && at[1] === port && this.calendar.isWithin(instant, period),
    );
    if (story === undefined) return null;
    if (story.state === "shut") return "shut";
    return Math.floor(this.calendar.hourOf(instant) / FLAP_HOURS) % 2 === 0 ? "down" : "up";
  }

  /** About every ninth night, on different nights for each. */
  private isOff({ ownMac }: Machine, instant: Instant): boolean {
    const hour = this.calendar.hourOf(instant);
    if (hour >= WORK_HOURS[0] && hour < WORK_HOURS[1]) return false;
    return Bun.hash(`${ownMac} ${this.calendar.dayOf(instant)}`) % 9n === 0n;
  }

  private isAttached({ period, hours }: Attachment, instant: Instant): boolean {
    const hour = this.calendar.hourOf(instant);
    return (
      (period === undefined || this.calendar.isWithin(instant, period)) &&
      (hours === undefined || (hour >= hours[0] && hour < hours[1]))
    );
  }
}

/** Hours of the day when all desks are used. */
const WORK_HOURS = [7, 19] as const;
/** Polled every three hours, the state differs each time. */
const FLAP_HOURS = 3;

/** Returns the cables of a switch, by its port. */
export function cablesOf(switchName: string): ReadonlyMap<string, CableEnd> {
  return CABLES_OF.get(switchName) ?? new Map();
}

/** Returns the path from a switch to its site's router, port by port: where forwarded frames are learned. */
export function pathToRouter(switchName: string): readonly SwitchPort[] {
  return PATHS.get(switchName) ?? [];
}

function findPath(switchName: string): readonly SwitchPort[] {
  const paths: Array<{ readonly name: string; readonly ports: readonly SwitchPort[] }> = [
    { name: switchName, ports: [] },
  ];
  const seen = new Set([switchName]);
  for (const { name, ports } of paths) {
    if (SWITCHES.some((each) => each.name === name && each.routes === 1)) return ports;
    for (const { switchName: next, port, isBlocked } of cablesOf(name).values()) {
      if (isBlocked || seen.has(next)) continue;
      seen.add(next);
      paths.push({ name: next, ports: [...ports, { switchName: next, port }] });
    }
  }
  return [];
}

/** DNS name of the machine. */
export function dnsNameOf({ name, kind }: CampusStation): string | null {
  return kind.isNameless === true ? null : `${name}.${DOMAINS[kind.site]}`;
}

export const DOMAINS: Readonly<Record<Site, string>> = {
  campus: "larkfield.example",
  harbour: "harbour.larkfield.example",
};

/** One numbered machine of several. */
interface Machine extends Stations {
  readonly number: number;
  readonly ownMac: string;
}

const MACHINES: readonly Machine[] = STATIONS.flatMap((each) =>
  Array.from({ length: each.count ?? 1 }, (_, number) => ({
    ...each,
    number,
    ownMac: macAfter(each.mac, number),
  })),
);

const CABLES_OF: ReadonlyMap<string, ReadonlyMap<string, CableEnd>> = new Map(
  [...new Set(SWITCHES.map(({ name }) => name))].map((name) => [
    name,
    new Map(
      CABLES.flatMap(({ ends: [node, nodePort, other, otherPort], isBlocked = false }) =>
        node === name
          ? [[nodePort, { switchName: other, port: otherPort, isBlocked }] as const]
          : other === name
            ? [[otherPort, { switchName: node, port: nodePort, isBlocked }] as const]
            : [],
      ),
    ),
  ]),
);

const PATHS: ReadonlyMap<string, readonly SwitchPort[]> = new Map(
  [...CABLES_OF.keys()].map((name) => [name, findPath(name)]),
);

function stationAt(node: Machine, attachment: Attachment): CampusStation {
  const { address = 0, port = 0 } = node.first ?? {};
  const numbered = (text: string, first: number) => text.replace("#", String(first + node.number));
  return {
    name: node.name.replace("#", String(node.number + 1).padStart(2, "0")),
    kind: node,
    mac: node.ownMac,
    addresses: [numbered(attachment.address, address), ...(attachment.v6 === undefined ? [] : [attachment.v6])],
    at: { switchName: attachment.at[0], port: numbered(attachment.at[1], port) },
  };
}

/** Returns the MAC address this many after another. */
export function macAfter(mac: string, count: number): string {
  const number = Number.parseInt(mac.replaceAll(":", ""), 16) + count;
  return number.toString(16).padStart(12, "0").match(/../g)?.join(":") as string;
}
