-- Which host the device at an address was taken to be, and why: one row per change, kept for answers about the past.
CREATE TABLE discovery_identities (
  network_n  INTEGER NOT NULL REFERENCES history_records (n),
  ip_address TEXT NOT NULL,
  -- The transaction of the decision, or the next one if the decision wrote nothing else, and its time.
  sequence   INTEGER NOT NULL,
  decided_at INTEGER NOT NULL,
  host_n     INTEGER NOT NULL REFERENCES history_records (n),
  -- SHA-256 of the device's signs.
  signs      TEXT NOT NULL,
  -- JSON array of the numbers of the hosts that shared a sign, and of the host itself.
  candidates TEXT NOT NULL,
  -- JSON object: see IdentityDecision in src/discovery/reconcile/identity-decisions.ts.
  decision   TEXT NOT NULL,
  checksum   INTEGER NOT NULL,
  PRIMARY KEY (network_n, ip_address, sequence)
) STRICT, WITHOUT ROWID;
CREATE INDEX discovery_identities_by_host ON discovery_identities (host_n, sequence);

-- How often each kind of sign stayed the same between two reads of a host.
CREATE TABLE discovery_sign_counts (
  network_n INTEGER NOT NULL REFERENCES history_records (n),
  sign      TEXT NOT NULL,
  same      INTEGER NOT NULL,
  other     INTEGER NOT NULL,
  checksum  INTEGER NOT NULL,
  PRIMARY KEY (network_n, sign)
) STRICT, WITHOUT ROWID;

-- The serial number and system name in the last reads of hosts that changed them, to tell two machines apart.
CREATE TABLE discovery_reads_by_name (
  host_n   INTEGER PRIMARY KEY REFERENCES history_records (n),
  -- JSON array, oldest first.
  reads    TEXT NOT NULL,
  checksum INTEGER NOT NULL
) STRICT;

-- Signs of hosts that ended, one per row, by which they are recognized when they return.
CREATE TABLE ended_hosts (
  host_n     INTEGER NOT NULL REFERENCES history_records (n),
  -- As in ignored entries: serial:FOC1234, mac:00:1b:21:aa:bb:cc.
  sign       TEXT NOT NULL,
  network_n  INTEGER NOT NULL REFERENCES history_records (n),
  ended_at   INTEGER NOT NULL,
  lineage_id TEXT NOT NULL,
  checksum   INTEGER NOT NULL,
  PRIMARY KEY (host_n, sign)
) STRICT, WITHOUT ROWID;
CREATE INDEX ended_hosts_by_sign ON ended_hosts (network_n, lower(sign));
CREATE INDEX ended_hosts_by_time ON ended_hosts (network_n, ended_at);

-- Scans look for stacks by the serial number of any member.
CREATE INDEX components_by_serial_number
  ON components (network_n, lower(json_extract('{' || members || '}', '$.serial_number')));
