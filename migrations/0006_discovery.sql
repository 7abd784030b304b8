-- Discovery. Schedules and what is ignored are records with history; scans are a log beside the ledger.

-- When a network is scanned.
CREATE TABLE schedules (
  n INTEGER PRIMARY KEY REFERENCES history_records (n),
  organization_n INTEGER NOT NULL REFERENCES organizations (n),
  network_n INTEGER NOT NULL REFERENCES networks (n),
  is_enabled INTEGER NOT NULL CHECK (is_enabled IN (0, 1)),
  sequence INTEGER NOT NULL,
  identity TEXT UNIQUE,
  composed INTEGER NOT NULL,
  sort_keys TEXT,
  members TEXT NOT NULL
) STRICT;
CREATE INDEX schedules_by_organization ON schedules (organization_n);
CREATE INDEX schedules_by_network ON schedules (network_n);

-- What a person has deleted and discovery must not bring back. host_n: of a part of a host that is still there.
CREATE TABLE ignored (
  n INTEGER PRIMARY KEY REFERENCES history_records (n),
  organization_n INTEGER NOT NULL REFERENCES organizations (n),
  network_n INTEGER NOT NULL REFERENCES networks (n),
  host_n INTEGER REFERENCES hosts (n),
  sequence INTEGER NOT NULL,
  identity TEXT UNIQUE,
  composed INTEGER NOT NULL,
  sort_keys TEXT,
  members TEXT NOT NULL
) STRICT;
CREATE INDEX ignored_by_organization ON ignored (organization_n);
CREATE INDEX ignored_by_network ON ignored (network_n);
CREATE INDEX ignored_by_host ON ignored (host_n) WHERE host_n IS NOT NULL;

-- What makes two sightings the same host is looked up by these, within a network.
CREATE INDEX hosts_by_serial_number ON hosts (network_n, lower(json_extract('{' || members || '}', '$.serial_number')));
CREATE INDEX hosts_by_chassis_id ON hosts (network_n, json_extract('{' || members || '}', '$.chassis_id'));
CREATE INDEX hosts_by_sys_name ON hosts (network_n, lower(json_extract('{' || members || '}', '$.sys_name')));
CREATE INDEX if_entries_by_mac_address ON if_entries (mac_address) WHERE mac_address IS NOT NULL;
CREATE INDEX ip_addresses_by_mac_address ON ip_addresses (mac_address) WHERE mac_address IS NOT NULL;

-- Not history: what was scanned, and what came of it. Instants are UTC milliseconds.
CREATE TABLE discovery_scans (
  -- In the order of their requests: UUIDv7.
  id             TEXT PRIMARY KEY,
  organization_n INTEGER NOT NULL REFERENCES history_records (n),
  network_n      INTEGER NOT NULL REFERENCES history_records (n),
  status         TEXT NOT NULL CHECK (status IN ('Queued', 'Running', 'Completed', 'Cancelled', 'Failed', 'Interrupted')),
  requested_at   INTEGER NOT NULL,
  started_at     INTEGER,
  ended_at       INTEGER,
  -- JSON objects: what was asked for and by whom; how far it came; what came of it.
  request        TEXT NOT NULL,
  progress       TEXT,
  outcome        TEXT
) STRICT, WITHOUT ROWID;
CREATE INDEX discovery_scans_by_network ON discovery_scans (network_n, id);
CREATE INDEX discovery_scans_by_organization ON discovery_scans (organization_n, id);
CREATE INDEX discovery_scans_under_way ON discovery_scans (status) WHERE status IN ('Queued', 'Running');

CREATE TABLE discovery_findings (
  scan_id TEXT NOT NULL REFERENCES discovery_scans (id) ON DELETE CASCADE,
  ordinal INTEGER NOT NULL,
  type    TEXT NOT NULL,
  finding TEXT NOT NULL,
  PRIMARY KEY (scan_id, ordinal)
) STRICT, WITHOUT ROWID;

-- Which credential opened an address the last time: it is tried first.
CREATE TABLE discovery_credentials (
  network_n     INTEGER NOT NULL REFERENCES history_records (n),
  ip_address    TEXT NOT NULL,
  credential_n  INTEGER NOT NULL REFERENCES history_records (n),
  key_extension TEXT,
  PRIMARY KEY (network_n, ip_address)
) STRICT, WITHOUT ROWID;
CREATE INDEX discovery_credentials_by_credential ON discovery_credentials (credential_n);

-- What a device last called its VLANs, as a JSON object by number: a name follows the device that it came from.
CREATE TABLE discovery_vlan_names (
  host_n INTEGER PRIMARY KEY REFERENCES history_records (n),
  names  TEXT NOT NULL
) STRICT;

-- Up to which of its due times a schedule has been looked after.
CREATE TABLE discovery_schedule_runs (
  schedule_n INTEGER PRIMARY KEY REFERENCES history_records (n),
  due_at     INTEGER NOT NULL
) STRICT;

-- The MAC addresses by which hosts without interface entries are known again when they come back under another address.
CREATE TABLE discovery_macs (
  network_n   INTEGER NOT NULL REFERENCES history_records (n),
  mac_address TEXT NOT NULL,
  host_n      INTEGER NOT NULL REFERENCES history_records (n),
  PRIMARY KEY (network_n, mac_address)
) STRICT, WITHOUT ROWID;
CREATE INDEX discovery_macs_by_host ON discovery_macs (host_n);

-- What a device told the last time, and what of the inventory that was about: a device that tells the same of a host that nobody has changed
-- since has only to be marked as seen.
CREATE TABLE discovery_tellings (
  network_n        INTEGER NOT NULL REFERENCES history_records (n),
  ip_address       TEXT NOT NULL,
  host_n           INTEGER NOT NULL REFERENCES history_records (n),
  -- The transaction that wrote the host's newest version then, and the one that last changed what is ignored in the network.
  host_sequence    INTEGER NOT NULL,
  ignored_sequence INTEGER NOT NULL,
  digest           TEXT NOT NULL,
  -- JSON array of the numbers of the records that it was about, the host's not among them.
  seen             TEXT NOT NULL,
  PRIMARY KEY (network_n, ip_address)
) STRICT, WITHOUT ROWID;
CREATE INDEX discovery_tellings_by_host ON discovery_tellings (host_n);
