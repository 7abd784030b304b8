// User actions in the demo's month after the first day: time, author, reason and write. Includes the scans that users
// ordered.

import { apiKeyKind } from "../resources/api-keys/api-key.ts";
import { type HostRecord, hostKind } from "../resources/hosts/host.ts";
import { type IgnoredRecord, ignoredKind } from "../resources/ignored/ignored.ts";
import { type IpAddressRecord, ipAddressKind } from "../resources/ip-addresses/ip-address.ts";
import { subnetKind } from "../resources/subnets/subnet.ts";
import { tagKind } from "../resources/tags/tag.ts";
import type { DayTime } from "./calendar.ts";
import { KEY_NAME, type PersonName, ROUNDS, type TAGS } from "./cast.ts";
import type { Crew } from "./crew.ts";
import type { Site } from "./equipment.ts";
import { enterSchedule, enterSubnet } from "./outset.ts";
import { SUBNETS } from "./places.ts";

export interface Deed {
  readonly at: DayTime;
  readonly by: PersonName;
  /** As in X-Change-Reason. */
  readonly why: string | null;
  readonly does: Work;
}

interface Ordered {
  readonly site: Site;
  readonly kind: "full" | "snmp";
}

/** A scan to order, or a write. */
export type Work = Ordered | ((crew: Crew, deed: Pick<Deed, "by" | "why">) => Promise<unknown>);

export const DEEDS: readonly Deed[] = [
  { at: "-31d 08:10", by: "ada", why: "First discovery", does: { site: "campus", kind: "full" } },
  { at: "-31d 08:20", by: "ada", why: "First discovery", does: { site: "harbour", kind: "full" } },
  { at: "-29d 09:00", by: "tom", why: null, does: tags("critical", ["edge-1", "core-1", "core-2"]) },
  { at: "-29d 09:05", by: "tom", why: null, does: tags("lease ends this year", ["db-1", "db-2"]) },
  { at: "-29d 09:20", by: "tom", why: "Labels read off in the racks", does: assetTag("core-1", "LU-004711") },
  { at: "-29d 09:21", by: "tom", why: "Labels read off in the racks", does: assetTag("core-2", "LU-004712") },
  { at: "-28d 16:00", by: "ada", why: null, does: marker("baseline", "Everything is in; nothing was changed yet.") },

  { at: "-21d 10:05", by: "priya", why: "CHG-2087: app-old decommissioned", does: deletes("app-old") },

  { at: "-18d 10:55", by: "tom", why: null, does: marker("before the payroll move") },
  { at: "-18d 13:45", by: "tom", why: "CHG-2095: payroll moves to Science", does: { site: "campus", kind: "snmp" } },

  { at: "-16d 21:50", by: "priya", why: null, does: marker("before the voice renumbering") },
  { at: "-16d 21:55", by: "priya", why: "CHG-2102: voice runs out of addresses", does: renumber },
  { at: "-16d 22:10", by: "priya", why: "CHG-2102: voice renumbered", does: { site: "campus", kind: "full" } },
  { at: "-14d 09:30", by: "priya", why: "CHG-2102: old voice subnet given back", does: giveBack },

  { at: "-12d 23:00", by: "ada", why: null, does: marker("before the core upgrade", "CHG-2110, both cores") },
  { at: "-12d 23:55", by: "ada", why: "CHG-2110: cores on 17.12.3", does: { site: "campus", kind: "snmp" } },

  { at: "-9d 09:10", by: "tom", why: null, does: marker("before the switch in the library") },
  { at: "-9d 10:20", by: "tom", why: "RMA 88123: fans dead, replaced", does: { site: "campus", kind: "full" } },
  { at: "-9d 10:40", by: "tom", why: "RMA 88123: sent back", does: deletes("acc-library-2", "FOC2418U1LP") },

  { at: "-8d 10:00", by: "tom", why: "INC-20868: who switched app-old on?", does: lets("app-old") },
  { at: "-8d 10:10", by: "tom", why: "INC-20868: who switched app-old on?", does: { site: "campus", kind: "full" } },
  { at: "-7d 11:20", by: "priya", why: "CHG-2087: disks removed this time", does: deletes("app-old") },

  { at: "-6d 14:10", by: "tom", why: "INC-20877: Science, third floor dark", does: { site: "campus", kind: "full" } },
  { at: "-6d 16:15", by: "tom", why: "INC-20877: power restored", does: { site: "campus", kind: "full" } },

  { at: "-3d 03:52", by: "tom", why: "INC-20931: unknown machine, port shut", does: { site: "campus", kind: "snmp" } },
  {
    at: "-3d 03:56",
    by: "tom",
    why: "INC-20931: unknown machine, port shut",
    does: tags("investigate", ["10.20.20.199"]),
  },
  { at: "-3d 09:35", by: "tom", why: "INC-20931: port open again", does: { site: "campus", kind: "snmp" } },

  { at: "-2d 08:30", by: "ada", why: "INC-20902: a link flaps, look more often", does: lookMoreOften },
  { at: "-2d 09:10", by: "priya", why: "Import of facilities.csv", does: importClock },

  { at: "-1d 15:00", by: "ada", why: "CHG-2131: sensors for the new heating", does: addSensors },
];

