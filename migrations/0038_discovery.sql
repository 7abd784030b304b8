-- Discovery. Credentials, their assignments, schedules and ignored entries are records with history; scans, and what
-- discovery remembers of devices, are not. Times are UTC milliseconds.

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

-- Inline secrets, sealed with the appliance's key: never in history, deleted with their credential.
CREATE TABLE credential_secrets (
  credential_n INTEGER NOT NULL REFERENCES credentials (n) ON DELETE CASCADE,
  field TEXT NOT NULL,
  -- Empty for a secret that was dropped.
  sealed BLOB NOT NULL,
  checksum INTEGER NOT NULL DEFAULT 0,
  PRIMARY KEY (credential_n, field)
) STRICT, WITHOUT ROWID;

-- A credential of a whole network (host_n is NULL), or of a host; its addresses are in live_links.
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

-- Addresses that a host's credential may be sent to: sent there by an Admin, or reported by the device itself when
-- asked with it. The ledger has the writes that began and ended each.
CREATE TABLE credential_coverage (
  assignment_n INTEGER NOT NULL REFERENCES history_records (n),
  -- As in the host's address: another value is another address.
  ip_address   TEXT NOT NULL,
  -- Sequences in which it is in force, [since, until); NULL for no end.
  since        INTEGER NOT NULL CHECK (since >= 0),
  until        INTEGER CHECK (until > 0 AND until >= since),
  origin       TEXT NOT NULL CHECK (origin IN ('Assigned', 'Confirmed', 'Told', 'Restored')),
  -- Over the row without `until`, which is added (src/db/row-checksum.ts): the triggers below set it in SQL.
  checksum     INTEGER NOT NULL DEFAULT 0,
  PRIMARY KEY (assignment_n, ip_address, since)
) STRICT, WITHOUT ROWID;
CREATE INDEX credential_coverage_by_since ON credential_coverage (since);
CREATE INDEX credential_coverage_by_until ON credential_coverage (until) WHERE until IS NOT NULL;

-- Coverage ends with the value of the address, with the address, and with the assignment, whatever writes. Live rows
-- precede the row of their transaction, which is the next one.
CREATE TRIGGER credential_coverage_ends_with_a_value AFTER UPDATE OF ip_address, host_n ON ip_addresses
WHEN OLD.ip_address IS NOT NEW.ip_address OR OLD.host_n IS NOT NEW.host_n
BEGIN
  UPDATE credential_coverage SET (until, checksum) =
    (SELECT s, checksum + s FROM (SELECT coalesce(max(sequence), 0) + 1 AS s FROM history_transactions))
  WHERE assignment_n IN (SELECT n FROM credential_assignments WHERE host_n = OLD.host_n)
    AND ip_address = OLD.ip_address AND until IS NULL;
END;
CREATE TRIGGER credential_coverage_ends_with_an_address AFTER DELETE ON ip_addresses
BEGIN
  UPDATE credential_coverage SET (until, checksum) =
    (SELECT s, checksum + s FROM (SELECT coalesce(max(sequence), 0) + 1 AS s FROM history_transactions))
  WHERE assignment_n IN (SELECT n FROM credential_assignments WHERE host_n = OLD.host_n)
    AND ip_address = OLD.ip_address AND until IS NULL;
END;
CREATE TRIGGER credential_coverage_ends_with_an_assignment AFTER DELETE ON credential_assignments
BEGIN
  UPDATE credential_coverage SET (until, checksum) =
    (SELECT s, checksum + s FROM (SELECT coalesce(max(sequence), 0) + 1 AS s FROM history_transactions))
  WHERE assignment_n = OLD.n AND until IS NULL;
END;
CREATE TRIGGER credential_coverage_ends_with_a_host AFTER UPDATE OF host_n ON credential_assignments
WHEN OLD.host_n IS NOT NEW.host_n
BEGIN
  UPDATE credential_coverage SET (until, checksum) =
    (SELECT s, checksum + s FROM (SELECT coalesce(max(sequence), 0) + 1 AS s FROM history_transactions))
  WHERE assignment_n = OLD.n AND until IS NULL;
END;

-- Scan times of a network.
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

-- Deleted by a user, and not to be recreated by discovery. host_n: the host, for a part of one that still exists.
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

CREATE TABLE discovery_scans (
  -- UUIDv7: in the order of their requests.
  id             TEXT PRIMARY KEY,
  organization_n INTEGER NOT NULL REFERENCES history_records (n),
  network_n      INTEGER NOT NULL REFERENCES history_records (n),
  status         TEXT NOT NULL
    CHECK (status IN ('Queued', 'Running', 'Completed', 'Cancelled', 'Failed', 'Interrupted')),
  requested_at   INTEGER NOT NULL,
  started_at     INTEGER,
  ended_at       INTEGER,
  -- JSON objects: the request with its author, the progress, and the result.
  request        TEXT NOT NULL,
  progress       TEXT,
  outcome        TEXT,
  checksum       INTEGER NOT NULL DEFAULT 0
) STRICT, WITHOUT ROWID;
CREATE INDEX discovery_scans_by_network ON discovery_scans (network_n, id);
CREATE INDEX discovery_scans_by_organization ON discovery_scans (organization_n, id);
CREATE INDEX discovery_scans_under_way ON discovery_scans (status) WHERE status IN ('Queued', 'Running');
-- Of the summary: failed scans, and each network's last completed one.
CREATE INDEX discovery_scans_failed ON discovery_scans (organization_n, ended_at) WHERE status = 'Failed';
CREATE INDEX discovery_scans_completed ON discovery_scans (organization_n, ended_at) WHERE status = 'Completed';

