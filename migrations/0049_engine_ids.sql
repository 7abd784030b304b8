-- Scans look for hosts by SNMP engine id.
CREATE INDEX hosts_by_engine_id ON hosts (network_n, json_extract('{' || members || '}', '$.engine_id'));
