-- The inventory: live tables, one per kind, with the newest version of every live record and the columns that its kind
-- is filtered and constrained by. `sequence` to `members` are the version's; `identity` is unique among live records,
-- NULL if the kind allows duplicates. The writer fills them by `columns` and `scopes` of the kind (src/db/kind.ts).

CREATE TABLE organizations (
  n INTEGER PRIMARY KEY REFERENCES history_records (n),
  organization_n INTEGER NOT NULL,
  sequence INTEGER NOT NULL,
  identity TEXT UNIQUE,
  composed INTEGER NOT NULL,
  sort_keys TEXT,
  members TEXT NOT NULL
) STRICT;

CREATE TABLE networks (
  n INTEGER PRIMARY KEY REFERENCES history_records (n),
  organization_n INTEGER NOT NULL REFERENCES organizations (n),
  sequence INTEGER NOT NULL,
  identity TEXT UNIQUE,
  composed INTEGER NOT NULL,
  sort_keys TEXT,
  members TEXT NOT NULL
) STRICT;
CREATE INDEX networks_by_organization ON networks (organization_n);

CREATE TABLE vlans (
  n INTEGER PRIMARY KEY REFERENCES history_records (n),
  organization_n INTEGER NOT NULL REFERENCES organizations (n),
  network_n INTEGER NOT NULL REFERENCES networks (n),
  number INTEGER NOT NULL CHECK (number BETWEEN 1 AND 4094),
  sequence INTEGER NOT NULL,
  identity TEXT UNIQUE,
  composed INTEGER NOT NULL,
  sort_keys TEXT,
  members TEXT NOT NULL
) STRICT;
CREATE INDEX vlans_by_organization ON vlans (organization_n);
CREATE INDEX vlans_by_network ON vlans (network_n);
-- Records with custom fields, here and below: read when a definition is changed or deleted. JSON escapes the quotes
-- within a text, so the quoted name before a brace is always the key.
CREATE INDEX vlans_with_custom_fields ON vlans (organization_n) WHERE instr(members, '"custom_fields":{') > 0;

CREATE TABLE subnets (
  n INTEGER PRIMARY KEY REFERENCES history_records (n),
  organization_n INTEGER NOT NULL REFERENCES organizations (n),
  network_n INTEGER NOT NULL REFERENCES networks (n),
  vlan_n INTEGER REFERENCES vlans (n),
  cidr TEXT NOT NULL,
  sequence INTEGER NOT NULL,
  identity TEXT UNIQUE,
  composed INTEGER NOT NULL,
  sort_keys TEXT,
  members TEXT NOT NULL,
  -- Whether the network's credentials may be sent into it.
  accepts_credentials INTEGER NOT NULL DEFAULT 0 CHECK (accepts_credentials IN (0, 1))
) STRICT;
CREATE INDEX subnets_by_organization ON subnets (organization_n);
CREATE INDEX subnets_by_network ON subnets (network_n);
CREATE INDEX subnets_by_vlan ON subnets (vlan_n) WHERE vlan_n IS NOT NULL;
CREATE INDEX subnets_with_custom_fields ON subnets (organization_n) WHERE instr(members, '"custom_fields":{') > 0;

-- Ranges of addresses within a subnet.
CREATE TABLE ip_ranges (
  n INTEGER PRIMARY KEY REFERENCES history_records (n),
  organization_n INTEGER NOT NULL REFERENCES organizations (n),
  network_n INTEGER NOT NULL REFERENCES networks (n),
  subnet_n INTEGER NOT NULL REFERENCES subnets (n),
  sequence INTEGER NOT NULL,
  identity TEXT UNIQUE,
  composed INTEGER NOT NULL,
  -- Ends of an exclusive range (src/base/ip.ts, ipSortKey); NULL if it may overlap others.
  claims_first TEXT,
  claims_last TEXT,
  sort_keys TEXT,
  members TEXT NOT NULL
) STRICT;
CREATE INDEX ip_ranges_by_organization ON ip_ranges (organization_n);
CREATE INDEX ip_ranges_by_network ON ip_ranges (network_n);
CREATE INDEX ip_ranges_by_subnet ON ip_ranges (subnet_n);
CREATE INDEX ip_ranges_by_claim ON ip_ranges (network_n, claims_first) WHERE claims_first IS NOT NULL;
CREATE INDEX ip_ranges_with_custom_fields ON ip_ranges (organization_n) WHERE instr(members, '"custom_fields":{') > 0;

