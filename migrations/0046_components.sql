-- Components of hosts: chassis and stack members, as their devices report them.
CREATE TABLE components (
  n INTEGER PRIMARY KEY REFERENCES history_records (n),
  organization_n INTEGER NOT NULL REFERENCES organizations (n),
  network_n INTEGER NOT NULL REFERENCES networks (n),
  host_n INTEGER NOT NULL REFERENCES hosts (n),
  sequence INTEGER NOT NULL,
  identity TEXT UNIQUE,
  composed INTEGER NOT NULL,
  sort_keys TEXT,
  members TEXT NOT NULL
) STRICT;
CREATE INDEX components_by_organization ON components (organization_n);
CREATE INDEX components_by_network ON components (network_n);
CREATE INDEX components_by_host ON components (host_n);
