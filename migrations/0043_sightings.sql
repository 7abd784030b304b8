-- Sightings: which MAC address was seen at which IP address, by whom, and from when to when. Times are UTC
-- milliseconds.

-- Tables in which a host reports addresses, and the appliance's own sweeps of a network. Reading a table that has not
-- changed writes its row here, and no sighting.
CREATE TABLE discovery_reporters (
  n                INTEGER PRIMARY KEY,
  network_n        INTEGER NOT NULL REFERENCES history_records (n),
  -- NULL for sweeps.
  host_n           INTEGER REFERENCES history_records (n),
  -- Where its agent answered last; empty for sweeps.
  ip_address       TEXT NOT NULL,
  -- Neighbor: ARP and neighbor caches. Own: its own addresses. Sweep: what answered the appliance.
  kind             TEXT NOT NULL CHECK (kind IN ('Neighbor', 'Own', 'Sweep')),
  -- Of the rows of the last complete read; empty if other rows were recorded since.
  digest           TEXT NOT NULL,
  created_at       INTEGER NOT NULL,
  -- Sightings, current or not.
  rows             INTEGER NOT NULL,
  -- The last complete read, and the last one by another scan before it. 0 and empty for sweeps and for none.
  read_at          INTEGER NOT NULL,
  scan_id          TEXT NOT NULL,
  previous_read_at INTEGER NOT NULL,
  previous_scan_id TEXT NOT NULL,
  checksum         INTEGER NOT NULL
) STRICT;
CREATE INDEX discovery_reporters_by_host ON discovery_reporters (host_n, kind);
CREATE INDEX discovery_reporters_by_network ON discovery_reporters (network_n, kind);

CREATE TABLE discovery_sightings (
  n           INTEGER PRIMARY KEY,
  network_n   INTEGER NOT NULL REFERENCES history_records (n),
  reporter_n  INTEGER NOT NULL REFERENCES discovery_reporters (n) ON DELETE CASCADE,
  -- Version and bytes in hex, so that addresses sort: 40a020304.
  address_key TEXT NOT NULL,
  mac_address TEXT,
  -- Interface of the reporter; NULL if it reports none.
  if_entry_n  INTEGER REFERENCES history_records (n),
  first_seen  INTEGER NOT NULL,
  -- Of a row in the last complete read of its reporter, the time of that read counts if it is later.
  last_seen   INTEGER NOT NULL,
  -- First complete read without it, or first sweep without an answer; NULL if none.
  gone_at     INTEGER,
  -- When it expired; NULL while the address counts as in use.
  ended_at    INTEGER,
  checksum    INTEGER NOT NULL
) STRICT;
CREATE INDEX discovery_sightings_by_address ON discovery_sightings (network_n, address_key);
CREATE INDEX discovery_sightings_by_reporter ON discovery_sightings (reporter_n, gone_at);
CREATE INDEX discovery_sightings_by_if_entry ON discovery_sightings (if_entry_n) WHERE if_entry_n IS NOT NULL;

-- Address blocks that scans swept to the end, each list of blocks once.
CREATE TABLE discovery_sweeps (
  network_n         INTEGER NOT NULL REFERENCES history_records (n),
  digest            TEXT NOT NULL,
  -- JSON array of the first and last address_key of each block, ascending.
  blocks            TEXT NOT NULL,
  -- Start of the last scan that swept them, and of the last one before it; 0 and empty for none.
  swept_at          INTEGER NOT NULL,
  scan_id           TEXT NOT NULL,
  previous_swept_at INTEGER NOT NULL,
  previous_scan_id  TEXT NOT NULL,
  checksum          INTEGER NOT NULL,
  PRIMARY KEY (network_n, digest)
) STRICT, WITHOUT ROWID;
