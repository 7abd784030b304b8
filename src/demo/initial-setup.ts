// The demo's setup on the first day: networks, VLANs, subnets, credentials, users and scan schedules.

import { type CommandActor, SYSTEM_AUTHOR } from "../access/actor.ts";
import { generateApiKey, hashApiKey, maskApiKey } from "../access/api-key.ts";
import type { Random } from "../base/random.ts";
import type { WriteQueue } from "../db/writing/write-queue.ts";
import type { AllCommands } from "../registry/commands.ts";
import { vlanKind } from "../resources/vlans/vlan.ts";
import type { DemoStore } from "./demo-writer.ts";
import type { Site } from "./equipment.ts";
import {
  DEMO_EMAIL,
  DEMO_NAME,
  HARBOUR_ID,
  KEY_NAME,
  NETWORKS,
  ORGANIZATION,
  PEOPLE,
  type Person,
  SCAN_SCHEDULES,
  type ScanSchedule,
  TAGS,
} from "./people.ts";
import { type PlannedSubnet, SUBNETS, VLANS } from "./places.ts";
import { SNMP_NAMES, SNMP_PASSWORD } from "./probes.ts";

/** A machine unseen for this long is stale. */
const STALE_AFTER_HOURS = 7 * 24;
const SETUP_REASON = "Inventory set up";

/**
 * @param passwordHash shared by all users
 * @param secret source of unpredictable values
 */
export async function setUpDemo(
  store: DemoStore,
  writes: WriteQueue<AllCommands>,
  passwordHash: string,
  secret: Random,
): Promise<void> {
  const names = { organizationName: ORGANIZATION, networkName: NETWORKS.campus.name, email: DEMO_EMAIL };
  const { result } = await writes.run(
    "organization.set_up",
    { ...names, passwordHash, onlyFirst: true },
    SYSTEM_AUTHOR,
  );
  const owner = { ...store.system("netledger"), reason: SETUP_REASON };
  const networkDefaults = { stale_after_hours: STALE_AFTER_HOURS, tags: [] };
  await store.run("network.update", { id: result.networkId, body: { ...NETWORKS.campus, ...networkDefaults } }, owner);
  await store.run("network.create", { body: { id: HARBOUR_ID, ...NETWORKS.harbour, ...networkDefaults } }, owner);
  // The user who tries the demo.
  const you = { email: DEMO_EMAIL, name: DEMO_NAME, role: "Owner" } as const;
  await store.run("user.update", { id: result.userId, body: you, passwordHash: null }, owner);
  for (const person of Object.values<Person>(PEOPLE)) {
    const { email, name, role, sites } = person;
    const network_ids = (sites ?? []).map((site) => store.networkId(site));
    await store.run("user.create", { body: { email, name, role, network_ids }, passwordHash }, owner);
  }
  await createTagsAndSubnets(store);
  await createCredentials(store, secret);
}

async function createTagsAndSubnets(store: DemoStore): Promise<void> {
  const ada = store.actorOf("ada", SETUP_REASON);
  for (const tag of TAGS) await store.run("tag.create", { body: { ...tag, is_application: false } }, ada);
  for (const { site, number, name } of VLANS)
    await store.run("vlan.create", { body: { network_id: store.networkId(site), number, name } }, ada);
  // The new phones' subnet is added later; until then the old one has its plain name.
  for (const subnet of SUBNETS.filter(({ period }) => period?.from === undefined)) {
    const name = subnet.name.replace(" (old)", "");
    await addSubnet(store, { ...subnet, name }, SETUP_REASON);
  }
}

/** Creates a subnet with its ranges, by Ada. */
export async function addSubnet(store: DemoStore, subnet: PlannedSubnet, reason: string): Promise<void> {
  const { site, cidr, name, type, vlan, ranges = [] } = subnet;
  const network_id = store.networkId(site);
  const ada = store.actorOf("ada", reason);
  const vlan_id =
    vlan === undefined
      ? null
      : store.find(vlanKind, (each) => each.network_id === network_id && each.number === vlan).id;
  const { id: subnet_id } = await store.run(
    "subnet.create",
    // Communities are sent to managed devices, not to desks.
    {
      body: { network_id, cidr, name, subnet_type: type, vlan_id, accepts_credentials: type === "Management" },
    },
    ada,
  );
  for (const [first, last, purpose, description] of ranges)
    await store.run("ip_range.create", { body: { network_id, subnet_id, first, last, purpose, description } }, ada);
}

export async function addSchedule(store: DemoStore, { name, site, kind, cron }: ScanSchedule, actor: CommandActor) {
  await store.run("schedule.create", { body: { network_id: store.networkId(site), name, kind, cron } }, actor);
}

async function createCredentials(store: DemoStore, secret: Random): Promise<void> {
  const ada = store.actorOf("ada", SETUP_REASON);
  const { organizationId: organization_id } = store;
  const assignedTo = (site: Site) => ({
    organization_id,
    assigned_network_ids: [store.networkId(site)],
    host_assignments: [],
    tags: [],
  });
  const inline = (value: string) => ({ mode: "Inline", value }) as const;
  await store.run(
    "credential.create",
    {
      body: {
        name: "Campus switches, read-only",
        credential_type: { type: "SnmpV2c", community: inline(SNMP_NAMES.campus) },
        ...assignedTo("campus"),
      },
    },
    ada,
  );
  await store.run(
    "credential.create",
    {
      body: {
        name: "Harbour, SNMPv3",
        credential_type: {
          type: "SnmpV3",
          security_name: SNMP_NAMES.harbour,
          auth_protocol: "Sha256",
          auth_password: inline(SNMP_PASSWORD),
          priv_protocol: "Aes128",
          priv_password: inline(SNMP_PASSWORD),
        },
        ...assignedTo("harbour"),
      },
    },
    ada,
  );
  for (const schedule of SCAN_SCHEDULES) if (schedule.from === undefined) await addSchedule(store, schedule, ada);
  const priya = store.actorOf("priya", SETUP_REASON);
  // The key's text is discarded: a demo for others must not come with a well-known key.
  const text = generateApiKey(secret);
  await store.run(
    "api_key.create",
    {
      body: {
        organization_id,
        user_id: priya.userId as string,
        name: KEY_NAME,
        permissions: "Member",
        tags: [],
        expires_at: null,
        is_enabled: true,
      },
      secret: { text, hash: hashApiKey(text), mask: maskApiKey(text) },
    },
    priya,
  );
}
