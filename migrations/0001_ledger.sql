-- The ledger: everything that ever was, of every kind. Only INSERT touches these three tables.

CREATE TABLE history_transactions (
  sequence        INTEGER PRIMARY KEY CHECK (sequence > 0 AND sequence < 2147483648),
  -- The ledger's instant (UTC milliseconds): strictly increasing, whatever the system clock does.
  at              INTEGER NOT NULL UNIQUE,
  -- What the system clock said, for whoever has to explain a difference.
  wall_at         INTEGER NOT NULL,
  organization_id TEXT,
  actor_type      TEXT NOT NULL CHECK (actor_type IN ('User', 'ApiKey', 'Discovery', 'System')),
  actor_id        TEXT,
  actor_name      TEXT NOT NULL,
  request_id      TEXT,
  -- The command that made it ("host.update").
  source          TEXT NOT NULL,
  -- The highest record number given out so far: what has a higher one was not born yet.
  last_n          INTEGER NOT NULL,
  -- SHA-256 over the predecessor's hash, the columns above and the hashes of the versions.
  hash            BLOB NOT NULL CHECK (length(hash) = 32)
) STRICT;

CREATE TABLE history_records (
  n    INTEGER PRIMARY KEY CHECK (n > 0 AND n < 4294967296),
  kind INTEGER NOT NULL CHECK (kind > 0 AND kind < 64),
  id   TEXT NOT NULL UNIQUE
) STRICT;

CREATE TABLE history_versions (
  -- n << 31 | sequence: the versions of one record lie side by side, in order of time.
  key        INTEGER PRIMARY KEY,
  operation  INTEGER NOT NULL CHECK (operation IN (1, 2, 3)),
  shape      INTEGER NOT NULL,
  -- The transaction's instant as it appears in documents, so that a predecessor's valid_to costs no join.
  valid_from TEXT NOT NULL,
  -- Whether parts kept as records of their own are composed into it when it is read.
  composed   INTEGER NOT NULL CHECK (composed IN (0, 1)),
  -- JSON array of field names; NULL where everything is new or gone.
  changed    TEXT,
  -- Folded texts that lists are ordered by, as a JSON object.
  sort_keys  TEXT,
  -- The observation values written with this version, as the continuation of the JSON members.
  observed   TEXT NOT NULL,
  -- The record's own fields as the inside of a JSON object; NULL on a tombstone.
  members    TEXT,
  hash       BLOB NOT NULL CHECK (length(hash) = 32),
  CHECK ((operation = 3) = (members IS NULL))
) STRICT;

CREATE TRIGGER history_transactions_are_never_changed BEFORE UPDATE ON history_transactions
BEGIN SELECT RAISE(ABORT, 'ledger: a transaction is never changed'); END;
CREATE TRIGGER history_transactions_are_never_deleted BEFORE DELETE ON history_transactions
BEGIN SELECT RAISE(ABORT, 'ledger: a transaction is never deleted'); END;
-- A REPLACE deletes without firing delete triggers: so an existing key is refused before it comes to that.
CREATE TRIGGER history_transactions_are_appended BEFORE INSERT ON history_transactions
WHEN NEW.sequence IS NOT (SELECT coalesce(max(sequence), 0) + 1 FROM history_transactions)
  OR NEW.at <= (SELECT coalesce(max(at), -1) FROM history_transactions)
BEGIN SELECT RAISE(ABORT, 'ledger: a transaction follows its predecessor in sequence and time'); END;

CREATE TRIGGER history_records_are_never_changed BEFORE UPDATE ON history_records
BEGIN SELECT RAISE(ABORT, 'ledger: a record is never changed'); END;
CREATE TRIGGER history_records_are_never_deleted BEFORE DELETE ON history_records
BEGIN SELECT RAISE(ABORT, 'ledger: a record is never deleted'); END;
CREATE TRIGGER history_records_are_appended BEFORE INSERT ON history_records
WHEN NEW.n IS NOT (SELECT coalesce(max(n), 0) + 1 FROM history_records)
  OR EXISTS (SELECT 1 FROM history_records WHERE id = NEW.id)
BEGIN SELECT RAISE(ABORT, 'ledger: a record gets the next number and an id that was never used'); END;

CREATE TRIGGER history_versions_are_never_changed BEFORE UPDATE ON history_versions
BEGIN SELECT RAISE(ABORT, 'ledger: a version is never changed'); END;
CREATE TRIGGER history_versions_are_never_deleted BEFORE DELETE ON history_versions
BEGIN SELECT RAISE(ABORT, 'ledger: a version is never deleted'); END;
-- The row of a transaction is written last and closes it: the only sequence that takes versions is the next one.
CREATE TRIGGER history_versions_belong_to_the_open_transaction BEFORE INSERT ON history_versions
WHEN (NEW.key & 2147483647) IS NOT (SELECT coalesce(max(sequence), 0) + 1 FROM history_transactions)
  OR EXISTS (SELECT 1 FROM history_versions WHERE key = NEW.key)
BEGIN SELECT RAISE(ABORT, 'ledger: a version is written once, by the open transaction'); END;

-- Derived from the ledger and rebuildable from it: what makes the past cheap to ask.

-- Who lived in which scope, and when: [born, died) in sequences. scope = n of the organization, network, host … * 64 + kind.
CREATE TABLE history_spans (
  scope INTEGER NOT NULL,
  n     INTEGER NOT NULL,
  born  INTEGER NOT NULL,
  died  INTEGER NOT NULL DEFAULT 9007199254740991,
  PRIMARY KEY (scope, n, born)
) STRICT, WITHOUT ROWID;

-- How many lived in a scope from a sequence on.
CREATE TABLE history_census (
  scope    INTEGER NOT NULL,
  sequence INTEGER NOT NULL,
  count    INTEGER NOT NULL CHECK (count >= 0),
  PRIMARY KEY (scope, sequence)
) STRICT, WITHOUT ROWID;

-- The first incarnation of real things whose record was deleted, for the lineage_id of the next one.
CREATE TABLE history_lineages (
  kind       INTEGER NOT NULL,
  identity   TEXT NOT NULL,
  lineage_id TEXT NOT NULL,
  PRIMARY KEY (kind, identity)
) STRICT, WITHOUT ROWID;

-- Beside the ledger: what is seen again and again and makes no version.
CREATE TABLE observations (
  n        INTEGER PRIMARY KEY REFERENCES history_records (n),
  -- The values in force, as the continuation of the record's JSON members.
  observed TEXT NOT NULL
) STRICT;

-- The id lists of live records (tags, reachable networks, VLANs …), for the question who refers to a record.
CREATE TABLE live_links (
  n        INTEGER NOT NULL REFERENCES history_records (n),
  relation TEXT NOT NULL,
  target_n INTEGER NOT NULL REFERENCES history_records (n),
  PRIMARY KEY (n, relation, target_n)
) STRICT, WITHOUT ROWID;
CREATE INDEX live_links_by_target ON live_links (target_n, relation, n);