CREATE TABLE discovery_findings (
  scan_id TEXT NOT NULL REFERENCES discovery_scans (id) ON DELETE CASCADE,
  ordinal INTEGER NOT NULL,
  type    TEXT NOT NULL,
  finding TEXT NOT NULL,
  checksum INTEGER NOT NULL DEFAULT 0,
  PRIMARY KEY (scan_id, ordinal)
) STRICT, WITHOUT ROWID;

-- Due times handled per schedule.
CREATE TABLE discovery_schedule_runs (
  schedule_n INTEGER PRIMARY KEY REFERENCES history_records (n),
  due_at     INTEGER NOT NULL,
  checksum   INTEGER NOT NULL DEFAULT 0
) STRICT;

-- Credential that last worked at an address: tried first.
CREATE TABLE discovery_credentials (
  network_n     INTEGER NOT NULL REFERENCES history_records (n),
  ip_address    TEXT NOT NULL,
  credential_n  INTEGER NOT NULL REFERENCES history_records (n),
  key_extension TEXT,
  checksum      INTEGER NOT NULL DEFAULT 0,
  PRIMARY KEY (network_n, ip_address)
) STRICT, WITHOUT ROWID;
CREATE INDEX discovery_credentials_by_credential ON discovery_credentials (credential_n);

-- VLAN names last reported by a device, a JSON object by number: a name follows the device that it came from.
CREATE TABLE discovery_vlan_names (
  host_n INTEGER PRIMARY KEY REFERENCES history_records (n),
  names  TEXT NOT NULL,
  checksum INTEGER NOT NULL DEFAULT 0
) STRICT;

-- MAC addresses that identify hosts without interface entries under another address.
CREATE TABLE discovery_macs (
  network_n   INTEGER NOT NULL REFERENCES history_records (n),
  mac_address TEXT NOT NULL,
  host_n      INTEGER NOT NULL REFERENCES history_records (n),
  checksum    INTEGER NOT NULL DEFAULT 0,
  PRIMARY KEY (network_n, mac_address)
) STRICT, WITHOUT ROWID;
CREATE INDEX discovery_macs_by_host ON discovery_macs (host_n);

-- A device's last report and the records it concerned: if the same report comes again for a host without changes since,
-- its records only need to be marked as seen.
CREATE TABLE discovery_tellings (
  network_n        INTEGER NOT NULL REFERENCES history_records (n),
  ip_address       TEXT NOT NULL,
  host_n           INTEGER NOT NULL REFERENCES history_records (n),
  -- Sequences of the host's newest version then, and of the last change to the network's ignored entries.
  host_sequence    INTEGER NOT NULL,
  ignored_sequence INTEGER NOT NULL,
  digest           TEXT NOT NULL,
  -- JSON array of record numbers, without the host's.
  seen             TEXT NOT NULL,
  -- Rows not recorded: JSON object of counts by table and reason, repeated with the same report; NULL for none.
  left_out         TEXT,
  checksum         INTEGER NOT NULL DEFAULT 0,
  PRIMARY KEY (network_n, ip_address)
) STRICT, WITHOUT ROWID;
CREATE INDEX discovery_tellings_by_host ON discovery_tellings (host_n);

-- Reports and MAC addresses do not follow an address to another host, whatever moves it.
CREATE TRIGGER discovery_forgets_a_moved_address AFTER UPDATE OF host_n ON ip_addresses
WHEN OLD.host_n IS NOT NEW.host_n
BEGIN
  DELETE FROM discovery_tellings
  WHERE network_n = OLD.network_n AND ip_address = OLD.ip_address AND host_n = OLD.host_n;
  DELETE FROM discovery_macs
  WHERE network_n = OLD.network_n AND mac_address = OLD.mac_address AND host_n = OLD.host_n;
END;

-- Tables and columns that a host's agent has served, to tell one no longer served from one never supported.
CREATE TABLE discovery_served (
  host_n        INTEGER PRIMARY KEY REFERENCES history_records (n),
  -- Type of the agent; NULL if it reports none.
  sys_object_id TEXT,
  -- JSON array of scalars and columns: "if_x_table.ifHighSpeed".
  columns       TEXT NOT NULL,
  -- JSON object of missing ones by name: {"since": milliseconds since 1970, "readings": count}. A name that is not in
  -- `columns` counts as empty.
  missed        TEXT NOT NULL,
  checksum      INTEGER NOT NULL
) STRICT;
