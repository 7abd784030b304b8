-- What a prune leaves behind of history that was thinned. Only a prune writes here: it takes the triggers off within its own transaction.

-- A version that was dropped: its hash stays, so that its transaction's hash still verifies.
CREATE TABLE history_thinned (
  -- As in history_versions: n << 31 | sequence.
  key  INTEGER PRIMARY KEY,
  hash BLOB NOT NULL CHECK (length(hash) = 32)
) STRICT;

-- Stretches of the ledger, from its beginning on without a gap, in which only the last state of each period is kept: of each day or
-- month (UTC), or none but that of the stretch's last transaction, which is kept in any case.
CREATE TABLE history_segments (
  first      INTEGER PRIMARY KEY CHECK (first > 0),
  last       INTEGER NOT NULL CHECK (last >= first),
  resolution TEXT NOT NULL CHECK (resolution IN ('daily', 'monthly', 'none')),
  -- The transaction of the prune that made it so. It has no versions, and says in its source what was asked for.
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
