-- Ranges of addresses within a subnet.
CREATE TABLE ip_ranges (
  n INTEGER PRIMARY KEY REFERENCES history_records (n),
  organization_n INTEGER NOT NULL REFERENCES organizations (n),
  network_n INTEGER NOT NULL REFERENCES networks (n),
  subnet_n INTEGER NOT NULL REFERENCES subnets (n),
  sequence INTEGER NOT NULL,
  identity TEXT UNIQUE,
  composed INTEGER NOT NULL,
  -- The ends of what a range has for itself (src/base/ip.ts, ipSortKey); NULL for one that may overlap others.
  claims_first TEXT,
  claims_last TEXT,
  sort_keys TEXT,
  members TEXT NOT NULL
) STRICT;
CREATE INDEX ip_ranges_by_organization ON ip_ranges (organization_n);
CREATE INDEX ip_ranges_by_network ON ip_ranges (network_n);
CREATE INDEX ip_ranges_by_subnet ON ip_ranges (subnet_n);
CREATE INDEX ip_ranges_by_claim ON ip_ranges (network_n, claims_first) WHERE claims_first IS NOT NULL;
