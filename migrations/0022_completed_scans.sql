-- Scans that came to their end, by when: what the last of each network did not reach.
CREATE INDEX discovery_scans_completed ON discovery_scans (organization_n, ended_at) WHERE status = 'Completed';