function marker(name: string, description: string | null = null): Work {
  return (crew, { by, why }) => crew.run("marker.create", { body: { name, description } }, crew.by(by, why));
}

function tags(name: (typeof TAGS)[number]["name"], hosts: readonly string[]): Work {
  return (crew, { by, why }) =>
    crew.run(
      "tag.bulk_add",
      {
        body: {
          tag_id: crew.one(tagKind, (tag) => tag.name === name).id,
          entity_type: "host",
          entity_ids: hosts.map((host) => hostCalled(crew, host).id),
        },
      },
      crew.by(by, why),
    );
}

function assetTag(host: string, asset_tag: string): Work {
  return (crew, { by, why }) => {
    const { id, name, hidden, tags } = hostCalled(crew, host);
    return crew.run("host.update", { id, body: { id, name, hidden, tags: [...tags], asset_tag } }, crew.by(by, why));
  };
}

/** @param serial of the intended host, if another has the same name */
function deletes(host: string, serial?: string): Work {
  return (crew, { by, why }) =>
    crew.run("host.delete", { id: hostCalled(crew, host, serial).id, cascade: true }, crew.by(by, why));
}

/** Lets discovery restore what a person deleted. */
function lets(label: string): Work {
  return async (crew, { by, why }) => {
    const entry = crew.one<IgnoredRecord>(ignoredKind, (each) => each.label.startsWith(label));
    await crew.run("ignored.delete", { id: entry.id }, crew.by(by, why));
  };
}

const [OLD_VOICE, NEW_VOICE] = SUBNETS.filter(({ vlan }) => vlan === 40);

async function lookMoreOften(crew: Crew, { by, why }: Pick<Deed, "by" | "why">): Promise<void> {
  for (const round of ROUNDS) if (round.from !== undefined) await enterSchedule(crew, round, crew.by(by, why));
}

async function renumber(crew: Crew, { by, why }: Pick<Deed, "by" | "why">): Promise<void> {
  if (OLD_VOICE === undefined || NEW_VOICE === undefined) throw new Error("demo: no subnets of telephones");
  const { id } = crew.one(subnetKind, ({ cidr }) => cidr === OLD_VOICE.cidr);
  await crew.run("subnet.update", { id, body: { cidr: OLD_VOICE.cidr, name: OLD_VOICE.name } }, crew.by(by, why));
  await enterSubnet(crew, NEW_VOICE, why ?? "");
}

async function giveBack(crew: Crew, { by, why }: Pick<Deed, "by" | "why">): Promise<void> {
  const { id } = crew.one(subnetKind, ({ cidr }) => cidr === OLD_VOICE?.cidr);
  const ids = crew.all<IpAddressRecord>(ipAddressKind, (each) => each.subnet_id === id).map((each) => each.id);
  await crew.run("ip_address.bulk_delete", { ids, cascade: true }, crew.by(by, why));
  await crew.run("subnet.delete", { id, cascade: true }, crew.by(by, why));
}

/** Uses an address that a door terminal already has. */
async function importClock(crew: Crew, { by, why }: Pick<Deed, "by" | "why">): Promise<void> {
  const key = crew.one(apiKeyKind, ({ name }) => name === KEY_NAME);
  await crew.run(
    "host.create",
    {
      body: {
        network_id: crew.networkId("campus"),
        name: "clock-refectory",
        asset_tag: "FM-0093",
        ip_addresses: [{ ip_address: "10.20.20.42", mac_address: null }],
      },
    },
    { ...crew.by(by, why), type: "ApiKey", id: key.id, name: KEY_NAME, role: "Member" },
  );
}

async function addSensors(crew: Crew, { by, why }: Pick<Deed, "by" | "why">): Promise<void> {
  const network_id = crew.networkId("campus");
  await crew.run("vlan.create", { body: { network_id, number: 64, name: "Heating" } }, crew.by(by, why));
  const sensors = { site: "campus", cidr: "10.20.64.0/26", name: "Heating", type: "IoT", vlan: 64 } as const;
  await enterSubnet(crew, { ...sensors, prefix: null }, why ?? "");
}

function hostCalled(crew: Crew, called: string, serial?: string): HostRecord {
  return crew.one<HostRecord>(
    hostKind,
    ({ name, hostname, serial_number }) =>
      (name === called || (hostname ?? "").startsWith(`${called}.`)) &&
      (serial === undefined || serial_number === serial),
  );
}
