-- How many rows each table beside the ledger has, and the sum of their checksums: nothing else would tell that a row is
-- missing. Kept by the connections that write (src/db/row-sums.ts), not by the file: what another program deletes is
-- found. Observations are not among them: each is implied by its record. The upgrade fills it in last.
CREATE TABLE row_sums (
  name TEXT PRIMARY KEY,
  rows INTEGER NOT NULL,
  sum  INTEGER NOT NULL,
  -- Rows that a repair found damaged or missing, and went on without.
  lost INTEGER NOT NULL DEFAULT 0
) STRICT, WITHOUT ROWID;
