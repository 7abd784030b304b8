-- Accepted conflicts and consolidated hosts can change an answer about the past: they are records with versions from
-- here on, and never removed. The rows that there are wait in temporary tables until the upgrade has written a version for
-- each (src/history/earlier-notes.ts).
CREATE TEMP TABLE earlier_acceptances AS SELECT * FROM conflict_acceptances;
CREATE TEMP TABLE earlier_consolidations AS SELECT * FROM host_consolidations;
DROP TABLE conflict_acceptances;
DROP TABLE host_consolidations;
-- Of rows that there are, or were, the upgrade gives account.
DELETE FROM row_sums WHERE name IN ('conflict_acceptances', 'host_consolidations') AND rows = 0;

-- They are silent as long as the same records claim the same thing. Nothing is removed, so that every instant knows
-- what was accepted then. Conflicts themselves are kept nowhere: they are found when asked for.
CREATE TABLE conflict_acceptances (
  n INTEGER PRIMARY KEY REFERENCES history_records (n),
  organization_n INTEGER NOT NULL REFERENCES organizations (n),
  fingerprint TEXT NOT NULL,
  -- UTC milliseconds; NULL as long as it is in force.
  accepted_at INTEGER NOT NULL,
  withdrawn_at INTEGER,
  sequence INTEGER NOT NULL,
  identity TEXT UNIQUE,
  composed INTEGER NOT NULL,
  sort_keys TEXT,
  members TEXT NOT NULL
) STRICT;
CREATE INDEX conflict_acceptances_by_organization ON conflict_acceptances (organization_n);
CREATE INDEX conflict_acceptances_by_fingerprint ON conflict_acceptances (organization_n, fingerprint);

-- Hosts that were found to be one. One counts as long as the closed host has not come back since. Of hosts and networks
-- that may be gone.
CREATE TABLE host_consolidations (
  n INTEGER PRIMARY KEY REFERENCES history_records (n),
  organization_n INTEGER NOT NULL REFERENCES organizations (n),
  former_n INTEGER NOT NULL REFERENCES history_records (n),
  into_n INTEGER NOT NULL REFERENCES history_records (n),
  within_n INTEGER NOT NULL REFERENCES history_records (n),
  -- The transaction that closed the former host.
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
