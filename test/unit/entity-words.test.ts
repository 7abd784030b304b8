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
  for (const kind of KINDS) {
    expect(oneEntity(kind)).toMatch(/^(a [^aeio]|an [AIaeio])[\w ]+$/);
    expect(countedEntities(kind, 2)).toMatch(/^2 [\w ]+s$/);
  }
});

test("acronyms stay in capitals, and the article follows the sound", () => {
  const kinds = [vlanKind, ipAddressKind, ifEntryKind, apiKeyKind, userKind, organizationKind, hostKind];
  const words = "a VLAN, an IP address, an interface entry, an API key, a user, an organization, a host";
  expect(kinds.map(oneEntity).join(", ")).toBe(words);
  expect(countedEntities(ifEntryKind, 1)).toBe("1 interface entry");
  expect(countedEntities(ifEntryKind, 2)).toBe("2 interface entries");
  expect(countedEntities(fdbEntryKind, 0)).toBe("0 forwarding entries");
});
