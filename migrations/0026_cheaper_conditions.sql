-- The same rows in the indexes of 0020, for less: their conditions are asked of every version that is ever written, and
-- went through all of its text. GLOB passes over what does not begin with the first letter that it looks for, and few
-- texts have many of these. Both are made anew, in one pass each over all versions.
DROP INDEX history_versions_of_address;
CREATE INDEX history_versions_of_address ON history_versions (('{' || members || '}') ->> '$.ip_address')
  WHERE members GLOB '*p_address":"*' AND instr(members, '"ip_address":"') > 0;
DROP INDEX history_versions_of_stale;
CREATE INDEX history_versions_of_stale ON history_versions (key)
  WHERE members GLOB '*ce":*' AND instr(members, '"stale_since":') > 0;
