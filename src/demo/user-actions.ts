// User actions in the demo's month after the first day: time, author, reason and write. Includes the scans that users
// started.

import { apiKeyKind } from "../resources/api-keys/api-key.ts";
import { type HostRecord, hostKind } from "../resources/hosts/host.ts";
import { type IgnoredRecord, ignoredKind } from "../resources/ignored/ignored.ts";
import { type IpAddressRecord, ipAddressKind } from "../resources/ip-addresses/ip-address.ts";
import { subnetKind } from "../resources/subnets/subnet.ts";
import { tagKind } from "../resources/tags/tag.ts";
import type { DayTime } from "./calendar.ts";
import type { DemoStore } from "./demo-writer.ts";
import type { Site } from "./equipment.ts";
import { addSchedule, addSubnet } from "./initial-setup.ts";
import { KEY_NAME, type PersonName, SCAN_SCHEDULES, type TAGS } from "./people.ts";
import { SUBNETS } from "./places.ts";

interface Attribution {
  readonly by: PersonName;
  /** As in X-Change-Reason. */
  readonly reason: string | null;
}

export interface UserAction extends Attribution {
  readonly at: DayTime;
  readonly task: Task;
}

interface ScanOrder {
  readonly site: Site;
  readonly kind: "full" | "snmp";
}

/** A scan to order, or a write. */
export type Task = ScanOrder | ((store: DemoStore, attribution: Attribution) => Promise<unknown>);

export const USER_ACTIONS: readonly UserAction[] = [
  { at: "-31d 08:10", by: "ada", reason: "First discovery", task: { site: "campus", kind: "full" } },
  { at: "-31d 08:20", by: "ada", reason: "First discovery", task: { site: "harbour", kind: "full" } },
  { at: "-29d 09:00", by: "tom", reason: null, task: tags("critical", ["edge-1", "core-1", "core-2"]) },
  { at: "-29d 09:05", by: "tom", reason: null, task: tags("lease ends this year", ["db-1", "db-2"]) },
  { at: "-29d 09:20", by: "tom", reason: "Labels read off in the racks", task: setAssetTag("core-1", "LU-004711") },
  { at: "-29d 09:21", by: "tom", reason: "Labels read off in the racks", task: setAssetTag("core-2", "LU-004712") },
  {
    at: "-28d 16:00",
    by: "ada",
    reason: null,
    task: createMarker("baseline", "Everything is in; nothing has been changed yet."),
  },

  { at: "-21d 10:05", by: "priya", reason: "CHG-2087: app-old decommissioned", task: deleteHost("app-old") },

  { at: "-18d 10:55", by: "tom", reason: null, task: createMarker("before the payroll move") },
  { at: "-18d 13:45", by: "tom", reason: "CHG-2095: payroll moves to Science", task: { site: "campus", kind: "snmp" } },

  { at: "-16d 21:50", by: "priya", reason: null, task: createMarker("before the voice renumbering") },
  { at: "-16d 21:55", by: "priya", reason: "CHG-2102: voice runs out of addresses", task: renumberVoice },
  { at: "-16d 22:10", by: "priya", reason: "CHG-2102: voice renumbered", task: { site: "campus", kind: "full" } },
  { at: "-14d 09:30", by: "priya", reason: "CHG-2102: old voice subnet given back", task: deleteOldVoice },

  { at: "-12d 23:00", by: "ada", reason: null, task: createMarker("before the core upgrade", "CHG-2110, both cores") },
  { at: "-12d 23:55", by: "ada", reason: "CHG-2110: cores on 17.12.3", task: { site: "campus", kind: "snmp" } },

  { at: "-9d 09:10", by: "tom", reason: null, task: createMarker("before the switch in the library") },
  { at: "-9d 10:20", by: "tom", reason: "RMA 88123: fans dead, replaced", task: { site: "campus", kind: "full" } },
  { at: "-9d 10:40", by: "tom", reason: "RMA 88123: sent back", task: deleteHost("acc-library-2", "FOC2418U1LP") },

  { at: "-8d 10:00", by: "tom", reason: "INC-20868: who switched app-old on?", task: allowHost("app-old") },
  { at: "-8d 10:10", by: "tom", reason: "INC-20868: who switched app-old on?", task: { site: "campus", kind: "full" } },
  { at: "-7d 11:20", by: "priya", reason: "CHG-2087: disks removed this time", task: deleteHost("app-old") },

  {
    at: "-6d 14:10",
    by: "tom",
    reason: "INC-20877: Science, third floor dark",
    task: { site: "campus", kind: "full" },
  },
  { at: "-6d 16:15", by: "tom", reason: "INC-20877: power restored", task: { site: "campus", kind: "full" } },

  {
    at: "-3d 03:52",
    by: "tom",
    reason: "INC-20931: unknown machine, port shut",
    task: { site: "campus", kind: "snmp" },
  },
  {
    at: "-3d 03:56",
    by: "tom",
    reason: "INC-20931: unknown machine, port shut",
    task: tags("investigate", ["Raspberry Pi dc:a6:32:5e:70:13"]),
  },
  { at: "-3d 09:35", by: "tom", reason: "INC-20931: port open again", task: { site: "campus", kind: "snmp" } },

  { at: "-2d 08:30", by: "ada", reason: "INC-20902: a link flaps, look more often", task: addFrequentScans },
  { at: "-2d 09:10", by: "priya", reason: "Import of facilities.csv", task: importClock },

  { at: "-1d 15:00", by: "ada", reason: "CHG-2131: sensors for the new heating", task: addSensors },
];

