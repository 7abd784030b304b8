-- Hosts that were found to be one: which of them was closed, into which it went, and by what each was known. The ledger tells what moved. A row
-- counts as long as the closed host has not come back since. Cheap: nothing that is there is looked at.
CREATE TABLE host_consolidations (
  former_n   INTEGER NOT NULL REFERENCES history_records (n),
  -- The transaction that closed it.
  sequence   INTEGER NOT NULL CHECK (sequence > 0),
  into_n     INTEGER NOT NULL REFERENCES history_records (n),
  network_n  INTEGER NOT NULL REFERENCES history_records (n),
  -- JSON arrays, as ignored entries have them: `serial:FOC1234`, `mac:00:1b:21:aa:bb:cc`.
  signs      TEXT NOT NULL,
  into_signs TEXT NOT NULL,
  checksum   INTEGER NOT NULL,
  PRIMARY KEY (former_n, sequence)
) STRICT, WITHOUT ROWID;
CREATE INDEX host_consolidations_by_survivor ON host_consolidations (into_n);
CREATE INDEX host_consolidations_by_network ON host_consolidations (network_n);

-- Whoever moves an address to another host, and however: what a scan remembered of the one it was at is not true of the other.
CREATE TRIGGER discovery_forgets_a_moved_address AFTER UPDATE OF host_n ON ip_addresses
WHEN OLD.host_n IS NOT NEW.host_n
BEGIN
  DELETE FROM discovery_tellings WHERE network_n = OLD.network_n AND ip_address = OLD.ip_address AND host_n = OLD.host_n;
  DELETE FROM discovery_macs WHERE network_n = OLD.network_n AND mac_address = OLD.mac_address AND host_n = OLD.host_n;
END;
