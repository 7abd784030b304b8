-- What is asked of all addresses and hosts as of an instant, without reading them all. Both are made in one pass over all
-- versions, and hold few rows.

-- Which addresses were ever given: those that several records had may be in conflict.
CREATE INDEX history_versions_of_address ON history_versions (('{' || members || '}') ->> '$.ip_address')
  WHERE instr(members, '"ip_address":"') > 0;
-- Which versions say that a host is stale.
CREATE INDEX history_versions_of_stale ON history_versions (key) WHERE instr(members, '"stale_since":') > 0;
