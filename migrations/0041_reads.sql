-- What a host's agent served in its last complete reads, to tell a cut-off table from records that are gone.
CREATE TABLE discovery_reads (
  host_n   INTEGER PRIMARY KEY REFERENCES history_records (n),
  -- JSON object by table: {"rows": count, "short": complete reads in a row with fewer rows than the agent counts,
  -- "is_shrunk": whether the last one was much shorter, and waits for the next}.
  tables   TEXT NOT NULL,
  -- JSON array of the numbers in its VLAN tables, empty if it serves none; NULL if they were never read to the end.
  vlans    TEXT,
  checksum INTEGER NOT NULL
) STRICT;

-- JSON array of the numbers of records in earlier reports, whose tables the last one did not read to the end; NULL for
-- none.
ALTER TABLE discovery_tellings ADD COLUMN unread TEXT;
