-- Conflicts that someone accepted: they are silent as long as the same records claim the same thing. Nothing is removed,
-- so that every instant knows what was accepted then. Conflicts themselves are kept nowhere: they are found when asked for.
CREATE TABLE conflict_acceptances (
  id             TEXT PRIMARY KEY,
  organization_n INTEGER NOT NULL REFERENCES history_records (n),
  -- As a JSON array: where its records are.
  network_ids    TEXT NOT NULL,
  type           TEXT NOT NULL CHECK (type IN ('Address', 'Mac', 'Subnet')),
  value          TEXT NOT NULL,
  fingerprint    TEXT NOT NULL,
  reason         TEXT,
  accepted_at    INTEGER NOT NULL,
  -- JSON objects: type, id and name of an actor.
  accepted_by    TEXT NOT NULL,
  withdrawn_at   INTEGER,
  withdrawn_by   TEXT,
  checksum       INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX conflict_acceptances_by_fingerprint ON conflict_acceptances (organization_n, fingerprint);
