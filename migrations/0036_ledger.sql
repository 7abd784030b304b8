-- The ledger: every transaction, record and version, of all kinds. Append-only: its three tables take INSERT alone.
-- Schemas 1 to 35 were in use before the first release; 36 to 40 are created together, and no data has an earlier one.

CREATE TABLE history_transactions (
  sequence        INTEGER PRIMARY KEY CHECK (sequence > 0 AND sequence < 2147483648),
  -- The ledger's timestamp in UTC milliseconds: strictly increasing, whatever the system clock does.
  at              INTEGER NOT NULL UNIQUE,
  -- The system clock, which may differ from it.
  wall_at         INTEGER NOT NULL,
  organization_id TEXT,
  actor_type      TEXT NOT NULL CHECK (actor_type IN ('User', 'ApiKey', 'Discovery', 'System')),
  actor_id        TEXT,
  actor_name      TEXT NOT NULL,
  request_id      TEXT,
  -- Name of the command: "host.update".
  source          TEXT NOT NULL,
  -- The highest record number in use: a record with a higher one did not exist yet.
  last_n          INTEGER NOT NULL,
  -- SHA-256 over the previous hash, the columns above, the reason if any, and the hashes of the versions.
  hash            BLOB NOT NULL CHECK (length(hash) = 32),
  -- The author's reason (X-Change-Reason); NULL if none was given.
  reason          TEXT CHECK (reason <> '')
) STRICT;
-- Few transactions have a reason: these are found and searched without reading the others.
CREATE INDEX history_transactions_by_reason ON history_transactions (sequence, reason) WHERE reason IS NOT NULL;

-- One row per identity, never deleted. Numbers ascend in page order.
CREATE TABLE history_records (
  n    INTEGER PRIMARY KEY CHECK (n > 0 AND n < 4294967296),
  kind INTEGER NOT NULL CHECK (kind > 0 AND kind < 64),
  id   TEXT NOT NULL UNIQUE
) STRICT;

CREATE TABLE history_versions (
  -- n << 31 | sequence: the versions of a record are adjacent, oldest first.
  key        INTEGER PRIMARY KEY,
  -- 1 created, 2 updated, 3 deleted.
  operation  INTEGER NOT NULL CHECK (operation IN (1, 2, 3)),
  -- Shape of the members: upcasters bring earlier ones to the current shape on reading (src/db/shape.ts).
  shape      INTEGER NOT NULL,
  -- The transaction's timestamp as in documents, so that a predecessor's valid_to needs no join.
  valid_from TEXT NOT NULL,
  -- Whether parts that are separate records are composed into it on reading.
  composed   INTEGER NOT NULL CHECK (composed IN (0, 1)),
  -- JSON array of field names; NULL for a creation or deletion.
  changed    TEXT,
  -- JSON object of the folded texts that lists are sorted by.
  sort_keys  TEXT,
  -- Observation values written with this version, as a continuation of the JSON members.
  observed   TEXT NOT NULL,
  -- The record's own fields: a JSON object without its braces. NULL on a tombstone.
  members    TEXT,
  hash       BLOB NOT NULL CHECK (length(hash) = 32),
  -- NULL: the members are complete. Otherwise they replace the middle of an earlier version's (src/db/packing.ts): its
  -- sequence << 32, the bytes to keep before << 16, and after.
  patch      INTEGER,
  CHECK ((operation = 3) = (members IS NULL))
) STRICT;
-- A transaction's versions, for the feed, diffs and reverts.
CREATE INDEX history_versions_by_sequence ON history_versions (key & 2147483647);
-- Changes of an operational status, for flapping ports.
CREATE INDEX history_versions_of_status ON history_versions (key & 2147483647)
  WHERE instr(changed, '"oper_status"') > 0;
-- Addresses of all versions, for conflicts, and versions of stale hosts. SQLite evaluates these conditions for every
-- version written: GLOB skips ahead to the first letter, so that instr() rarely reads the text.
CREATE INDEX history_versions_of_address ON history_versions (('{' || members || '}') ->> '$.ip_address')
  WHERE members GLOB '*p_address":"*' AND instr(members, '"ip_address":"') > 0;
CREATE INDEX history_versions_of_stale ON history_versions (key)
  WHERE members GLOB '*ce":*' AND instr(members, '"stale_since":') > 0;

