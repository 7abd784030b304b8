-- Where the secret of a credential goes by its assignment to a host: address values that an Admin has sent it to, or that the device itself,
-- asked with it, has told as its own. No history; the ledger tells of the writes that made it grow and end.

CREATE TABLE credential_coverage (
  assignment_n INTEGER NOT NULL REFERENCES history_records (n),
  -- As the host's address has it: another value is another address.
  ip_address   TEXT NOT NULL,
  -- [since, until): the transactions between which it is so; NULL until it has ended.
  since        INTEGER NOT NULL CHECK (since >= 0),
  until        INTEGER CHECK (until > 0 AND until >= since),
  -- By whose word: an assignment, a confirmation, what the device told, a restore; an upgrade takes what was there for sent.
  origin       TEXT NOT NULL CHECK (origin IN ('Assigned', 'Confirmed', 'Told', 'Restored', 'Upgraded')),
  -- Of the row but for `until`, which is added (src/db/row-checksum.ts): what ends it is SQL below.
  checksum     INTEGER NOT NULL DEFAULT 0,
  PRIMARY KEY (assignment_n, ip_address, since)
) STRICT, WITHOUT ROWID;
CREATE INDEX credential_coverage_by_since ON credential_coverage (since);
CREATE INDEX credential_coverage_by_until ON credential_coverage (until) WHERE until IS NOT NULL;

-- Whoever writes, and however: what is covered ends with the value of the address, with the address, and with the assignment. Live rows are
-- written before the row of their transaction, which is the next one.
CREATE TRIGGER credential_coverage_ends_with_a_value AFTER UPDATE OF ip_address, host_n ON ip_addresses
WHEN OLD.ip_address IS NOT NEW.ip_address OR OLD.host_n IS NOT NEW.host_n
BEGIN
  UPDATE credential_coverage SET (until, checksum) = (SELECT s, checksum + s FROM (SELECT coalesce(max(sequence), 0) + 1 AS s FROM history_transactions))
  WHERE assignment_n IN (SELECT n FROM credential_assignments WHERE host_n = OLD.host_n) AND ip_address = OLD.ip_address AND until IS NULL;
END;
CREATE TRIGGER credential_coverage_ends_with_an_address AFTER DELETE ON ip_addresses
BEGIN
  UPDATE credential_coverage SET (until, checksum) = (SELECT s, checksum + s FROM (SELECT coalesce(max(sequence), 0) + 1 AS s FROM history_transactions))
  WHERE assignment_n IN (SELECT n FROM credential_assignments WHERE host_n = OLD.host_n) AND ip_address = OLD.ip_address AND until IS NULL;
END;
CREATE TRIGGER credential_coverage_ends_with_an_assignment AFTER DELETE ON credential_assignments
BEGIN
  UPDATE credential_coverage SET (until, checksum) = (SELECT s, checksum + s FROM (SELECT coalesce(max(sequence), 0) + 1 AS s FROM history_transactions))
  WHERE assignment_n = OLD.n AND until IS NULL;
END;
CREATE TRIGGER credential_coverage_ends_with_a_host AFTER UPDATE OF host_n ON credential_assignments
WHEN OLD.host_n IS NOT NEW.host_n
BEGIN
  UPDATE credential_coverage SET (until, checksum) = (SELECT s, checksum + s FROM (SELECT coalesce(max(sequence), 0) + 1 AS s FROM history_transactions))
  WHERE assignment_n = OLD.n AND until IS NULL;
END;

-- What hosts have today was sent there by whoever assigned the credential.
INSERT INTO credential_coverage (assignment_n, ip_address, since, until, origin)
SELECT a.n, i.ip_address, 0, NULL, 'Upgraded'
FROM credential_assignments a
JOIN ip_addresses i ON i.host_n = a.host_n
WHERE json_type('{' || a.members || '}', '$.ip_address_ids') = 'null'
  OR (SELECT id FROM history_records WHERE n = i.n) IN (SELECT value FROM json_each('{' || a.members || '}', '$.ip_address_ids'));
