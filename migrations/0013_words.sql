-- Derived from the ledger and rebuildable from it: what every record was ever called, word by word. The row of a version (as in
-- history_versions: n << 31 | sequence) has the entries that begin with it and the ends of those that no longer hold, so that a change
-- costs what it changes. The texts themselves are in the ledger alone (src/db/called-words.ts says what the entries are).
CREATE VIRTUAL TABLE history_words USING fts5 (
  entries,
  content='', detail=none, columnsize=0,
  tokenize="ascii tokenchars '!""#$%&''()*+,-./:;<=>?@[\]^_`{|}~'"
);

-- The same, entry by entry in their order: SQLite's own view of the index, which keeps nothing.
CREATE VIRTUAL TABLE history_word_places USING fts5vocab (history_words, instance);
