-- Where the TCP ports of hosts with several addresses answered, to tell a closed port from one that other addresses
-- still have open.
CREATE TABLE discovery_open_ports (
  host_n   INTEGER PRIMARY KEY REFERENCES history_records (n),
  -- JSON object by port number: array of the addresses where it answered. A missing port counts as open at each address.
  ports    TEXT NOT NULL,
  checksum INTEGER NOT NULL
) STRICT;
