// Names of record kinds in sentences.

import { expect, test } from "bun:test";
import { countedEntities, oneEntity } from "../../src/base/entity-words.ts";
import { KINDS } from "../../src/records/resources.ts";
import { apiKeyKind } from "../../src/resources/api-keys/api-key.ts";
import { fdbEntryKind } from "../../src/resources/fdb-entries/fdb-entry.ts";
import { hostKind } from "../../src/resources/hosts/host.ts";
import { ifEntryKind } from "../../src/resources/if-entries/if-entry.ts";
import { ipAddressKind } from "../../src/resources/ip-addresses/ip-address.ts";
import { organizationKind } from "../../src/resources/organizations/organization.ts";
import { userKind } from "../../src/resources/users/user.ts";
import { vlanKind } from "../../src/resources/vlans/vlan.ts";

test("every kind has words for sentences", () => {
  for (const kind of KINDS)
    expect([kind.name, oneEntity(kind), countedEntities(kind, 2)]).toEqual([
      kind.name,
      expect.stringMatching(/^(a [^aeio]|an [AIaeio])[\w ]+$/),
      expect.stringMatching(/^2 [\w ]+s$/),
    ]);
});

test("acronyms stay in capitals, and the article follows the sound", () => {
  expect(
    [vlanKind, ipAddressKind, ifEntryKind, apiKeyKind, userKind, organizationKind, hostKind].map(oneEntity),
  ).toEqual(["a VLAN", "an IP address", "an interface entry", "an API key", "a user", "an organization", "a host"]);
  expect([countedEntities(ifEntryKind, 1), countedEntities(ifEntryKind, 2), countedEntities(fdbEntryKind, 0)]).toEqual([
    "1 interface entry",
    "2 interface entries",
    "0 forwarding entries",
  ]);
});
