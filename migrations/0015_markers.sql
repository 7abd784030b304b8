-- Named instants of an organization (network_n is NULL) or of a network.
CREATE TABLE markers (
  n INTEGER PRIMARY KEY REFERENCES history_records (n),
  organization_n INTEGER NOT NULL REFERENCES organizations (n),
  network_n INTEGER REFERENCES networks (n),
  sequence INTEGER NOT NULL,
  identity TEXT UNIQUE,
  composed INTEGER NOT NULL,
  -- The name without regard to case (src/base/text.ts).
  name_key TEXT NOT NULL,
  sort_keys TEXT,
  members TEXT NOT NULL
) STRICT;
CREATE INDEX markers_by_organization ON markers (organization_n);
CREATE INDEX markers_by_network ON markers (network_n);
CREATE INDEX markers_by_name ON markers (organization_n, name_key);
