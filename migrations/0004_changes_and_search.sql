-- The way from a transaction to its versions: feed, diffs and reverts go through them in commit order.
CREATE INDEX history_versions_by_sequence ON history_versions (key & 2147483647);

-- Derived from the ledger and rebuildable from it.

-- Which transactions changed something in an organization (scope: its n), in a network (its n), or in an organization beside its
-- networks (its n, negative). `ordinal` numbers the rows of a scope from 1 on: what stands at a place, and how many there are, costs one seek.
CREATE TABLE history_activity (
  scope    INTEGER NOT NULL,
  sequence INTEGER NOT NULL,
  ordinal  INTEGER NOT NULL,
  PRIMARY KEY (scope, sequence)
) STRICT, WITHOUT ROWID;
CREATE UNIQUE INDEX history_activity_by_ordinal ON history_activity (scope, ordinal);

-- Of 1,024 neighbouring record numbers (block = n >> 10) in an organization or network: how many live there, and which transaction
-- ended the last that died (0 for none). A walk through the past passes over the dead by whole blocks.
CREATE TABLE history_span_blocks (
  scope INTEGER NOT NULL,
  block INTEGER NOT NULL,
  alive INTEGER NOT NULL CHECK (alive >= 0),
  died  INTEGER NOT NULL,
  PRIMARY KEY (scope, block)
) STRICT, WITHOUT ROWID;
INSERT INTO history_span_blocks (scope, block, alive, died)
SELECT s.scope, s.n >> 10, count(*) FILTER (WHERE s.died = 9007199254740991), coalesce(max(s.died) FILTER (WHERE s.died < 9007199254740991), 0)
FROM history_spans s JOIN history_records r ON r.n = s.scope >> 6 AND r.kind IN (1, 2) GROUP BY s.scope, s.n >> 10;

-- What a record could be found by, from the version with this key on until the record's next row; empty from its end on.
CREATE TABLE history_search_texts (
  key     INTEGER PRIMARY KEY,
  -- The record that is found: the host for its addresses and interfaces.
  owner_n INTEGER NOT NULL,
  -- Folded beginnings of words, separated by blanks (src/db/search-text.ts).
  text    TEXT NOT NULL
) STRICT;

-- Every text that ever was, so that one index finds in the present and at any instant. Everything but white space belongs to a word.
CREATE VIRTUAL TABLE history_search USING fts5 (
  text,
  content='history_search_texts', content_rowid='key', detail=none, columnsize=0,
  tokenize="ascii tokenchars '!""#$%&''()*+,-./:;<=>?@[\]^_`{|}~'"
);

-- Not history: what POSTs with an Idempotency-Key came to, kept for a day. Sealed, since the outcome may hold a secret.
CREATE TABLE idempotency_keys (
  caller_n INTEGER NOT NULL REFERENCES history_records (n),
  key      TEXT NOT NULL,
  -- UTC milliseconds.
  at       INTEGER NOT NULL,
  sealed   BLOB NOT NULL,
  PRIMARY KEY (caller_n, key)
) STRICT, WITHOUT ROWID;
CREATE INDEX idempotency_keys_by_at ON idempotency_keys (at);
