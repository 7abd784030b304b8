-- What stands beside the ledger carries a checksum over its row: nothing else would betray a byte that changed
-- (src/db/row-checksum.ts). Rows from before are given theirs when the store is brought up to date.

ALTER TABLE observations ADD COLUMN checksum INTEGER NOT NULL DEFAULT 0;
ALTER TABLE discovery_scans ADD COLUMN checksum INTEGER NOT NULL DEFAULT 0;
ALTER TABLE discovery_findings ADD COLUMN checksum INTEGER NOT NULL DEFAULT 0;
ALTER TABLE discovery_credentials ADD COLUMN checksum INTEGER NOT NULL DEFAULT 0;
ALTER TABLE discovery_vlan_names ADD COLUMN checksum INTEGER NOT NULL DEFAULT 0;
ALTER TABLE discovery_schedule_runs ADD COLUMN checksum INTEGER NOT NULL DEFAULT 0;
ALTER TABLE discovery_macs ADD COLUMN checksum INTEGER NOT NULL DEFAULT 0;
ALTER TABLE discovery_tellings ADD COLUMN checksum INTEGER NOT NULL DEFAULT 0;
ALTER TABLE sessions ADD COLUMN checksum INTEGER NOT NULL DEFAULT 0;
ALTER TABLE user_passwords ADD COLUMN checksum INTEGER NOT NULL DEFAULT 0;
ALTER TABLE api_key_hashes ADD COLUMN checksum INTEGER NOT NULL DEFAULT 0;
ALTER TABLE credential_secrets ADD COLUMN checksum INTEGER NOT NULL DEFAULT 0;
ALTER TABLE appliance_settings ADD COLUMN checksum INTEGER NOT NULL DEFAULT 0;
ALTER TABLE idempotency_keys ADD COLUMN checksum INTEGER NOT NULL DEFAULT 0;