CREATE TABLE tags (
  n INTEGER PRIMARY KEY REFERENCES history_records (n),
  organization_n INTEGER NOT NULL REFERENCES organizations (n),
  sequence INTEGER NOT NULL,
  identity TEXT UNIQUE,
  composed INTEGER NOT NULL,
  sort_keys TEXT,
  members TEXT NOT NULL
) STRICT;
CREATE INDEX tags_by_organization ON tags (organization_n);

-- Definitions of fields that an organization adds to its records.
CREATE TABLE custom_fields (
  n INTEGER PRIMARY KEY REFERENCES history_records (n),
  organization_n INTEGER NOT NULL REFERENCES organizations (n),
  sequence INTEGER NOT NULL,
  identity TEXT UNIQUE,
  composed INTEGER NOT NULL,
  sort_keys TEXT,
  members TEXT NOT NULL
) STRICT;
CREATE INDEX custom_fields_by_organization ON custom_fields (organization_n);

-- Named timestamps of an organization (network_n is NULL) or of a network.
CREATE TABLE markers (
  n INTEGER PRIMARY KEY REFERENCES history_records (n),
  organization_n INTEGER NOT NULL REFERENCES organizations (n),
  network_n INTEGER REFERENCES networks (n),
  sequence INTEGER NOT NULL,
  identity TEXT UNIQUE,
  composed INTEGER NOT NULL,
  -- The name, case-folded (src/base/text.ts).
  name_key TEXT NOT NULL,
  sort_keys TEXT,
  members TEXT NOT NULL
) STRICT;
CREATE INDEX markers_by_organization ON markers (organization_n);
CREATE INDEX markers_by_network ON markers (network_n);
CREATE INDEX markers_by_name ON markers (organization_n, name_key);

CREATE TABLE hosts (
  n INTEGER PRIMARY KEY REFERENCES history_records (n),
  organization_n INTEGER NOT NULL REFERENCES organizations (n),
  network_n INTEGER NOT NULL REFERENCES networks (n),
  name TEXT NOT NULL,
  hostname TEXT,
  sequence INTEGER NOT NULL,
  identity TEXT UNIQUE,
  composed INTEGER NOT NULL,
  sort_keys TEXT,
  members TEXT NOT NULL
) STRICT;
CREATE INDEX hosts_by_organization ON hosts (organization_n);
CREATE INDEX hosts_by_network ON hosts (network_n);
-- Signs that make two sightings the same host, within a network (src/discovery/reconcile/known-hosts.ts).
CREATE INDEX hosts_by_serial_number ON hosts (network_n, lower(json_extract('{' || members || '}', '$.serial_number')));
CREATE INDEX hosts_by_chassis_id ON hosts (network_n, json_extract('{' || members || '}', '$.chassis_id'));
CREATE INDEX hosts_by_sys_name ON hosts (network_n, lower(json_extract('{' || members || '}', '$.sys_name')));
-- For the summary.
CREATE INDEX hosts_stale ON hosts (network_n) WHERE instr(members, '"stale_since":') > 0;
CREATE INDEX hosts_with_custom_fields ON hosts (organization_n) WHERE instr(members, '"custom_fields":{') > 0;

CREATE TABLE ip_addresses (
  n INTEGER PRIMARY KEY REFERENCES history_records (n),
  organization_n INTEGER NOT NULL REFERENCES organizations (n),
  network_n INTEGER NOT NULL REFERENCES networks (n),
  host_n INTEGER NOT NULL REFERENCES hosts (n),
  subnet_n INTEGER NOT NULL REFERENCES subnets (n),
  ip_address TEXT NOT NULL,
  mac_address TEXT,
  sequence INTEGER NOT NULL,
  identity TEXT UNIQUE,
  composed INTEGER NOT NULL,
  sort_keys TEXT,
  members TEXT NOT NULL
) STRICT;
CREATE INDEX ip_addresses_by_organization ON ip_addresses (organization_n);
CREATE INDEX ip_addresses_by_network ON ip_addresses (network_n);
CREATE INDEX ip_addresses_by_host ON ip_addresses (host_n);
CREATE INDEX ip_addresses_by_address ON ip_addresses (ip_address);
CREATE INDEX ip_addresses_by_mac_address ON ip_addresses (mac_address) WHERE mac_address IS NOT NULL;
CREATE INDEX ip_addresses_by_subnet ON ip_addresses (subnet_n, ip_address);

