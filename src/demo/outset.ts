// The demo's setup on the first day: networks, VLANs, subnets, credentials, users and scan schedules.

import { type CommandActor, SYSTEM_AUTHOR } from "../access/actor.ts";
import { generateApiKey, hashApiKey, maskApiKey } from "../access/api-key.ts";
import type { Random } from "../base/random.ts";
import type { WriteQueue } from "../db/writing/write-queue.ts";
import type { AllCommands } from "../registry/commands.ts";
import { vlanKind } from "../resources/vlans/vlan.ts";
import {
  DEMO_EMAIL,
  DEMO_NAME,
  HARBOUR_ID,
  KEY_NAME,
  NETWORKS,
  ORGANIZATION,
  PEOPLE,
  type Person,
  ROUNDS,
  type Round,
  TAGS,
} from "./cast.ts";
import type { Crew } from "./crew.ts";
import type { Site } from "./equipment.ts";
import { type PlannedSubnet, SUBNETS, VLANS } from "./places.ts";
import { SNMP_PASSWORD, SNMP_WORDS } from "./probes.ts";

/** A machine unseen for this long is stale. */
const STALE_AFTER_HOURS = 7 * 24;
const WHY = "Inventory set up";

/**
 * @param passwordHash shared by all users
 * @param secret source of unpredictable values
 */
export async function setOut(
  crew: Crew,
  writes: WriteQueue<AllCommands>,
  passwordHash: string,
  secret: Random,
): Promise<void> {
  const named = { organizationName: ORGANIZATION, networkName: NETWORKS.campus.name, email: DEMO_EMAIL };
  const { result } = await writes.run(
    "organization.set_up",
    { ...named, passwordHash, onlyFirst: true },
    SYSTEM_AUTHOR,
  );
  const owner = { ...crew.system("netledger"), reason: WHY };
  const described = { stale_after_hours: STALE_AFTER_HOURS, tags: [] };
  await crew.run("network.update", { id: result.networkId, body: { ...NETWORKS.campus, ...described } }, owner);
  await crew.run("network.create", { body: { id: HARBOUR_ID, ...NETWORKS.harbour, ...described } }, owner);
  // The user who tries the demo.
  const you = { email: DEMO_EMAIL, name: DEMO_NAME, role: "Owner" } as const;
  await crew.run("user.update", { id: result.userId, body: you, passwordHash: null }, owner);
  for (const person of Object.values<Person>(PEOPLE)) {
    const { email, name, role, sites } = person;
    const network_ids = (sites ?? []).map((site) => crew.networkId(site));
    await crew.run("user.create", { body: { email, name, role, network_ids }, passwordHash }, owner);
  }
  await describePlaces(crew);
  await giveOut(crew, secret);
}

async function describePlaces(crew: Crew): Promise<void> {
  const ada = crew.by("ada", WHY);
  for (const tag of TAGS) await crew.run("tag.create", { body: { ...tag, is_application: false } }, ada);
  for (const { site, number, name } of VLANS)
    await crew.run("vlan.create", { body: { network_id: crew.networkId(site), number, name } }, ada);
  // The new phones' subnet is added later; until then the old one has its plain name.
  for (const subnet of SUBNETS.filter(({ period }) => period?.from === undefined)) {
    const name = subnet.name.replace(" (old)", "");
    await enterSubnet(crew, { ...subnet, name }, WHY);
  }
}

/** Creates a subnet with its ranges, by Ada. */
export async function enterSubnet(crew: Crew, subnet: PlannedSubnet, why: string): Promise<void> {
  const { site, cidr, name, type, vlan, ranges = [] } = subnet;
  const network_id = crew.networkId(site);
  const ada = crew.by("ada", why);
  const vlan_id =
    vlan === undefined ? null : crew.one(vlanKind, (each) => each.network_id === network_id && each.number === vlan).id;
  const { id: subnet_id } = await crew.run(
    "subnet.create",
    // Communities are sent to managed devices, not to desks.
    {
      body: { network_id, cidr, name, subnet_type: type, vlan_id, accepts_credentials: type === "Management" },
    },
    ada,
  );
  for (const [first, last, purpose, description] of ranges)
    await crew.run("ip_range.create", { body: { network_id, subnet_id, first, last, purpose, description } }, ada);
}

export async function enterSchedule(crew: Crew, { name, site, kind, cron }: Round, actor: CommandActor) {
  await crew.run("schedule.create", { body: { network_id: crew.networkId(site), name, kind, cron } }, actor);
}

async function giveOut(crew: Crew, secret: Random): Promise<void> {
  const ada = crew.by("ada", WHY);
  const { organizationId: organization_id } = crew;
  const of = (site: Site) => ({
    organization_id,
    assigned_network_ids: [crew.networkId(site)],
    host_assignments: [],
    tags: [],
  });
  const inline = (value: string) => ({ mode: "Inline", value }) as const;
  await crew.run(
    "credential.create",
    {
      body: {
        name: "Campus switches, read-only",
        credential_type: { type: "SnmpV2c", community: inline(SNMP_WORDS.campus) },
        ...of("campus"),
      },
    },
    ada,
  );
  await crew.run(
    "credential.create",
    {
      body: {
        name: "Harbour, SNMPv3",
        credential_type: {
          type: "SnmpV3",
          security_name: SNMP_WORDS.harbour,
          auth_protocol: "Sha256",
          auth_password: inline(SNMP_PASSWORD),
          priv_protocol: "Aes128",
          priv_password: inline(SNMP_PASSWORD),
        },
        ...of("harbour"),
      },
    },
    ada,
  );
  for (const round of ROUNDS) if (round.from === undefined) await enterSchedule(crew, round, ada);
  const priya = crew.by("priya", WHY);
  // The key's text is discarded: a demo for others must not come with a well-known key.
  const text = generateApiKey(secret);
  await crew.run(
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
