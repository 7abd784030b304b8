-- The live tables: the newest version of every record that is alive, with what its kind is filtered and constrained by.
-- `identity` names the real thing among the living (NULL where several may be alike); `members` is the newest version's.

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
  members TEXT NOT NULL
) STRICT;
CREATE INDEX subnets_by_organization ON subnets (organization_n);
CREATE INDEX subnets_by_network ON subnets (network_n);
CREATE INDEX subnets_by_vlan ON subnets (vlan_n) WHERE vlan_n IS NOT NULL;

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

CREATE TABLE credentials (
  n INTEGER PRIMARY KEY REFERENCES history_records (n),
  organization_n INTEGER NOT NULL REFERENCES organizations (n),
  sequence INTEGER NOT NULL,
  identity TEXT UNIQUE,
  composed INTEGER NOT NULL,
  sort_keys TEXT,
  members TEXT NOT NULL
) STRICT;
CREATE INDEX credentials_by_organization ON credentials (organization_n);

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
CREATE INDEX ip_addresses_by_subnet ON ip_addresses (subnet_n);
CREATE INDEX ip_addresses_by_address ON ip_addresses (ip_address);

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

-- A credential for a whole network (host_n NULL), or for one host; its addresses are in live_links.
CREATE TABLE credential_assignments (
  n INTEGER PRIMARY KEY REFERENCES history_records (n),
  organization_n INTEGER NOT NULL REFERENCES organizations (n),
  network_n INTEGER NOT NULL REFERENCES networks (n),
  host_n INTEGER REFERENCES hosts (n),
  credential_n INTEGER NOT NULL REFERENCES credentials (n),
  sequence INTEGER NOT NULL,
  identity TEXT UNIQUE,
  composed INTEGER NOT NULL,
  sort_keys TEXT,
  members TEXT NOT NULL
) STRICT;
CREATE INDEX credential_assignments_by_organization ON credential_assignments (organization_n);
CREATE INDEX credential_assignments_by_network ON credential_assignments (network_n);
CREATE INDEX credential_assignments_by_host ON credential_assignments (host_n) WHERE host_n IS NOT NULL;
CREATE INDEX credential_assignments_by_credential ON credential_assignments (credential_n);

-- Inline secrets, sealed with the appliance's key: never in history, gone with their credential.
CREATE TABLE credential_secrets (
  credential_n INTEGER NOT NULL REFERENCES credentials (n) ON DELETE CASCADE,
  field TEXT NOT NULL,
  sealed BLOB NOT NULL,
  PRIMARY KEY (credential_n, field)
) STRICT, WITHOUT ROWID;