-- Interface entries (IF-MIB).
CREATE TABLE if_entries (
  n INTEGER PRIMARY KEY REFERENCES history_records (n),
  organization_n INTEGER NOT NULL REFERENCES organizations (n),
  network_n INTEGER NOT NULL REFERENCES networks (n),
  host_n INTEGER NOT NULL REFERENCES hosts (n),
  if_index INTEGER NOT NULL,
  ip_address_n INTEGER REFERENCES ip_addresses (n),
  native_vlan_n INTEGER REFERENCES vlans (n),
  mac_address TEXT,
  sequence INTEGER NOT NULL,
  identity TEXT UNIQUE,
  composed INTEGER NOT NULL,
  sort_keys TEXT,
  members TEXT NOT NULL
) STRICT;
CREATE INDEX if_entries_by_organization ON if_entries (organization_n);
CREATE INDEX if_entries_by_network ON if_entries (network_n);
CREATE INDEX if_entries_by_host ON if_entries (host_n);
CREATE INDEX if_entries_by_ip_address ON if_entries (ip_address_n) WHERE ip_address_n IS NOT NULL;
CREATE INDEX if_entries_by_native_vlan ON if_entries (native_vlan_n) WHERE native_vlan_n IS NOT NULL;
CREATE INDEX if_entries_by_mac_address ON if_entries (mac_address) WHERE mac_address IS NOT NULL;
CREATE INDEX if_entries_with_custom_fields ON if_entries (organization_n) WHERE instr(members, '"custom_fields":{') > 0;

-- Forwarding entries: MAC addresses learned on an interface (BRIDGE-MIB, Q-BRIDGE-MIB).
CREATE TABLE fdb_entries (
  n INTEGER PRIMARY KEY REFERENCES history_records (n),
  organization_n INTEGER NOT NULL REFERENCES organizations (n),
  network_n INTEGER NOT NULL REFERENCES networks (n),
  host_n INTEGER NOT NULL REFERENCES hosts (n),
  if_entry_n INTEGER NOT NULL REFERENCES if_entries (n),
  mac_address TEXT NOT NULL,
  sequence INTEGER NOT NULL,
  identity TEXT UNIQUE,
  composed INTEGER NOT NULL,
  sort_keys TEXT,
  members TEXT NOT NULL
) STRICT;
CREATE INDEX fdb_entries_by_organization ON fdb_entries (organization_n);
CREATE INDEX fdb_entries_by_network ON fdb_entries (network_n);
CREATE INDEX fdb_entries_by_host ON fdb_entries (host_n);
CREATE INDEX fdb_entries_by_if_entry ON fdb_entries (if_entry_n);
CREATE INDEX fdb_entries_by_mac_address ON fdb_entries (mac_address);

-- Open TCP and UDP ports.
CREATE TABLE ports (
  n INTEGER PRIMARY KEY REFERENCES history_records (n),
  organization_n INTEGER NOT NULL REFERENCES organizations (n),
  network_n INTEGER NOT NULL REFERENCES networks (n),
  host_n INTEGER NOT NULL REFERENCES hosts (n),
  number INTEGER NOT NULL CHECK (number BETWEEN 1 AND 65535),
  protocol TEXT NOT NULL CHECK (protocol IN ('Tcp', 'Udp')),
  sequence INTEGER NOT NULL,
  identity TEXT UNIQUE,
  composed INTEGER NOT NULL,
  sort_keys TEXT,
  members TEXT NOT NULL
) STRICT;
CREATE INDEX ports_by_organization ON ports (organization_n);
CREATE INDEX ports_by_network ON ports (network_n);
CREATE INDEX ports_by_host ON ports (host_n);

CREATE TABLE services (
  n INTEGER PRIMARY KEY REFERENCES history_records (n),
  organization_n INTEGER NOT NULL REFERENCES organizations (n),
  network_n INTEGER NOT NULL REFERENCES networks (n),
  host_n INTEGER NOT NULL REFERENCES hosts (n),
  name TEXT NOT NULL,
  service_definition TEXT NOT NULL,
  sequence INTEGER NOT NULL,
  identity TEXT UNIQUE,
  composed INTEGER NOT NULL,
  sort_keys TEXT,
  members TEXT NOT NULL
) STRICT;
CREATE INDEX services_by_organization ON services (organization_n);
CREATE INDEX services_by_network ON services (network_n);
CREATE INDEX services_by_host ON services (host_n);
CREATE INDEX services_with_custom_fields ON services (organization_n) WHERE instr(members, '"custom_fields":{') > 0;

