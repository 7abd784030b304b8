-- What the summary asks about. All of these hold few rows; the first is made in one pass over all versions.

-- Which versions changed an operational status: ports that flap are found without looking at other changes.
CREATE INDEX history_versions_of_status ON history_versions (key & 2147483647) WHERE instr(changed, '"oper_status"') > 0;
-- Hosts that are stale.
CREATE INDEX hosts_stale ON hosts (network_n) WHERE instr(members, '"stale_since":') > 0;
-- Scans that failed, by when.
CREATE INDEX discovery_scans_failed ON discovery_scans (organization_n, ended_at) WHERE status = 'Failed';
