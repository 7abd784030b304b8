-- Derived from the ledger and rebuildable from it.

-- How much changed: how many versions of a kind were created, updated and deleted up to a transaction in an organization, in a
-- network, in an organization beside its networks (its n, negative), and of a host or subnet with its parts. scope = n * 64 + kind. A
-- version that only its parts caused is counted with them. A row for each transaction that adds to one of the three, so that any stretch
-- of time costs a seek at each of its ends.
CREATE TABLE history_change_counts (
  scope    INTEGER NOT NULL,
  sequence INTEGER NOT NULL,
  created  INTEGER NOT NULL CHECK (created >= 0),
  updated  INTEGER NOT NULL CHECK (updated >= 0),
  deleted  INTEGER NOT NULL CHECK (deleted >= 0),
  PRIMARY KEY (scope, sequence)
) STRICT, WITHOUT ROWID;