-- Ports and addresses that a service listens on.
CREATE TABLE bindings (
  n INTEGER PRIMARY KEY REFERENCES history_records (n),
  organization_n INTEGER NOT NULL REFERENCES organizations (n),
  network_n INTEGER NOT NULL REFERENCES networks (n),
  host_n INTEGER NOT NULL REFERENCES hosts (n),
  service_n INTEGER NOT NULL REFERENCES services (n),
  port_n INTEGER REFERENCES ports (n),
  ip_address_n INTEGER REFERENCES ip_addresses (n),
  sequence INTEGER NOT NULL,
  identity TEXT UNIQUE,
  composed INTEGER NOT NULL,
  sort_keys TEXT,
  members TEXT NOT NULL
) STRICT;
CREATE INDEX bindings_by_organization ON bindings (organization_n);
CREATE INDEX bindings_by_network ON bindings (network_n);
CREATE INDEX bindings_by_host ON bindings (host_n);
CREATE INDEX bindings_by_service ON bindings (service_n);
CREATE INDEX bindings_by_port ON bindings (port_n) WHERE port_n IS NOT NULL;
CREATE INDEX bindings_by_ip_address ON bindings (ip_address_n) WHERE ip_address_n IS NOT NULL;

-- Hosts found to be one: the former one, which was closed, and the one it went into. In force until the former host
-- comes back. Hosts and network may have been deleted since.
CREATE TABLE host_consolidations (
  n INTEGER PRIMARY KEY REFERENCES history_records (n),
  organization_n INTEGER NOT NULL REFERENCES organizations (n),
  former_n INTEGER NOT NULL REFERENCES history_records (n),
  into_n INTEGER NOT NULL REFERENCES history_records (n),
  within_n INTEGER NOT NULL REFERENCES history_records (n),
  -- Sequence of the transaction that closed the former host.
  closed_in INTEGER NOT NULL CHECK (closed_in > 0),
  sequence INTEGER NOT NULL,
  identity TEXT UNIQUE,
  composed INTEGER NOT NULL,
  sort_keys TEXT,
  members TEXT NOT NULL
) STRICT;
CREATE INDEX host_consolidations_by_organization ON host_consolidations (organization_n);
CREATE INDEX host_consolidations_by_former ON host_consolidations (former_n, closed_in);
CREATE INDEX host_consolidations_by_survivor ON host_consolidations (into_n);
CREATE INDEX host_consolidations_by_network ON host_consolidations (within_n);

-- Accepted conflicts, silent while the same records claim the same thing. Never removed: answers about the past need
-- them. Conflicts themselves are not stored.
CREATE TABLE conflict_acceptances (
  n INTEGER PRIMARY KEY REFERENCES history_records (n),
  organization_n INTEGER NOT NULL REFERENCES organizations (n),
  fingerprint TEXT NOT NULL,
  -- UTC milliseconds.
  accepted_at INTEGER NOT NULL,
  -- NULL while it is in force.
  withdrawn_at INTEGER,
  sequence INTEGER NOT NULL,
  identity TEXT UNIQUE,
  composed INTEGER NOT NULL,
  sort_keys TEXT,
  members TEXT NOT NULL
) STRICT;
CREATE INDEX conflict_acceptances_by_organization ON conflict_acceptances (organization_n);
CREATE INDEX conflict_acceptances_by_fingerprint ON conflict_acceptances (organization_n, fingerprint);

-- Positions of devices on a network's map, the same for the present and the past. The position of a deleted host stays.
CREATE TABLE map_positions (
  network_n INTEGER NOT NULL REFERENCES networks (n) ON DELETE CASCADE,
  -- A host's id, or `unknown-…` for a device outside the inventory.
  node_id   TEXT NOT NULL,
  x         INTEGER NOT NULL,
  y         INTEGER NOT NULL,
  -- By a user, or by the automatic layout.
  placed    TEXT NOT NULL CHECK (placed IN ('person', 'layout')),
  checksum  INTEGER NOT NULL,
  PRIMARY KEY (network_n, node_id)
) STRICT, WITHOUT ROWID;
