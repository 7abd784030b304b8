// Machines connected to the demo's switches: servers, phones, printers, cameras, access points, user machines, and an
// unknown one. Data only.

import type { DayTime, StoryPeriod } from "./calendar.ts";
import type { Site } from "./equipment.ts";

export interface Attachment {
  /** `#` is replaced by the number, as in `at`. */
  readonly address: string;
  readonly v6?: string;
  readonly at: readonly [switchName: string, port: string];
  readonly period?: StoryPeriod;
  /** Hours of the day, in UTC. */
  readonly hours?: readonly [from: number, until: number];
}

type Service = readonly [port: number, name: string, definition: string];

/** One machine, or several numbered ones of a kind. */
export interface Stations {
  /** `#` is replaced by the number, with two digits. */
  readonly name: string;
  readonly site: Site;
  readonly count?: number;
  /** Last byte of the address, and port number, of the first machine. */
  readonly first?: { readonly address: number; readonly port: number };
  /** MAC address of the first machine. */
  readonly mac: string;
  readonly vlan: number;
  /** Attachments: the first one valid at a given time applies. Several on one day follow each other. */
  readonly attachments: readonly Attachment[];
  /** True if its users occasionally switch it off for a night. */
  readonly isOccasionallyOff?: true;
  /** True if it has no DNS name. */
  readonly isNameless?: true;
  readonly services?: readonly Service[];
  /** LLDP announcement; sends none if absent. */
  readonly lldp?: string;
}

const SSH: Service = [22, "OpenSSH 9.2p1", "ssh"];
const WEB: Service = [443, "nginx", "https"];
const OFFICE = [7, 18] as const;
const RENUMBERED: DayTime = "-16d 22:00";

/** Machines that stay at one place. */
const stationsAt =
  (site: Site) =>
  (
    name: string,
    vlan: number,
    mac: string,
    address: string,
    at: Attachment["at"],
    {
      hours,
      ...more
    }: Partial<Omit<Stations, "site" | "name" | "vlan" | "mac" | "attachments">> & Pick<Attachment, "hours"> = {},
  ): Stations => ({
    site,
    name,
    vlan,
    mac,
    attachments: [{ address, at, ...(hours === undefined ? {} : { hours }) }],
    ...more,
  });
const campus = stationsAt("campus");
const harbour = stationsAt("harbour");

/** Numbered machines of a kind. @param first last byte of the address, and port number, of the first one */
type Numbered = (
  name: string,
  count: number,
  mac: string,
  at: Attachment["at"],
  first: { readonly address: number; readonly port: number },
) => Stations;

const telephones: Numbered = (name, count, mac, at, first) => ({
  name,
  site: "campus",
  count,
  first,
  mac,
  vlan: 40,
  attachments: [
    { address: "10.20.40.#", at, period: { until: RENUMBERED } },
    { address: "10.20.44.#", at, period: { from: RENUMBERED } },
  ],
  services: [
    [80, "Yealink SIP-T54W", "http"],
    [5060, "SIP", "sip"],
  ],
  lldp: "Yealink SIP-T54W 96.86.0.100",
});

const desks: Numbered = (name, count, mac, at, first) =>
  campus(name, 20, mac, "10.20.20.#", at, { count, first, isOccasionallyOff: true });

const accessPoints: Numbered = (name, count, mac, at, first) =>
  campus(name, 10, mac, "10.20.0.#", at, {
    count,
    first,
    services: [SSH],
    lldp: "Aruba AP-515, ArubaOS 8.10.0.6",
  });

const printer = (model: string): readonly Service[] => [[9100, "JetDirect", "jetdirect"], [631, model, "ipp"], WEB];

const server = (
  name: string,
  host: number,
  mac: string,
  at: readonly [string, string],
  services: readonly Service[],
  period?: StoryPeriod,
): Stations => ({
  name,
  site: "campus",
  mac,
  vlan: 100,
  attachments: [
    {
      address: `10.20.100.${host}`,
      v6: `2001:db8:20:100::${host}`,
      at,
      ...(period === undefined ? {} : { period }),
    },
  ],
  services: [SSH, ...services],
});