CREATE TRIGGER history_transactions_are_never_changed BEFORE UPDATE ON history_transactions
BEGIN SELECT RAISE(ABORT, 'ledger: a transaction is never changed'); END;
CREATE TRIGGER history_transactions_are_never_deleted BEFORE DELETE ON history_transactions
BEGIN SELECT RAISE(ABORT, 'ledger: a transaction is never deleted'); END;
-- REPLACE deletes without firing delete triggers, so an existing key is refused here.
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
-- The transaction's row is written last and closes it: only the next sequence takes versions.
CREATE TRIGGER history_versions_belong_to_the_open_transaction BEFORE INSERT ON history_versions
WHEN (NEW.key & 2147483647) IS NOT (SELECT coalesce(max(sequence), 0) + 1 FROM history_transactions)
  OR EXISTS (SELECT 1 FROM history_versions WHERE key = NEW.key)
BEGIN SELECT RAISE(ABORT, 'ledger: a version is written once, by the open transaction'); END;

-- Thinned history. Only a prune writes here; it drops the triggers within its own transaction.

-- Hash of a dropped version: its transaction's hash still verifies.
CREATE TABLE history_thinned (
  -- As in history_versions.
  key  INTEGER PRIMARY KEY,
  hash BLOB NOT NULL CHECK (length(hash) = 32)
) STRICT;

-- Thinned parts of the ledger, contiguous from its beginning. Of each day or month (UTC) the last state remains; with
-- 'none', only the state of the segment's last transaction, which always remains.
CREATE TABLE history_segments (
  first      INTEGER PRIMARY KEY CHECK (first > 0),
  last       INTEGER NOT NULL CHECK (last >= first),
  resolution TEXT NOT NULL CHECK (resolution IN ('daily', 'monthly', 'none')),
  -- Transaction of the prune. It has no versions; its source names the settings.
  pruned_by  INTEGER NOT NULL REFERENCES history_transactions (sequence)
) STRICT;

CREATE TRIGGER history_thinned_is_written_by_a_prune BEFORE INSERT ON history_thinned
BEGIN SELECT RAISE(ABORT, 'ledger: a version is dropped by a prune alone'); END;
CREATE TRIGGER history_thinned_is_never_changed BEFORE UPDATE ON history_thinned
BEGIN SELECT RAISE(ABORT, 'ledger: the hash of a dropped version is never changed'); END;
CREATE TRIGGER history_thinned_is_never_deleted BEFORE DELETE ON history_thinned
BEGIN SELECT RAISE(ABORT, 'ledger: the hash of a dropped version is never deleted'); END;

CREATE TRIGGER history_segments_are_written_by_a_prune BEFORE INSERT ON history_segments
BEGIN SELECT RAISE(ABORT, 'ledger: a stretch is thinned by a prune alone'); END;
CREATE TRIGGER history_segments_are_changed_by_a_prune BEFORE UPDATE ON history_segments
BEGIN SELECT RAISE(ABORT, 'ledger: a stretch is thinned by a prune alone'); END;
CREATE TRIGGER history_segments_are_deleted_by_a_prune BEFORE DELETE ON history_segments
BEGIN SELECT RAISE(ABORT, 'ledger: a stretch is thinned by a prune alone'); END;

-- Derived from the ledger, for fast answers about the past. `netledger verify --repair-derived` rebuilds all of it.

-- Sequences in which a record was in a scope: [born, died). A scope is the container's n * 64 + the record's kind;
-- containers are organizations, networks, hosts and groups such as a subnet's addresses (src/db/kind.ts, Groups).
CREATE TABLE history_spans (
  scope INTEGER NOT NULL,
  n     INTEGER NOT NULL,
  born  INTEGER NOT NULL,
  died  INTEGER NOT NULL DEFAULT 9007199254740991,
  PRIMARY KEY (scope, n, born)
) STRICT, WITHOUT ROWID;

-- Per organization or network and block of 1,024 record numbers (n >> 10): the number of live records, and the sequence
-- in which the last of the others ended (0 if none). A walk through the past skips blocks without live records.
CREATE TABLE history_span_blocks (
  scope INTEGER NOT NULL,
  block INTEGER NOT NULL,
  alive INTEGER NOT NULL CHECK (alive >= 0),
  died  INTEGER NOT NULL,
  PRIMARY KEY (scope, block)
) STRICT, WITHOUT ROWID;

-- Number of records in a scope from a sequence on.
CREATE TABLE history_census (
  scope    INTEGER NOT NULL,
  sequence INTEGER NOT NULL,
  count    INTEGER NOT NULL CHECK (count >= 0),
  PRIMARY KEY (scope, sequence)
) STRICT, WITHOUT ROWID;

