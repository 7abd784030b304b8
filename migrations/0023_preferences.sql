-- What each user's own client remembers for them, such as the columns of a list: a JSON object, without history.
CREATE TABLE user_preferences (
  user_n      INTEGER PRIMARY KEY REFERENCES users (n) ON DELETE CASCADE,
  preferences TEXT NOT NULL,
  -- How often they were written: with it, no two versions share an entity tag.
  revision    INTEGER NOT NULL,
  checksum    INTEGER NOT NULL
) STRICT;
