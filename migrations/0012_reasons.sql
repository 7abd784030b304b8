-- Why a transaction was made, as whoever made it said (X-Change-Reason); NULL where nobody said. Part of the hash
-- where there is one: transactions from before hash as they did. The index is made in one pass over them: some
-- tenths of a second for a million.
ALTER TABLE history_transactions ADD COLUMN reason TEXT CHECK (reason <> '');

-- Few transactions have one: they are found, and searched, without looking at the others.
CREATE INDEX history_transactions_by_reason ON history_transactions (sequence, reason) WHERE reason IS NOT NULL;