-- First incarnation of deleted records, by identity: the lineage_id of the next incarnation.
CREATE TABLE history_lineages (
  kind       INTEGER NOT NULL,
  identity   TEXT NOT NULL,
  lineage_id TEXT NOT NULL,
  PRIMARY KEY (kind, identity)
) STRICT, WITHOUT ROWID;

-- Transactions with changes in an organization (scope: its n), in a network (its n), or in an organization outside its
-- networks (its n, negative). `ordinal` numbers the rows of a scope from 1: a page or a total is one seek.
CREATE TABLE history_activity (
  scope    INTEGER NOT NULL,
  sequence INTEGER NOT NULL,
  ordinal  INTEGER NOT NULL,
  PRIMARY KEY (scope, sequence)
) STRICT, WITHOUT ROWID;
CREATE UNIQUE INDEX history_activity_by_ordinal ON history_activity (scope, ordinal);

-- Running totals of versions per kind, in the scopes of history_activity and of a host or subnet with its parts
-- (scope: n * 64 + kind). The changes of a period are the difference of two rows. Versions caused by parts alone are
-- not counted: the parts are.
CREATE TABLE history_change_counts (
  scope    INTEGER NOT NULL,
  sequence INTEGER NOT NULL,
  created  INTEGER NOT NULL CHECK (created >= 0),
  updated  INTEGER NOT NULL CHECK (updated >= 0),
  deleted  INTEGER NOT NULL CHECK (deleted >= 0),
  PRIMARY KEY (scope, sequence)
) STRICT, WITHOUT ROWID;

-- Search texts of a record, from the version with this key to its next row; empty once it is deleted.
CREATE TABLE history_search_texts (
  key     INTEGER PRIMARY KEY,
  -- The record found by the text: the host, for its addresses and interfaces.
  owner_n INTEGER NOT NULL,
  -- Folded beginnings of words, separated by spaces (src/db/search-text.ts).
  text    TEXT NOT NULL
) STRICT;

-- Index over all of them, for the present and the past. All characters except white space belong to words.
CREATE VIRTUAL TABLE history_search USING fts5 (
  text,
  content='history_search_texts', content_rowid='key', detail=none, columnsize=0,
  tokenize="ascii tokenchars '!""#$%&''()*+,-./:;<=>?@[\]^_`{|}~'"
);

-- Index of the names of records, word by word, keyed like history_versions. A row has the entries that begin and end
-- with its version, so that a change costs what it changes (src/db/called-words.ts). The texts are in the ledger alone.
CREATE VIRTUAL TABLE history_words USING fts5 (
  entries,
  content='', detail=none, columnsize=0,
  tokenize="ascii tokenchars '!""#$%&''()*+,-./:;<=>?@[\]^_`{|}~'"
);

-- SQLite's view of that index, entry by entry in order; stores nothing.
CREATE VIRTUAL TABLE history_word_places USING fts5vocab (history_words, instance);

-- Current state outside the versions.

-- Values that are observed repeatedly and create no version, such as last_seen_at.
CREATE TABLE observations (
  n        INTEGER PRIMARY KEY REFERENCES history_records (n),
  -- Current values, as a continuation of the record's JSON members.
  observed TEXT NOT NULL,
  -- Over the row (src/db/row-checksum.ts), as in every table that the ledger does not cover.
  checksum INTEGER NOT NULL DEFAULT 0
) STRICT;

-- Id lists of live records (tags, networks, VLANs …), to find the records that refer to one.
CREATE TABLE live_links (
  n        INTEGER NOT NULL REFERENCES history_records (n),
  relation TEXT NOT NULL,
  target_n INTEGER NOT NULL REFERENCES history_records (n),
  PRIMARY KEY (n, relation, target_n)
) STRICT, WITHOUT ROWID;
CREATE INDEX live_links_by_target ON live_links (target_n, relation, n);

-- Row count and total of checksums per table with checksums, without observations: the ledger implies those. Reveals
-- missing rows. Maintained by the connections that write (src/db/row-sums.ts), not by triggers of the file, so that a
-- deletion by another program is found.
CREATE TABLE row_sums (
  name TEXT PRIMARY KEY,
  rows INTEGER NOT NULL,
  sum  INTEGER NOT NULL,
  -- Rows that repairs found damaged or missing and gave up.
  lost INTEGER NOT NULL DEFAULT 0
) STRICT, WITHOUT ROWID;