export const STATIONS: readonly Stations[] = [
  server("ns-1", 5, "18:66:da:0c:51:10", ["acc-servers-1", "Gi1/0/1"], [[53, "BIND 9.18.28", "dns"]]),
  server("ns-2", 6, "18:66:da:0c:52:10", ["acc-servers-2", "Gi1/0/1"], [[53, "BIND 9.18.28", "dns"]]),
  server("dhcp-1", 7, "18:66:da:0c:53:10", ["acc-servers-1", "Gi1/0/2"], []),
  server("directory-1", 8, "f8:bc:12:7a:08:20", ["acc-servers-1", "Gi1/0/3"], [[389, "OpenLDAP", "ldap"]]),
  server("directory-2", 9, "f8:bc:12:7a:09:20", ["acc-servers-2", "Gi1/0/3"], [[389, "OpenLDAP", "ldap"]]),
  server("db-1", 10, "f8:bc:12:7a:10:20", ["acc-servers-1", "Gi1/0/5"], [[5432, "PostgreSQL 15.8", "postgresql"]]),
  server("db-2", 11, "f8:bc:12:7a:11:20", ["acc-servers-2", "Gi1/0/5"], [[5432, "PostgreSQL 15.8", "postgresql"]]),
  server("www-1", 12, "a4:bb:6d:22:12:00", ["acc-servers-1", "Gi1/0/7"], [[80, "nginx", "http"], WEB]),
  server("www-2", 13, "a4:bb:6d:22:13:00", ["acc-servers-2", "Gi1/0/7"], [[80, "nginx", "http"], WEB]),
  server("git-1", 14, "a4:bb:6d:22:14:00", ["acc-servers-1", "Gi1/0/8"], [WEB]),
  server("monitor-1", 15, "a4:bb:6d:22:15:00", ["acc-servers-1", "Gi1/0/9"], [WEB, [9090, "Prometheus", "prometheus"]]),
  server("voice-1", 16, "a4:bb:6d:22:16:00", ["acc-servers-2", "Gi1/0/8"], [[5060, "Asterisk 20", "sip"]]),
  server("backup-1", 17, "24:5e:be:61:17:00", ["acc-servers-2", "Gi1/0/11"], [[873, "rsync", "rsync"]]),
  server("files-1", 18, "90:09:d0:3c:18:00", ["acc-servers-1", "Gi1/0/11"], [[445, "Samba", "samba"]]),
  server("app-old", 21, "d4:be:d9:10:21:00", ["acc-servers-2", "Gi1/0/21"], [[8080, "Apache Tomcat", "http"]], {
    until: "-21d 09:30",
  }),
  // Switched on again after the rack was cleaned.
  server("app-old", 21, "d4:be:d9:10:21:00", ["acc-servers-2", "Gi1/0/22"], [[8080, "Apache Tomcat", "http"]], {
    from: "-13d 15:10",
    until: "-7d 11:00",
  }),
  server("app-new", 22, "a4:bb:6d:22:22:00", ["acc-servers-1", "Gi1/0/13"], [WEB], { from: "-23d 09:00" }),
  server("survey-1", 23, "a4:bb:6d:22:23:00", ["acc-servers-2", "Gi1/0/13"], [WEB], { from: "-1d 17:00" }),

  telephones("phone-library-#", 6, "80:5e:c0:11:00:01", ["acc-library-1", "Gi2/0/#"], { address: 21, port: 1 }),
  telephones("phone-science-#", 8, "80:5e:c0:12:00:01", ["acc-science-1", "Gi2/0/#"], { address: 41, port: 1 }),
  telephones("phone-admin-#", 8, "80:5e:c0:13:00:01", ["acc-admin-1", "Gi1/0/#"], { address: 61, port: 1 }),

  desks("desk-library-#", 8, "54:bf:64:21:00:01", ["acc-library-1", "Gi1/0/#"], { address: 101, port: 1 }),
  desks("catalogue-#", 4, "00:1e:c9:22:00:01", ["acc-library-2", "Gi1/0/#"], { address: 115, port: 1 }),
  desks("desk-science-#", 8, "54:bf:64:23:00:01", ["acc-science-1", "Gi1/0/#"], { address: 121, port: 1 }),
  desks("bench-#", 6, "00:1e:c9:24:00:01", ["acc-science-2", "Gi1/0/#"], { address: 135, port: 1 }),
  desks("desk-admin-#", 6, "54:bf:64:25:00:01", ["acc-admin-1", "Gi2/0/#"], { address: 145, port: 1 }),
  {
    ...desks("payroll-#", 4, "54:bf:64:26:00:01", ["acc-admin-1", "Gi2/0/#"], { address: 155, port: 21 }),
    attachments: [
      { address: "10.20.20.#", at: ["acc-admin-1", "Gi2/0/#"], period: { until: "-18d 11:00" } },
      { address: "10.20.20.#", at: ["acc-science-1", "Gi3/0/#"], period: { from: "-18d 13:30" } },
    ],
  },
  {
    name: "lt-mchen",
    site: "campus",
    mac: "8c:16:45:31:4d:0e",
    vlan: 20,
    attachments: [
      { address: "10.20.20.171", at: ["acc-library-2", "Gi1/0/19"], hours: [7, 10] },
      { address: "10.20.20.171", at: ["acc-science-1", "Gi1/0/33"], hours: [10, 14] },
      { address: "10.20.20.171", at: ["acc-admin-1", "Gi1/0/19"], hours: [14, 19] },
    ],
  },
  campus("lt-staff-#", 20, "8c:16:45:31:50:01", "10.20.20.#", ["acc-admin-1", "Gi1/0/#"], {
    count: 4,
    first: { address: 172, port: 37 },
    hours: OFFICE,
  }),
  campus("mac-design-#", 20, "3c:22:fb:41:00:01", "10.20.20.#", ["acc-science-2", "Gi1/0/#"], {
    count: 3,
    first: { address: 181, port: 25 },
    hours: OFFICE,
  }),
  campus("door-terminal-#", 20, "00:0d:b9:51:00:01", "10.20.20.#", ["acc-library-1", "Gi3/0/#"], {
    count: 2,
    first: { address: 41, port: 46 },
    services: [WEB],
  }),

  campus("printer-library", 50, "3c:d9:2b:61:00:01", "10.20.50.11", ["acc-library-1", "Gi1/0/45"], {
    services: printer("HP LaserJet M611"),
  }),
  campus("printer-science-#", 50, "a0:d3:c1:62:00:01", "10.20.50.#", ["acc-science-1", "Gi1/0/#"], {
    count: 3,
    first: { address: 21, port: 43 },
    services: printer("HP LaserJet M507"),
  }),
  campus("printer-admin", 50, "3c:d9:2b:63:00:01", "10.20.50.31", ["acc-admin-1", "Gi1/0/45"], {
    services: printer("HP LaserJet M611"),
  }),
  campus("camera-#", 60, "ac:cc:8e:71:00:01", "10.20.60.#", ["acc-dorm-1", "Gi1/0/#"], {
    count: 6,
    first: { address: 11, port: 31 },
    services: [[554, "Axis P3265", "rtsp"], WEB],
  }),
  accessPoints("ap-library-#", 3, "20:4c:03:81:00:00", ["acc-library-1", "Gi3/0/#"], { address: 101, port: 41 }),
  accessPoints("ap-science-#", 3, "20:4c:03:82:00:00", ["acc-science-1", "Gi3/0/#"], { address: 111, port: 41 }),
  accessPoints("ap-dorm-#", 4, "20:4c:03:83:00:00", ["acc-dorm-1", "Gi2/0/#"], { address: 121, port: 41 }),
  // The unknown machine, connected in the third night.
  {
    name: "unknown",
    site: "campus",
    mac: "dc:a6:32:5e:70:13",
    vlan: 20,
    attachments: [
      { address: "10.20.20.199", at: ["acc-library-1", "Gi1/0/17"], period: { from: "-3d 03:10", until: "-3d 03:51" } },
    ],
    isNameless: true,
    services: [SSH],
  },

  harbour("plotter-quay", 20, "00:11:0a:91:00:01", "10.30.20.11", ["harbour-quay-1", "1/1/5"], {
    services: [[9100, "JetDirect", "jetdirect"]],
  }),
  harbour("quay-#", 20, "54:bf:64:92:00:01", "10.30.20.#", ["harbour-quay-1", "1/1/#"], {
    count: 6,
    first: { address: 21, port: 11 },
  }),
  harbour("wave-sensor-#", 30, "b8:27:eb:93:00:01", "10.20.30.#", ["harbour-lab-1", "1/1/#"], {
    count: 8,
    first: { address: 11, port: 21 },
    services: [SSH, [1883, "Mosquitto", "mqtt"]],
  }),
  harbour("wave-control", 30, "d4:be:d9:94:00:01", "10.20.30.5", ["harbour-lab-1", "2/1/3"], {
    services: [SSH],
  }),
];
