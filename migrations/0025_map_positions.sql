-- Where the devices of a network stand on its map, at every instant alike: where a person or the layout placed them. A
-- host that is gone keeps its place for the past. Without history.
CREATE TABLE map_positions (
  network_n INTEGER NOT NULL REFERENCES networks (n) ON DELETE CASCADE,
  -- A host's id, or `unknown-…` of a device that is in no inventory.
  node_id   TEXT NOT NULL,
  x         INTEGER NOT NULL,
  y         INTEGER NOT NULL,
  placed    TEXT NOT NULL CHECK (placed IN ('person', 'layout')),
  checksum  INTEGER NOT NULL,
  PRIMARY KEY (network_n, node_id)
) STRICT, WITHOUT ROWID;
