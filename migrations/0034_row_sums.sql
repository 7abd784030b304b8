-- How many rows each table beside the ledger has, and the sum of their checksums: nothing else would tell that a row is
-- missing. Kept by the connections that write (src/db/row-sums.ts), not by the file: what another program deletes is
-- found. Observations are not among them: each is implied by its record.
CREATE TABLE row_sums (
  name TEXT PRIMARY KEY,
  rows INTEGER NOT NULL,
  sum  INTEGER NOT NULL,
  -- Rows that a repair found damaged or missing, and went on without.
  lost INTEGER NOT NULL DEFAULT 0
) STRICT, WITHOUT ROWID;
INSERT INTO row_sums (name, rows, sum)
SELECT 'api_key_hashes', count(*), coalesce(sum(checksum), 0) FROM api_key_hashes
UNION ALL SELECT 'appliance_settings', count(*), coalesce(sum(checksum), 0) FROM appliance_settings
UNION ALL SELECT 'conflict_acceptances', count(*), coalesce(sum(checksum), 0) FROM conflict_acceptances
UNION ALL SELECT 'credential_coverage', count(*), coalesce(sum(checksum), 0) FROM credential_coverage
UNION ALL SELECT 'credential_secrets', count(*), coalesce(sum(checksum), 0) FROM credential_secrets
UNION ALL SELECT 'discovery_credentials', count(*), coalesce(sum(checksum), 0) FROM discovery_credentials
UNION ALL SELECT 'discovery_findings', count(*), coalesce(sum(checksum), 0) FROM discovery_findings
UNION ALL SELECT 'discovery_macs', count(*), coalesce(sum(checksum), 0) FROM discovery_macs
UNION ALL SELECT 'discovery_scans', count(*), coalesce(sum(checksum), 0) FROM discovery_scans
UNION ALL SELECT 'discovery_schedule_runs', count(*), coalesce(sum(checksum), 0) FROM discovery_schedule_runs
UNION ALL SELECT 'discovery_served', count(*), coalesce(sum(checksum), 0) FROM discovery_served
UNION ALL SELECT 'discovery_tellings', count(*), coalesce(sum(checksum), 0) FROM discovery_tellings
UNION ALL SELECT 'discovery_vlan_names', count(*), coalesce(sum(checksum), 0) FROM discovery_vlan_names
UNION ALL SELECT 'host_consolidations', count(*), coalesce(sum(checksum), 0) FROM host_consolidations
UNION ALL SELECT 'idempotency_keys', count(*), coalesce(sum(checksum), 0) FROM idempotency_keys
UNION ALL SELECT 'map_positions', count(*), coalesce(sum(checksum), 0) FROM map_positions
UNION ALL SELECT 'sessions', count(*), coalesce(sum(checksum), 0) FROM sessions
UNION ALL SELECT 'user_passwords', count(*), coalesce(sum(checksum), 0) FROM user_passwords
UNION ALL SELECT 'user_preferences', count(*), coalesce(sum(checksum), 0) FROM user_preferences;