function createMarker(name: string, description: string | null = null): Task {
  return (store, { by, reason }) =>
    store.run("marker.create", { body: { name, description } }, store.actorOf(by, reason));
}

function tags(name: (typeof TAGS)[number]["name"], hosts: readonly string[]): Task {
  return (store, { by, reason }) =>
    store.run(
      "tag.bulk_add",
      {
        body: {
          tag_id: store.find(tagKind, (tag) => tag.name === name).id,
          entity_type: "host",
          entity_ids: hosts.map((host) => hostNamed(store, host).id),
        },
      },
      store.actorOf(by, reason),
    );
}

function setAssetTag(host: string, asset_tag: string): Task {
  return (store, { by, reason }) => {
    const { id, name, hidden, tags } = hostNamed(store, host);
    return store.run(
      "host.update",
      { id, body: { id, name, hidden, tags: [...tags], asset_tag } },
      store.actorOf(by, reason),
    );
  };
}

/** Deletes a host that scans must not create again. @param serial of the intended host, if another has the same name */
function deleteHost(host: string, serial?: string): Task {
  return (store, { by, reason }) =>
    store.run(
      "host.delete",
      { id: hostNamed(store, host, serial).id, cascade: true, ignore: true },
      store.actorOf(by, reason),
    );
}

/** Lets discovery restore a host that a user deleted. */
function allowHost(label: string): Task {
  return async (store, { by, reason }) => {
    const entry = store.find<IgnoredRecord>(ignoredKind, (each) => each.label.startsWith(label));
    await store.run("ignored.delete", { id: entry.id }, store.actorOf(by, reason));
  };
}

const [OLD_VOICE, NEW_VOICE] = SUBNETS.filter(({ vlan }) => vlan === 40);

async function addFrequentScans(store: DemoStore, { by, reason }: Attribution): Promise<void> {
  for (const schedule of SCAN_SCHEDULES)
    if (schedule.from !== undefined) await addSchedule(store, schedule, store.actorOf(by, reason));
}

async function renumberVoice(store: DemoStore, { by, reason }: Attribution): Promise<void> {
  if (OLD_VOICE === undefined || NEW_VOICE === undefined) throw new Error("demo: the voice subnets are missing");
  const { id } = store.find(subnetKind, ({ cidr }) => cidr === OLD_VOICE.cidr);
  await store.run(
    "subnet.update",
    { id, body: { cidr: OLD_VOICE.cidr, name: OLD_VOICE.name } },
    store.actorOf(by, reason),
  );
  await addSubnet(store, NEW_VOICE, reason ?? "");
}

async function deleteOldVoice(store: DemoStore, { by, reason }: Attribution): Promise<void> {
  const { id } = store.find(subnetKind, ({ cidr }) => cidr === OLD_VOICE?.cidr);
  const ids = store.all<IpAddressRecord>(ipAddressKind, (each) => each.subnet_id === id).map((each) => each.id);
  await store.run("ip_address.bulk_delete", { ids, cascade: true }, store.actorOf(by, reason));
  await store.run("subnet.delete", { id, cascade: true }, store.actorOf(by, reason));
}

/** Uses an address that a door terminal already has. */
async function importClock(store: DemoStore, { by, reason }: Attribution): Promise<void> {
  const key = store.find(apiKeyKind, ({ name }) => name === KEY_NAME);
  await store.run(
    "host.create",
    {
      body: {
        network_id: store.networkId("campus"),
        name: "clock-refectory",
        asset_tag: "FM-0093",
        ip_addresses: [{ ip_address: "10.20.20.42", mac_address: null }],
      },
    },
    { ...store.actorOf(by, reason), type: "ApiKey", id: key.id, name: KEY_NAME, role: "Member" },
  );
}

async function addSensors(store: DemoStore, { by, reason }: Attribution): Promise<void> {
  const network_id = store.networkId("campus");
  await store.run("vlan.create", { body: { network_id, number: 64, name: "Heating" } }, store.actorOf(by, reason));
  const sensors = { site: "campus", cidr: "10.20.64.0/26", name: "Heating", type: "IoT", vlan: 64 } as const;
  await addSubnet(store, { ...sensors, prefix: null }, reason ?? "");
}

function hostNamed(store: DemoStore, label: string, serial?: string): HostRecord {
  return store.find<HostRecord>(
    hostKind,
    ({ name, hostname, serial_number }) =>
      (name === label || (hostname ?? "").startsWith(`${label}.`)) &&
      (serial === undefined || serial_number === serial),
  );
}
